import { changeConfirmation } from '../commands/confirmations.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { isStoreFailure } from '../commands/store-failure.ts'
import type { RequestedConfirmation } from '../domain/confirmations/confirmation.ts'
import type { Outcome } from '../domain/confirmations/events.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Ports } from '../ports.ts'
import type { GatedOperation, RequestInput } from './operation.ts'
import type { OperationPorts } from './ports.ts'
import { actorOfRequester, destroyRequest } from './request.ts'

/**
 * Runs the operation of a consumed confirmation, and records that it was run. After a crash before the record
 * it is run again, which changes nothing more. After a crash behind the record only the sealed request is
 * left, which a process manager destroys.
 * @param origin the request that consumed the confirmation, or the process manager that resumes it
 * @throws Refusal when the rules no longer allow it; it is then over, and recorded as refused
 */
export async function runConsumed<Result>(
  ports: OperationPorts,
  operation: GatedOperation<Result>,
  confirmation: RequestedConfirmation,
  request: RequestInput,
  origin: Origin,
): Promise<Result> {
  const { confirmationId, tenantId, tokenId, requestId: correlationId } = confirmation
  // The actor is always the requester, even if a process manager resumes it.
  const actor = actorOfRequester(tokenId)
  const cause: Origin = {
    requestId: origin.requestId,
    actor,
    causationId: confirmationId,
    correlationId,
    // An earlier execution may have been killed after its write.
    run: { resumed: true, sharedId: 'causationId' },
  }
  let result: Result
  try {
    result = await operation.run(ports, tenantId, request, { id: confirmationId, origin: cause })
  } catch (error) {
    if (error instanceof Refusal) {
      await recordExecution(ports, confirmation, { outcome: 'refused', reason: error.code }, origin)
    }
    throw error
  }
  await recordExecution(ports, confirmation, { outcome: 'done', reason: null }, origin).catch(
    leaveToProcessManager,
  )
  return result
}

/**
 * The operation was run, and its answer may show a secret once. A failing store must not cost the caller that
 * answer.
 */
function leaveToProcessManager(error: unknown): void {
  if (!isStoreFailure(error)) throw error
}

/** Closes a consumed confirmation and destroys its stored request. */
export async function recordExecution(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  confirmation: RequestedConfirmation,
  { outcome, reason }: { outcome: Outcome; reason: string | null },
  { requestId, actor, source }: Origin,
): Promise<void> {
  const { confirmationId, requestId: correlationId } = confirmation
  await changeConfirmation(
    ports,
    confirmationId,
    { type: 'RecordExecution', outcome, reason, at: momentOf(ports) },
    { requestId, actor, causationId: confirmationId, correlationId, source },
  )
  await destroyRequest(ports, confirmation)
}
