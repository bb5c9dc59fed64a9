import type { FastifyRequest } from 'fastify'
import type { Origin } from '../../commands/origin.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import { invalid, Problem } from '../../http/problem.ts'
import type { Ending } from '../../idempotency/idempotency.ts'
import type { Ports } from '../../ports.ts'
import { originOfMember, principalOf } from '../session/principal.ts'

type RunPorts = Ports<'newId' | 'now' | 'randomBytes'>

/** The form was sent before with other values. */
export class SentBefore extends Error {}

/** What a member reads when a form that they changed was sent before. */
export const sentBefore =
  'This form was already sent with other values. Check the list before you send it again.'

/**
 * Runs what a form asks for once, however often the form is sent: as a request with an `Idempotency-Key`, which is
 * here the form's field `operation`. The result is stored sealed for 24 hours, and is returned again.
 * @param work gets ports with the run's own time, ids and randomness; its result must be plain JSON
 * @throws Problem 400 without an operation, 409 while the first one runs; SentBefore; what `work` throws
 */
export async function runOnce<S extends RunPorts & Ports<'idempotency'>, Result>(
  ports: S,
  request: FastifyRequest,
  work: (ports: S, origin: Origin) => Promise<Result>,
): Promise<Result> {
  const { _csrf, operation, ...fields } = (request.body ?? {}) as Record<string, unknown>
  if (typeof operation !== 'string' || !isId('req', operation)) throw invalid('the form has no operation')
  const { tenantId, memberId } = principalOf(request)
  const keyed = {
    tenantId,
    tokenId: memberId,
    route: `POST ${request.routeOptions.url}`,
    key: operation,
    params: request.params,
    query: {},
    body: fields,
  }
  const reservation = await ports.idempotency.reserve(keyed, request.id)
  switch (reservation.state) {
    case 'in progress':
      throw new Problem(
        409,
        'idempotency_in_progress',
        'This form is already being processed. Reload in a moment.',
      )
    case 'mismatch':
      throw new SentBefore()
    case 'answered':
      return JSON.parse(reservation.reply.body) as Result
    case 'run': {
      const { run, end } = reservation
      const { at, randomBytes, newId } = run
      const own = { ...ports, now: () => new Date(at), randomBytes, newId }
      const origin = {
        ...originOfMember(request),
        correlationId: run.firstRequestId,
        run: { resumed: run.resumed },
      }
      const result = await work(own, origin).catch((error: unknown) => release(end, run.resumed, error))
      const body = JSON.stringify(result)
      const stored = await end.answer({ status: 200, contentType: 'application/json', body })
      return JSON.parse(stored.body) as Result
    }
  }
}

/** After a refusal nothing was done, so the member may change the form; after a failure the run is continued. */
async function release(end: Ending, resumed: boolean, error: unknown): Promise<never> {
  await (error instanceof Refusal && !resumed ? end.forget() : end.leaveOpen())
  throw error
}
