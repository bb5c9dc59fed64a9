import { loadConfirmation } from '../commands/confirmations.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { isId } from '../credentials/id.ts'
import { absentConfirmation, confirmationStatusAt, refusalOf } from '../domain/confirmations/confirmation.ts'
import { Refusal } from '../domain/refusal.ts'
import type { GatedOperation } from './operation.ts'
import { passGate } from './pass.ts'
import type { ApprovalPorts } from './ports.ts'
import { findOperation } from './registry.ts'
import { isMember, openRequest } from './request.ts'

/**
 * Runs a member's request as soon as it is approved. An API client sends its request again after the
 * approval, so its requests are not run here; nor are those whose result the member downloads.
 * @returns whether it was run
 * @throws Refusal when the rules no longer allow it, or it was run already
 */
export async function runApproved(
  ports: ApprovalPorts,
  confirmationId: string,
  origin: Origin,
): Promise<boolean> {
  const { state: confirmation } = await loadConfirmation(ports, confirmationId)
  if (confirmation.status === 'absent') throw new Refusal('confirmation_not_found')
  const { tenantId, tokenId } = confirmation
  const { userAgent } = confirmation.client
  if (!isMember(tokenId)) return false
  const operation = findOperation(confirmation.operation)
  if (operation?.streams) return false
  const request = await openRequest(ports, confirmation)
  if (!operation || !request) throw new Refusal('confirmation_consumed')
  await passGate(ports, operation, { tenantId, tokenId, userAgent, request, origin, confirmationId })
  return true
}

/**
 * Runs a member's approved request whose result is streamed to them, once.
 * @throws Refusal `confirmation_not_found` for another tenant's and another operation's, `confirmation_unknown` for
 *   another requester's, and what {@link passGate} throws
 */
export async function runForMember<Result>(
  ports: ApprovalPorts,
  operation: GatedOperation<Result>,
  { tenantId, memberId, confirmationId }: { tenantId: string; memberId: string; confirmationId: string },
  origin: Origin,
): Promise<Result> {
  const { state: confirmation } = isId('cnf', confirmationId)
    ? await loadConfirmation(ports, confirmationId)
    : { state: absentConfirmation }
  if (
    confirmation.status === 'absent' ||
    confirmation.tenantId !== tenantId ||
    confirmation.operation !== operation.name
  )
    throw new Refusal('confirmation_not_found')
  if (confirmation.tokenId !== memberId) throw new Refusal('confirmation_unknown')
  const status = confirmationStatusAt(confirmation, momentOf(ports))
  if (status !== 'approved') throw new Refusal(refusalOf[status])
  const request = await openRequest(ports, confirmation)
  if (!request) throw new Refusal('confirmation_consumed')
  const { userAgent } = confirmation.client
  const call = { tenantId, tokenId: memberId, userAgent, request, origin, confirmationId }
  const outcome = await passGate(ports, operation, call)
  if (!outcome.passed) throw new Error('an approved request did not pass the gate')
  return outcome.result
}
