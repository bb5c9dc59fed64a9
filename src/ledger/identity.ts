import { randomUUID } from 'node:crypto'
import { identityStream } from '../domain/streams.ts'
import type { Cause, Ledger } from './ledger.ts'
import { LedgerUnavailable } from './unavailable.ts'

/**
 * Gives the log its identity unless it has one. Of two processes that do it at once, one does and the other one finds
 * it. It also tells whether this user may append at all: the store looks at that before anything else.
 * @returns the id that the log has from now on
 * @throws LedgerUnavailable; what the store says when this user may not append
 */
export async function identify(ledger: Ledger, cause: Cause): Promise<string> {
  const ledgerId = randomUUID()
  const { at } = cause
  const { appended } = await ledger.append(
    identityStream,
    'no_stream',
    [{ type: 'LedgerIdentified', data: { ledgerId, at } }],
    cause,
  )
  if (appended) return ledgerId
  const found = await ledger.identity()
  if (found === undefined) throw new LedgerUnavailable(`${identityStream} exists but cannot be read`)
  return found
}
