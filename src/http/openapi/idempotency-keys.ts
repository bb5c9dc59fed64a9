import type { SwaggerTransformObject } from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { errorsWith } from '../schemas.ts'

/** Marks an operation in the OpenAPI document until {@link withIdempotencyKeys} replaces the mark. */
const mark = 'x-takes-idempotency-key'

declare module 'fastify' {
  interface FastifySchema {
    [mark]?: true
  }
}

const Content = z.looseObject({ 'application/json': z.looseObject({ schema: z.instanceof(z.ZodType) }) })
const Responses = z.looseObject({ 400: z.looseObject({ content: Content }).optional() })

/** Adds the responses that an Idempotency-Key can cause, with the operation's own error body. */
export function withKeyAnswers(schema: FastifySchema): FastifySchema {
  const own = Responses.safeParse(schema.response)
  const envelope = own.success ? own.data[400]?.content['application/json'].schema : undefined
  const added = envelope ? errorsWith(envelope, 409, 422) : {}
  return { ...schema, response: { ...added, ...(own.data ?? {}) }, [mark]: true }
}

const parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to retry: for 24 hours, the same request with the same key gets the first response, ' +
    'byte for byte and with `Idempotent-Replay: true`, and is not executed again. A different request with the same key ' +
    'gets 422; while the first request is still running, 409 with `Retry-After: 1`.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  example: '7c5b1f5e-order-1017',
} as const

const replayHeader = {
  description: 'Present when this is the stored response to an earlier request with the same Idempotency-Key',
  schema: { type: 'string', enum: ['true'] },
} as const

const Operation = z.looseObject({
  [mark]: z.literal(true),
  parameters: z.array(z.unknown()).default([]),
  responses: z.record(z.string(), z.looseObject({ headers: z.record(z.string(), z.unknown()).optional() })),
})

const Paths = z.record(z.string(), z.record(z.string(), z.unknown()))

/** Documents the header, and the header of a replay, on every operation that accepts it. */
export function withIdempotencyKeys(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (source) => {
    const description = transform(source)
    const paths = mapValues(Paths.parse(description.paths), (operations) => mapValues(operations, withKey))
    return Object.assign(description, { paths })
  }
}

function withKey(operation: unknown): unknown {
  const taking = Operation.safeParse(operation)
  if (!taking.success) return operation
  const { [mark]: _, parameters, responses, ...rest } = taking.data
  const answers = mapValues(responses, (response, status) =>
    // Refusals may be replayed as well, but only successes are documented.
    Number(status) < 300
      ? { ...response, headers: { ...response.headers, 'Idempotent-Replay': replayHeader } }
      : response,
  )
  return { ...rest, parameters: [...parameters, parameter], responses: answers }
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From, key: string) => To) {
  const changed: Record<string, To> = {}
  for (const [key, value] of Object.entries(record)) changed[key] = change(value, key)
  return changed
}
