import type { SwaggerTransformObject } from '@fastify/swagger'
import { z } from 'zod'

const Response = z.looseObject({
  headers: z.record(z.string(), z.unknown()).optional(),
  content: z.record(z.string(), z.unknown()).optional(),
})
const Operation = z.looseObject({ responses: z.record(z.string(), Response) })
const Secured = z.object({ security: z.array(z.record(z.string(), z.unknown())).default([]) })
const Paths = z.record(z.string(), z.record(z.string(), Operation))

const requestId = {
  description: 'Identifies this request in the logs and in the events that it caused; quote it to support',
  schema: { type: 'string' },
  example: 'req_06f5w3k8hx7vq2m4n9t1r0s5zc',
}
const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer' } }
const rateLimit = {
  RateLimitLimit: {
    description: 'Calls at once after a pause, of the rate limit of which the least is left',
    schema: { type: 'integer' },
    example: 1200,
  },
  RateLimitRemaining: {
    description: 'Calls that this limit still admits at once',
    schema: { type: 'integer' },
    example: 1187,
  },
  RateLimitReset: {
    description: 'Seconds until the limit is full again; after a 429, wait for Retry-After',
    schema: { type: 'integer' },
    example: 2,
  },
}
const errorCode = {
  description:
    'A stable code for programs, such as `license_revoked` or `validation_failed`; docs/reference/errors.md lists them all',
  schema: { type: 'string' },
  example: 'validation_failed',
}
const allow = { description: 'The methods that this path supports', schema: { type: 'string' } }

/** Statuses that a retry may resolve; 409 only while the first request of a key is still running. */
const retryable = new Set(['409', '429', '503'])

/** The credentials whose callers have a rate limit of their own. */
const limitedCallers = new Set(['accessToken', 'sdkKey', 'checkoutKey'])

const rateLimitHeaders = {
  'RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'RateLimit-Reset': { $ref: '#/components/headers/RateLimitReset' },
}

/** Errors carry the header, except those of the runtime interface, which have their code in the body. */
const hasErrorCode = ({ content }: z.infer<typeof Response>): boolean =>
  /"#\/components\/schemas\/(?:Error|DeviceLoginError|Client\w*Refusal)"/.test(JSON.stringify(content ?? {}))

const Body = z.looseObject({ example: z.looseObject({ error: z.string() }) })

/** The body of another error, with a message of its own if it is an example of one. */
const withMessage = (content: Record<string, unknown>, error: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(content).map(([type, body]) => [
      type,
      Body.safeParse(body).success ? { ...Object(body), example: { error } } : body,
    ]),
  )

const listed = (methods: readonly string[]): string =>
  methods
    .flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
    .sort()
    .join(', ')

/** Adds to every operation the responses and headers that all of them share, such as 405. */
export function withEveryAnswer(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (source) => {
    const description = transform(source)
    const paths = Paths.parse(description.paths)
    const operations = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((operation) => ({ operation, methods: Object.keys(methods) })),
    )
    for (const { operation, methods } of operations) {
      const envelope = operation.responses['401']?.content ?? {
        'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      }
      operation.responses['405'] = {
        description: 'The path does not support this method; see Allow',
        headers: { Allow: allow },
        content: withMessage(
          structuredClone(envelope),
          `TRACE is not allowed here; allowed: ${listed(methods)}`,
        ),
      }
      const { security } = Secured.parse(operation)
      const isLimited = security.flatMap((one) => Object.keys(one)).some((way) => limitedCallers.has(way))
      for (const [status, response] of Object.entries(operation.responses)) {
        response.headers = {
          ...(isLimited && (status.startsWith('2') || status === '429') && rateLimitHeaders),
          ...(retryable.has(status) && { 'Retry-After': retryAfter }),
          ...response.headers,
          ...(hasErrorCode(response) && { 'Error-Code': { $ref: '#/components/headers/ErrorCode' } }),
          'Request-Id': { $ref: '#/components/headers/RequestId' },
        }
      }
    }
    const known = 'components' in description ? description.components : {}
    const components = { ...known, headers: { RequestId: requestId, ErrorCode: errorCode, ...rateLimit } }
    return Object.assign(description, { paths, components })
  }
}
