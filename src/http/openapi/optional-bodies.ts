import type { SwaggerTransformObject } from '@fastify/swagger'
import { z } from 'zod'

/** The plugin's mark on the schema of an optional body. */
const marker = 'x-fastify-zod-openapi-optional'

const Methods = z.record(z.string(), z.unknown())

const Operation = z.looseObject({
  requestBody: z.looseObject({
    required: z.boolean().optional(),
    content: z.record(z.string(), z.looseObject({ schema: z.record(z.string(), z.unknown()).optional() })),
  }),
})

/** Marks optional bodies as such; the plugin marks every body as required. */
export function withOptionalBodies(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (document) => {
    const described = transform(document)
    for (const path of Object.values(described.paths ?? {})) {
      for (const operation of Object.values(Methods.parse(path))) markOptional(operation)
    }
    return described
  }
}

function hasBody(operation: unknown): operation is z.infer<typeof Operation> {
  return Operation.safeParse(operation).success
}

function markOptional(operation: unknown): void {
  if (!hasBody(operation)) return
  const { requestBody } = operation
  for (const { schema } of Object.values(requestBody.content)) {
    if (schema?.[marker] !== true) continue
    delete schema[marker]
    requestBody.required = false
  }
}
