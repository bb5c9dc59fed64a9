import { serializerCompiler } from 'fastify-zod-openapi'

/**
 * Compiles the serializer of an answer when it is first given. Most processes give few of the hundreds that are
 * described, and compiling all of them would be a quarter of a start.
 */
export const compileWhenFirstUsed: typeof serializerCompiler = (route) => {
  let serialize: ReturnType<typeof serializerCompiler> | undefined
  return (answered) => {
    serialize ??= serializerCompiler(route)
    return serialize(answered)
  }
}
