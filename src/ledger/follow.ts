import { setTimeout } from 'node:timers/promises'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ledger } from './ledger.ts'

/**
 * Yields every entry after a position, in order and without gaps, and then new ones as they come. After a lost
 * connection it subscribes again from the last entry. Ends when the signal aborts.
 * @param onBreak called for each lost connection, with the milliseconds until the next attempt
 */
export async function* follow(
  ledger: Ledger,
  after: bigint | undefined,
  signal: AbortSignal,
  onBreak: (error: unknown, retryInMs: number) => void,
): AsyncIterable<LogEntry> {
  let last = after
  let failures = 0
  while (!signal.aborted) {
    let broken: unknown = new Error('the event store ended the subscription')
    try {
      for await (const entry of ledger.subscribe(last, signal)) {
        failures = 0
        last = entry.position
        yield entry
      }
    } catch (error) {
      broken = error
    }
    if (signal.aborted) return
    const retryInMs = Math.min(5000, 100 * 2 ** failures++)
    onBreak(broken, retryInMs)
    await setTimeout(retryInMs, undefined, { signal }).catch(() => undefined)
  }
}
