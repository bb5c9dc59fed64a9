import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Origin } from '../commands/origin.ts'
import type { Ending, Idempotency } from '../idempotency/idempotency.ts'
import { isIdempotencyKey, type KeyedRequest, NotCanonical, type Run } from '../idempotency/request.ts'
import type { Ports } from '../ports.ts'
import { callerIn, originOf } from './authenticate.ts'
import { isDryRun } from './dry-run.ts'
import { takesKey } from './errors.ts'
import { withKeyAnswers } from './openapi/idempotency-keys.ts'
import { invalid, Problem } from './problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    idempotent: Keyed | undefined
  }
  interface FastifyContextConfig {
    /** The header is ignored: the POST must run, or see the present, each time it is sent. */
    idempotencyKey?: 'ignored'
  }
}

/** A request with an Idempotency-Key. */
type Keyed = {
  key: string
  /** As sent. */
  body: unknown
  /** Once reserved. It outlives the response, because work that is late goes on after it. */
  run?: Run
  /** Undefined before the run is reserved, and once it is ended. */
  end?: Ending | undefined
  /** The response is on its way. */
  isAnswered?: true
}

/**
 * Accepts an Idempotency-Key on every POST with a token, except on routes that ignore it. The run is reserved after
 * validation and authorization, right before the handler. The response is stored before it is sent. A request
 * without the header costs two header lookups.
 */
export function honourIdempotencyKeys(app: FastifyInstance, idempotency: Idempotency): void {
  app.decorateRequest('keyed', undefined)
  app.addHook('onRoute', (route) => {
    if (!takesKey(route.method, route.config)) return
    route.preValidation = [noteKey, ...[route.preValidation ?? []].flat()]
    route.preHandler = [...[route.preHandler ?? []].flat(), reserveRun(idempotency)]
    route.onSend = [...[route.onSend ?? []].flat(), storeResponse]
    route.schema = withKeyAnswers(route.schema ?? {})
  })
}

/** @throws Problem 400 for a malformed key */
function noteKey(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const key = request.headers['idempotency-key']
  // A dry run is done each time: it shows the present, and the key is for the call itself.
  if (key !== undefined && !isDryRun(request.query)) {
    if (typeof key !== 'string' || !isIdempotencyKey(key)) {
      throw invalid('the header Idempotency-Key must be 1 to 255 visible ASCII characters, sent once')
    }
    // Before validation, which adds defaults and drops unknown fields.
    request.idempotent = { key, body: request.body }
  }
  done()
}

/** @throws Problem 409 while the first request is running, 422 when the key was used for another request */
function reserveRun(idempotency: Idempotency): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    const { idempotent } = request
    if (!idempotent) return
    const reservation = await idempotency.reserve(keyedRequest(request, idempotent), request.id).catch(refuse)
    switch (reservation.state) {
      case 'run':
        idempotent.run = reservation.run
        // The request timed out while the run was being reserved. Its handler may or may not run.
        if (reply.sent || idempotent.isAnswered) await reservation.end.leaveOpen()
        else idempotent.end = reservation.end
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
  throw error instanceof NotCanonical ? invalid(error.message) : error
}

/** Stores the response of a reserved run, or releases the reservation. */
async function storeResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { idempotent } = request
  if (!idempotent) return payload
  idempotent.isAnswered = true
  const { run, end } = idempotent
  if (!run || !end) return payload
  // A response that fails to be sent becomes an error response, which passes this hook again.
  idempotent.end = undefined
  const { statusCode: status } = reply
  try {
    if (typeof payload === 'string' && isOutcome(status)) {
      const contentType = String(reply.getHeader('content-type'))
      const stored = await end.answer({ status, contentType, body: payload })
      reply.code(stored.status).header('content-type', stored.contentType)
      return stored.body
    }
    // Before another failure, events may have been recorded; before a 403 none were.
    const nothingDone = status === 403 && !run.resumed
    await (nothingDone ? end.forget() : end.leaveOpen())
  } catch (err) {
    // The next request executes the same run again and gets the same response.
    request.log.warn({ err, request_id: request.id }, 'idempotency.response_not_stored')
  }
  return payload
}

/**
 * Whether a response is final: success, or a refusal by a rule. Authorization, rate limits and failures may turn
 * out differently next time.
 */
function isOutcome(status: number): boolean {
  return status < 500 && ![401, 403, 429].includes(status)
}

/** The services for the request's run, with its own time, ids and randomness. */
export function runPorts<S extends Ports<'newId' | 'now' | 'randomBytes'>>(
  request: FastifyRequest,
  ports: S,
): S {
  const run = request.idempotent?.run
  if (!run) return ports
  const { at, randomBytes, newId } = run
  return { ...ports, now: () => new Date(at), randomBytes, newId }
}

/**
 * As {@link originOf}, with the run, so that a command does not repeat what an earlier request of the run recorded.
 */
export function runOriginOf(request: FastifyRequest): Origin {
  const origin = originOf(request)
  const run = request.idempotent?.run
  return run ? { ...origin, correlationId: run.firstRequestId, run: { resumed: run.resumed } } : origin
}
