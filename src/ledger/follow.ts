import { setTimeout } from 'node:timers/promises'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ledger } from './ledger.ts'

/**
 * Everything in the log after a position, in order and without gaps, and then everything to come: when the
 * connection breaks it subscribes again from the last entry it handed out. Ends when the signal aborts.
 * @param onBreak told of each lost connection, with the milliseconds until the next try
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
