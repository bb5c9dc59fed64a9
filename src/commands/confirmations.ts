import {
  type Confirmation,
  type ConfirmationCommand,
  confirmations,
  type RequestedConfirmation,
} from '../domain/confirmations/confirmation.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Loaded, loadFromLog } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { causeOf, type Origin } from './origin.ts'

/** As the log has it, which no read model lags behind. */
export function loadConfirmation(
  services: Ports<'ledger'>,
  confirmationId: string,
): Promise<Loaded<Confirmation>> {
  return loadFromLog(services.ledger, confirmationId, confirmations)
}

/**
 * Settled by exact revisions: of two that decide at once one wins, and the other decides again on what that has
 * made of it.
 * @returns the confirmation afterwards
 * @throws Refusal as `decideConfirmation` says
 */
export async function changeConfirmation(
  services: Ports<'execute'>,
  confirmationId: string,
  command: ConfirmationCommand,
  origin: Origin,
): Promise<RequestedConfirmation> {
  const cause = causeOf(origin, command.at)
  const { state: confirmation } = await services.execute(confirmations, confirmationId, command, cause)
  if (confirmation.status === 'absent') throw new Refusal('confirmation_not_found')
  return confirmation
}
