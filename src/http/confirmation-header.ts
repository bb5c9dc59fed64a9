import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'
import { errors } from './schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route runs a gated operation, and checks the confirmation header itself. */
    gated?: true
  }
}

/** The header with the id of an approved confirmation. */
export const confirmationHeader = 'X-Service-Confirmation'

/** The id in the header; undefined without one. One that is sent more than once is no id. */
export function confirmationIn({ headers }: FastifyRequest): string | undefined {
  const given = headers[confirmationHeader.toLowerCase()]
  return Array.isArray(given) ? given.join() : given
}

/**
 * Lets gated routes check confirmations, and refuses one on every other management route that is registered after it: no
 * confirmation is for such a call, and a caller that relies on "only once" must learn it. Runs after validation, and before an
 * Idempotency-Key is looked up.
 */
export function checkConfirmations(app: FastifyInstance): void {
  app.decorateRequest('gatedInput', undefined)
  app.addHook('onRoute', (route) => {
    const { scope, gated } = route.config ?? {}
    if (scope === undefined || scope === 'licenses:runtime' || gated) return
    route.preHandler = [refuseConfirmation, ...[route.preHandler ?? []].flat()]
    if (!route.schema) return
    route.schema = { ...route.schema, response: { 403: errors(403)[403], ...Object(route.schema.response) } }
  })
}

/** @throws Problem 403 */
function refuseConfirmation(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  done(confirmationIn(request) === undefined ? undefined : unfitting())
}

const unfitting = (): Problem =>
  new Problem(
    403,
    'forbidden',
    `this operation needs no approval, so no confirmation is for it; send it without ${confirmationHeader}; nothing was done`,
  )
