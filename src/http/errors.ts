import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RequestValidationError } from 'fastify-zod-openapi'
import { isDatabaseTrouble } from '../../projections/database/trouble.ts'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { TimeoutError } from '../async/timeout.ts'
import { Refusal } from '../domain/refusal.ts'
import { LedgerFrozen, LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import { ProviderRefused, ProviderUnavailable, StoreWanted } from '../payments/trouble.ts'
import { NoSuchProduct, StateUnreadable } from '../verdicts/trouble.ts'
import { OutOfTime } from './limits/time-limit.ts'
import { problemOfProvider } from './payment-problem.ts'
import { invalid, Problem, problemOfRefusal, unavailable } from './problem.ts'

/** Paths whose errors carry a stable code: `{"error": {"code", "message"}}`; all others `{"error": "message"}`. */
const runtimePath = /^\/v1\/licenses\/(?:activate|validate|deactivate)(?:$|\?)/

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
    const problem = problemOf(
      unadmitted && !(error instanceof Problem)
        ? await admit(reply).then(
            () => error,
            (refused: FastifyError) => refused,
          )
        : error,
    )
    if (problem.status >= 500) request.log.error({ err: error, request_id: request.id }, 'request.failed')
    return sendProblem(request, reply, problem)
  })
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, code, message, headers, details } = problem
  const body = { error: runtimePath.test(request.url) ? { code, message } : message, ...details }
  return reply
    .code(status)
    .headers({ ...headers, 'content-type': 'application/json; charset=utf-8' })
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body)
}

/** Maps an error to a problem. */
export function problemOf(error: FastifyError): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Refusal) return problemOfRefusal(error.code, error.retryAfterSeconds)
  if (
    error instanceof ProviderRefused ||
    error instanceof ProviderUnavailable ||
    error instanceof StoreWanted
  )
    return problemOfProvider(error)
  if (error instanceof NoSuchProduct) return new Problem(404, 'product_not_found', error.message)
  if (error instanceof StateUnreadable) return unavailable(error.message)
  if (error.validation) return invalid(firstIssue(error))
  if (error instanceof LedgerFrozen) return unavailable(frozen, frozenRetrySeconds)
  if (error instanceof LedgerUnavailable) return unavailable(unanswered(error))
  if (error instanceof ReadModelsBehind) {
    return unavailable('recorded, but not yet visible everywhere; it is safe to retry')
  }
  if (error instanceof TimeoutError) return unavailable('a store does not respond; it is safe to retry')
  if (error instanceof OutOfTime)
    return unavailable('the request timed out and may still complete; it is safe to retry')
  if (isDatabaseTrouble(error)) return unavailable('the database does not respond; retry')
  // Errors of other libraries may have a numeric code, as gRPC's do.
  if (String(error.code).startsWith('FST_ERR_CTP_')) return invalid(`the body must be JSON: ${error.message}`)
  if (error.statusCode === 400) return invalid(error.message)
  return new Problem(500, 'internal', 'internal error; quote the Request-Id to support')
}

const unanswered = ({ clocks }: LedgerUnavailable): string =>
  `the ledger does not respond${clocks === undefined ? '' : `, and ${clocks}`}; it is safe to retry`

function firstIssue(error: FastifyError): string {
  const [issue] = error.validation ?? []
  if (!(issue instanceof RequestValidationError)) return 'malformed input'
  const where = issue.instancePath.split('/').filter(Boolean).join('.')
  return `${error.validationContext ?? 'input'}${where ? ` ${where}` : ''}: ${issue.message}`
}
