import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A POST that changes nothing more when it is repeated, whatever became of the first one. */
    repeatable?: true
  }
}

type Route = Pick<
  FastifyRequest['routeOptions']['config'],
  'client' | 'gated' | 'idempotencyKey' | 'repeatable' | 'scope'
>

/** Whether a route takes an Idempotency-Key. */
export const takesKey = (method: string | string[], { scope, idempotencyKey }: Route = {}): boolean =>
  method === 'POST' && scope !== undefined && idempotencyKey !== 'ignored'

/**
 * What a caller may do who does not know whether the request was done. Reads change nothing; PUT, PATCH and DELETE name the
 * state that they lead to; a gated call is executed once for each approval, and calls of apps name the device.
 */
export function retryAdvice({ method, headers, routeOptions: { config } }: FastifyRequest): string {
  if (method !== 'POST' || config.gated || config.repeatable || config.client !== undefined)
    return 'it is safe to retry'
  const lookUp = 'it may have been done: look it up before you repeat it'
  if (!takesKey(method, config)) return lookUp
  return headers['idempotency-key'] === undefined
    ? `${lookUp}, and send an Idempotency-Key, with which a repetition does nothing twice`
    : 'it is safe to retry with the same Idempotency-Key'
}
