import { setTimeout } from 'node:timers/promises'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseFailure } from '../../projections/database/errors.ts'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { TimeoutError } from '../async/timeout.ts'
import { Refusal } from '../domain/refusal.ts'
import { LedgerFrozen, LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import { ProviderRefused, ProviderUnavailable, StoreWanted } from '../payments/errors.ts'
import { NoSuchProduct, StateUnreadable } from '../verdicts/errors.ts'
import { OutOfTime } from './limits/time-limit.ts'
import {
  bodyNotJson,
  bodyOf,
  bodyOfOtherType,
  bodyTooLarge,
  errorCodeHeaders,
  invalid,
  Problem,
  problemOfRefusal,
  unavailable,
} from './problem.ts'
import { isScimPath, scimMediaType } from './scim-errors.ts'

/** What is wrong with a request that Fastify could not read, by the code of its error. */
const unreadableRequests: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: bodyTooLarge,
  FST_ERR_CTP_INVALID_JSON_BODY: bodyNotJson,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: bodyOfOtherType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as the header Content-Length says',
  FST_ERR_BAD_URL: 'the path is not a valid URL; encode each % as %25',
}

/**
 * How long a 429 is held back, in milliseconds. A caller that retries immediately gets at most ten a second on each connection; one
 * that waits as told does not notice.
 */
const heldBackMs = 100

const frozen = 'the ledger is frozen: it accepts reads but no writes; nothing was changed, so retry later'
const frozenRetrySeconds = 5

/**
 * Answers every failure with the contract's status and a message that says what to do, never with a stack trace.
 * @param admit refuses callers that may not call the route. A route that admits its callers itself may reject the
 *   input first; then the caller is checked here, so that an unauthorized caller learns nothing about its input.
 */
export function answerErrors(app: FastifyInstance, admit: (reply: FastifyReply) => Promise<void>): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const unadmitted = request.routeOptions.config.admitsItself && !request.caller && !request.client
    const cause =
      unadmitted && !(error instanceof Problem)
        ? await admit(reply).then(
            () => error,
            (refused: FastifyError) => refused,
          )
        : error
    const problem = problemOf(cause, retryAdvice(request))
    if (problem.status >= 500) request.log.error({ err: error, request_id: request.id }, 'request.failed')
    if (problem.status === 429) await setTimeout(heldBackMs)
    return sendProblem(request, reply, problem)
  })
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .headers({
      ...problem.headers,
      ...errorCodeHeaders(request.url, problem),
      'content-type': `${isScimPath(request.url) ? scimMediaType : 'application/json'}; charset=utf-8`,
    })
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(bodyOf(request.url, problem))
}

/**
 * Maps an error to a problem.
 * @param advice what the caller may do who does not know whether the request was done
 */
export function problemOf(error: FastifyError, advice = 'look before you repeat it'): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Refusal) return problemOfRefusal(error.code, error.retryAfterSeconds)
  if (
    error instanceof ProviderRefused ||
    error instanceof ProviderUnavailable ||
    error instanceof StoreWanted
  )
    return problemOfProvider(error)
  if (error instanceof NoSuchProduct)
    return new Problem(404, 'product_not_found', error.message, {}, {}, 'product_not_found')
  if (error instanceof StateUnreadable) return unavailable(error.message)
  if (error instanceof LedgerFrozen) return unavailable(frozen, frozenRetrySeconds)
  if (error instanceof LedgerUnavailable) return unavailable(unanswered(error, advice))
  if (error instanceof ReadModelsBehind) {
    return unavailable(`recorded, but not yet visible everywhere; ${advice}`)
  }
  if (error instanceof TimeoutError) return unavailable(`a store does not respond; ${advice}`)
  if (error instanceof OutOfTime)
    return unavailable(`the request timed out and may still complete; ${advice}`)
  if (isDatabaseFailure(error)) return unavailable(`the database does not respond; ${advice}`)
  // Errors of other libraries may have a numeric code, as gRPC's do.
  const unreadable = unreadableRequests[String(error.code)]
  if (unreadable !== undefined) return invalid(unreadable)
  if (error.statusCode === 400) return invalid(error.message)
  return new Problem(500, 'internal', 'internal error; quote the Request-Id to support')
}

const unanswered = ({ clocks }: LedgerUnavailable, advice: string): string =>
  `the ledger does not respond${clocks === undefined ? '' : `, and ${clocks}`}; ${advice}`

/** The response when a payment provider refuses or does not respond. Nothing was changed. */
export function problemOfProvider(error: ProviderRefused | ProviderUnavailable | StoreWanted): Problem {
  const { provider } = error
  if ('stores' in error) return new Problem(422, 'invalid_request', storesIn(error))
  if ('retryAfterSeconds' in error) {
    const message = `${provider} does not respond; nothing was changed, so retry`
    return unavailable(message, error.retryAfterSeconds)
  }
  return new Problem(422, 'invalid_request', refusals[error.reason](provider))
}

const refusals: Record<ProviderRefused['reason'], (provider: string) => string> = {
  key: (provider) => `${provider} rejects the key; check it and its environment (test or live)`,
  permission: (provider) => `${provider} denies this key the permission; grant it, or reconnect`,
  missing: (provider) => `${provider} cannot find the requested object; reconnect`,
  endpoint: (provider) =>
    `${provider} does not accept the endpoint; it needs a public https address (KEYLEDGER_BASE_URL), and room for another endpoint`,
  request: (provider) => `${provider} rejected the request; see the reason in its dashboard`,
}

function storesIn({ provider, stores }: StoreWanted): string {
  if (stores.length === 0) return `the account at ${provider} has no store; create one there first`
  const names = stores.map(({ id, name }) => `${id} (${name})`).join(', ')
  return `name the store at ${provider} that the endpoint is for: ${names}`
}

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
function retryAdvice({ method, headers, routeOptions: { config } }: FastifyRequest): string {
  if (method !== 'POST' || config.gated || config.repeatable || config.client !== undefined)
    return 'it is safe to retry'
  const lookUp = 'it may have been done: look it up before you repeat it'
  if (!takesKey(method, config)) return lookUp
  return headers['idempotency-key'] === undefined
    ? `${lookUp}, and send an Idempotency-Key, with which a repetition does nothing twice`
    : 'it is safe to retry with the same Idempotency-Key'
}
