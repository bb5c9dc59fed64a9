import { loadConfirmation } from '../commands/confirmations.ts'
import type { Origin } from '../commands/origin.ts'
import { Refusal } from '../domain/refusal.ts'
import { passGate } from './pass.ts'
import type { ApprovalPorts } from './ports.ts'
import { findOperation } from './registry.ts'
import { openRequest } from './request.ts'
import { isMember } from './requester.ts'

/**
 * Runs a member's request as soon as it is approved. An API client sends its request again after the
 * approval, so its requests are not run here.
 * @returns whether it was run
 * @throws Refusal when the rules no longer allow it, or it was run already
 */
export async function runApproved(
  services: ApprovalPorts,
  confirmationId: string,
  origin: Origin,
): Promise<boolean> {
  const { state: confirmation } = await loadConfirmation(services, confirmationId)
  if (confirmation.status === 'absent') throw new Refusal('confirmation_not_found')
  const { tenantId, tokenId, client } = confirmation
  if (!isMember(tokenId)) return false
  const operation = findOperation(confirmation.operation)
  const request = await openRequest(services, confirmation)
  if (!operation || !request) throw new Refusal('confirmation_consumed')
  await passGate(services, operation, { tenantId, tokenId, client, request, origin, confirmationId })
  return true
}
