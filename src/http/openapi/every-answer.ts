import type { SwaggerTransformObject } from '@fastify/swagger'
import { z } from 'zod'

const Response = z.looseObject({
  headers: z.record(z.string(), z.unknown()).optional(),
  content: z.record(z.string(), z.unknown()).optional(),
})
const Operation = z.looseObject({ responses: z.record(z.string(), Response) })
const Paths = z.record(z.string(), z.record(z.string(), Operation))

const requestId = {
  description: 'Identifies this request in the logs and in the events that it caused; quote it to support',
  schema: { type: 'string' },
  example: 'req_06f5w3k8hx7vq2m4n9t1r0s5zc',
}
const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer' } }
const allow = { description: 'The methods that this path supports', schema: { type: 'string' } }

/** Statuses that a retry may resolve; 409 only while the first request of a key is still running. */
const passing = new Set(['409', '429', '503'])

/** Adds to every operation the responses and headers that all of them share, such as 405. */
export function withEveryAnswer(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (source) => {
    const description = transform(source)
    const paths = Paths.parse(description.paths)
    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
      const envelope = operation.responses['401']?.content ?? {
        'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      }
      operation.responses['405'] = {
        description: 'The path does not support this method; see Allow',
        headers: { Allow: allow },
        content: structuredClone(envelope),
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        response.headers = {
          ...(passing.has(status) && { 'Retry-After': retryAfter }),
          ...response.headers,
          'Request-Id': { $ref: '#/components/headers/RequestId' },
        }
      }
    }
    const known = 'components' in description ? description.components : {}
    const components = { ...known, headers: { RequestId: requestId } }
    return Object.assign(description, { paths, components })
  }
}
