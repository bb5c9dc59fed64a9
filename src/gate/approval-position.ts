import { confirmationStream } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'

/**
 * The position and time of a confirmation's approval in the log: the limit of what its approver could know.
 * @throws Error when it was never approved
 */
export async function approvalPositionOf(
  { ledger }: Ports<'ledger'>,
  confirmationId: string,
): Promise<{ position: bigint; at: string }> {
  for await (const entry of ledger.readStream(confirmationStream(confirmationId))) {
    if (entry.readable && entry.event.type === 'ConfirmationApproved') {
      return { position: entry.position, at: entry.event.data.at }
    }
  }
  throw new Error(`${confirmationId} was never approved`)
}
