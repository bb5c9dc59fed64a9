import type { SwaggerTransformObject } from '@fastify/swagger'
import { z } from 'zod'

const Operation = z.object({ parameters: z.array(z.unknown()).optional() })
const Methods = z.record(z.string(), Operation)
const ObjectParameter = z.object({
  in: z.literal('query'),
  schema: z.object({ type: z.literal('object') }),
})

/** Describes objects in a query as they are sent: `metadata[order]=4711`. */
export function withObjectParameters(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (source) => {
    const described = transform(source)
    const operations = Object.values(described.paths ?? {}).flatMap((path) =>
      Object.values(Methods.parse(path)),
    )
    for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
      if (ObjectParameter.safeParse(parameter).success) {
        Object.assign(Object(parameter), { style: 'deepObject', explode: true })
      }
    }
    return described
  }
}
