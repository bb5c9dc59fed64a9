import {
  type Confirmation,
  type ConfirmationCommand,
  confirmations,
  type RequestedConfirmation,
} from '../domain/confirmations/confirmation.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Loaded, loadFromLog } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { causeOf, type Origin } from './origin.ts'

/** Reads the log, which is never behind as a read model may be. */
export function loadConfirmation(
  ports: Ports<'ledger'>,
  confirmationId: string,
): Promise<Loaded<Confirmation>> {
  return loadFromLog(ports.ledger, confirmationId, confirmations)
}

/**
 * Changes a confirmation at its exact revision: of two concurrent commands one is appended, and the other is
 * decided again on the new state.
 * @returns the confirmation afterwards
 * @throws Refusal as `decideConfirmation` does
 */
export async function changeConfirmation(
  ports: Ports<'execute'>,
  confirmationId: string,
  command: ConfirmationCommand,
  origin: Origin,
): Promise<RequestedConfirmation> {
  const cause = causeOf(origin, command.at)
  const { state: confirmation } = await ports.execute(confirmations, confirmationId, command, cause)
  if (confirmation.status === 'absent') throw new Refusal('confirmation_not_found')
  return confirmation
}
