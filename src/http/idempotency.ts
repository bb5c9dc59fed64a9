import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Origin } from '../commands/origin.ts'
import type { Ending, Idempotency } from '../idempotency/idempotency.ts'
import { isIdempotencyKey, type KeyedRequest, NotCanonical } from '../idempotency/request.ts'
import type { Run } from '../idempotency/run.ts'
import type { Ports } from '../ports.ts'
import { callerIn, originOf } from './authenticate.ts'
import { withKeyAnswers } from './openapi/idempotency-keys.ts'
import { invalid, Problem } from './problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    keyed: Keyed | undefined
  }
  interface FastifyContextConfig {
    /** For a POST that runs, or must see the present, each time it is sent: it passes the header over. */
    idempotencyKey?: 'ignored'
  }
}

/** A request with an Idempotency-Key: its body as it was sent, and the run once it has been reserved. */
type Keyed = { key: string; body: unknown; reserved?: { run: Run; end: Ending } | undefined }

/**
 * Lets every POST with a token take an Idempotency-Key, but for those that ignore it. The run is reserved when the request has been found well-formed
 * and allowed, right before its handler; its answer is kept before it is sent. A request without the header costs two
 * looks at its headers.
 */
export function honourIdempotencyKeys(app: FastifyInstance, idempotency: Idempotency): void {
  app.decorateRequest('keyed', undefined)
  app.addHook('onRoute', (route) => {
    if (route.method !== 'POST' || route.config?.scope === undefined) return
    if (route.config.idempotencyKey === 'ignored') return
    route.preValidation = [noteKey, ...[route.preValidation ?? []].flat()]
    route.preHandler = [...[route.preHandler ?? []].flat(), reserveRun(idempotency)]
    route.onSend = [...[route.onSend ?? []].flat(), storeResponse]
    route.schema = withKeyAnswers(route.schema ?? {})
  })
}

/** @throws Problem 400 for a key that cannot be one */
function noteKey(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const key = request.headers['idempotency-key']
  if (key !== undefined) {
    if (typeof key !== 'string' || !isIdempotencyKey(key)) {
      throw invalid('headers Idempotency-Key: must be 1 to 255 visible ASCII characters, sent once')
    }
    // Before validation fills in what was left out, and drops what nobody knows.
    request.keyed = { key, body: request.body }
  }
  done()
}

/** @throws Problem 409 while the first request is running, 422 when the key was used for another one */
function reserveRun(idempotency: Idempotency): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    const { keyed } = request
    if (!keyed) return
    const reservation = await idempotency.reserve(keyedRequest(request, keyed), request.id).catch(refuse)
    switch (reservation.state) {
      case 'run':
        // Answered that its time is over while this was on its way: nothing runs that would end the run.
        if (reply.sent)
          await (reservation.run.resumed ? reservation.end.leaveOpen() : reservation.end.forget())
        else keyed.reserved = reservation
        return
      case 'in progress':
        throw new Problem(
          409,
          'idempotency_in_progress',
          'the first request with this Idempotency-Key is still running; retry in a second',
          { 'retry-after': '1' },
        )
      case 'mismatch':
        throw new Problem(
          422,
          'idempotency_mismatch',
          'this Idempotency-Key was used for a different request; use a new key for each request',
        )
      case 'answered': {
        const { status, contentType, body } = reservation.reply
        const headers = { 'content-type': contentType, 'idempotent-replay': 'true' }
        return reply.code(status).headers(headers).send(Buffer.from(body))
      }
    }
  }
}

function keyedRequest(request: FastifyRequest, { key, body }: Keyed): KeyedRequest {
  const { tenantId, tokenId } = callerIn(request)
  const route = `${request.method} ${request.routeOptions.url}`
  return { tenantId, tokenId, route, key, params: request.params, query: request.query, body }
}

function refuse(error: unknown): never {
  throw error instanceof NotCanonical ? invalid(`body: ${error.message}`) : error
}

/** What becomes of a reservation once its answer is known. */
async function storeResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { keyed } = request
  const { reserved } = keyed ?? {}
  if (!keyed || !reserved) return payload
  // An answer that fails to be sent is turned into an error, which comes by here again.
  keyed.reserved = undefined
  const { run, end } = reserved
  const { statusCode: status } = reply
  try {
    if (typeof payload === 'string' && isOutcome(status)) {
      const contentType = String(reply.getHeader('content-type'))
      const stored = await end.answer({ status, contentType, body: payload })
      reply.code(stored.status).header('content-type', stored.contentType)
      return stored.body
    }
    // Whether anything was recorded before a failure is unknown; before a 403 nothing was.
    const nothingDone = status === 403 && !run.resumed
    await (nothingDone ? end.forget() : end.leaveOpen())
  } catch (err) {
    // The next request makes the same answer again, from what was reserved.
    request.log.warn({ err, request_id: request.id }, 'idempotency.response_not_stored')
  }
  return payload
}

/**
 * Whether an answer is what the operation came to, and would be again: success, or a refusal by its rules. Who may
 * not ask, who asks too often and what broke are other questions at another time.
 */
function isOutcome(status: number): boolean {
  return status < 500 && ![401, 403, 429].includes(status)
}

/** The services as the request's run must use them: with its own moment, ids and randomness. */
export function servicesFor<S extends Ports<'newId' | 'now' | 'randomBytes'>>(
  request: FastifyRequest,
  services: S,
): S {
  const run = request.keyed?.reserved?.run
  if (!run) return services
  const { at, randomBytes, newId } = run
  return { ...services, now: () => new Date(at), randomBytes, newId }
}

/**
 * As {@link originOf}, for commands that are told of their run, so that they record nothing that a request before this
 * one has recorded.
 */
export function runOriginOf(request: FastifyRequest): Origin {
  const origin = originOf(request)
  const run = request.keyed?.reserved?.run
  return run ? { ...origin, correlationId: run.firstRequestId, run: { resumed: run.resumed } } : origin
}
