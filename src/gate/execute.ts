import { isDatabaseTrouble } from '../../projections/database/trouble.ts'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { changeConfirmation } from '../commands/confirmations.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import type { RequestedConfirmation } from '../domain/confirmations/confirmation.ts'
import type { Outcome } from '../domain/confirmations/events.ts'
import { Refusal } from '../domain/refusal.ts'
import { LedgerUnavailable } from '../ledger/unavailable.ts'
import type { Ports } from '../ports.ts'
import type { GatedOperation, RequestInput } from './operation.ts'
import { destroyRequest } from './request.ts'
import { actorOfRequester } from './requester.ts'

/**
 * Runs what a consumed confirmation allows, and records that it was run. A crash before the record leaves it to be
 * run again, which changes nothing more; one after it leaves only the sealed request, which a reaction destroys.
 * @param origin who runs it: the request that consumed the confirmation, or the reaction that resumes it
 * @throws Refusal when the rules do not allow it any more; it is over then, and recorded as refused
 */
export async function execute<Result>(
  services: Ports<
    | 'db'
    | 'execute'
    | 'idempotency'
    | 'keyTypes'
    | 'ledger'
    | 'mailing'
    | 'now'
    | 'planCapacity'
    | 'randomBytes'
    | 'secrets'
    | 'subjects'
    | 'untilVisible'
  >,
  operation: GatedOperation<Result>,
  confirmation: RequestedConfirmation,
  request: RequestInput,
  origin: Origin,
): Promise<Result> {
  const { confirmationId, tenantId, tokenId, requestId: correlationId } = confirmation
  // Whoever resumes it, it is done for whoever asked.
  const actor = actorOfRequester(tokenId)
  const cause: Origin = {
    requestId: origin.requestId,
    actor,
    causationId: confirmationId,
    correlationId,
    // An execution before this one may have been killed behind its write.
    run: { resumed: true, sharedId: 'causationId' },
  }
  let result: Result
  try {
    result = await operation.run(services, tenantId, request, { id: confirmationId, origin: cause })
  } catch (error) {
    if (error instanceof Refusal) {
      await recordExecution(services, confirmation, { outcome: 'refused', reason: error.code }, origin)
    }
    throw error
  }
  await recordExecution(services, confirmation, { outcome: 'done', reason: null }, origin).catch(
    leaveToWorker,
  )
  return result
}

/** It was run, and its answer may show a secret once: that a store fails now must not cost the caller that answer. */
function leaveToWorker(error: unknown): void {
  const passes =
    error instanceof LedgerUnavailable || error instanceof ReadModelsBehind || isDatabaseTrouble(error)
  if (!passes) throw error
}

/** Closes a consumed confirmation and destroys the request that was kept for it. */
export async function recordExecution(
  services: Ports<'execute' | 'now' | 'secrets'>,
  confirmation: RequestedConfirmation,
  { outcome, reason }: { outcome: Outcome; reason: string | null },
  { requestId, actor }: Origin,
): Promise<void> {
  const { confirmationId, requestId: correlationId } = confirmation
  await changeConfirmation(
    services,
    confirmationId,
    { type: 'RecordExecution', outcome, reason, at: momentOf(services) },
    { requestId, actor, causationId: confirmationId, correlationId },
  )
  await destroyRequest(services, confirmation)
}
