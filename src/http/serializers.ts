import { serializerCompiler } from 'fastify-zod-openapi'

/**
 * Compiles the serializer of a response on first use. Most processes use few of the hundreds, and compiling all of
 * them would take a quarter of the start.
 */
export const compileWhenFirstUsed: typeof serializerCompiler = (route) => {
  let serialize: ReturnType<typeof serializerCompiler> | undefined
  return (answered) => {
    serialize ??= serializerCompiler(route)
    return serialize(answered)
  }
}
