import {
  absentConfirmation,
  type Confirmation,
  type ConfirmationCommand,
  decideConfirmation,
  evolveConfirmation,
  type RequestedConfirmation,
} from '../domain/confirmation/confirmation.ts'
import { folding } from '../domain/recorded.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Loaded } from '../ledger/handle.ts'
import { loadFromLog } from '../ledger/load.ts'
import { confirmationStream } from '../ledger/streams.ts'
import { causeOf, type Origin, type Services } from './services.ts'

/** As the log has it, which no read model lags behind. */
export function loadConfirmation(
  services: Pick<Services, 'ledger'>,
  confirmationId: string,
): Promise<Loaded<Confirmation>> {
  return loadFromLog(
    services.ledger,
    confirmationStream(confirmationId),
    absentConfirmation,
    folding('confirmation', evolveConfirmation),
  )
}

/**
 * Settled by exact revisions: of two that decide at once one wins, and the other decides again on what that has
 * made of it.
 * @returns the confirmation afterwards
 * @throws Refusal as `decideConfirmation` says
 */
export async function changeConfirmation(
  services: Services,
  confirmationId: string,
  command: ConfirmationCommand,
  origin: Origin,
): Promise<RequestedConfirmation> {
  const { state, events } = await services.handle<Confirmation, 'confirmation'>({
    stream: confirmationStream(confirmationId),
    load: () => loadConfirmation(services, confirmationId),
    decide: (confirmation) => decideConfirmation(confirmation, command),
    cause: causeOf(origin, command.at),
  })
  const confirmation = events.reduce(evolveConfirmation, state)
  if (confirmation.status === 'absent') throw new Refusal('confirmation_not_found')
  return confirmation
}
