import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { identityStream } from '../domain/streams.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'
import type { Cause, Ledger } from './ledger.ts'

/**
 * Records an identity for the log unless it has one. If two processes do so at once, one appends it and the
 * other reads it. This also shows whether the user may append: the store checks that first.
 * @returns the id of the log
 * @throws LedgerUnavailable; the store's error when this user may not append
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
  for (let tries = 0; tries < 50; tries++) {
    const found = await ledger.identity()
    if (found !== undefined) return found
    // The store refuses an append some milliseconds before the one that won can be read.
    await setTimeout(20)
  }
  throw new LedgerUnavailable(`${identityStream} exists but cannot be read`)
}
