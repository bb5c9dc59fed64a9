import { setTimeout } from 'node:timers/promises'
import type { LogEntry } from '../domain/recorded.ts'
import { follow } from './follow.ts'
import type { Ledger, Page } from './ledger.ts'

/** More than any batch reads; a reader that is further behind reads from the store. */
const maxKept = 5000

/**
 * The store pushes an event about when it acknowledges it; a reader waits this long before it reads from the
 * store.
 */
const pushTimeoutMs = 20

const startOfLog = -1n

/**
 * Keeps the newest part of the log in memory, for a reader that is never far behind. Each event is then
 * transferred once, instead of being pushed and read again.
 */
export type Tail = Pick<Ledger, 'readPage' | 'head'> & {
  /** Follows the log after a position, keeps its entries and yields them. */
  follow(
    after: bigint | undefined,
    signal: AbortSignal,
    onBreak: (error: unknown, retryInMs: number) => void,
  ): AsyncIterable<LogEntry>
}

export function createTail(ledger: Ledger): Tail {
  /** The kept entries are complete after this position; undefined when nothing is kept. */
  let completeAfter: bigint | undefined
  let kept: LogEntry[] = []
  let arrival = Promise.withResolvers<void>()

  function keep(entry: LogEntry): void {
    if (kept.length >= maxKept) {
      completeAfter = kept.at(-1)?.position ?? completeAfter
      kept = []
    }
    kept.push(entry)
    arrival.resolve()
    arrival = Promise.withResolvers()
  }

  /** Drops the entries that the reader has read. */
  function forget(upTo: bigint): void {
    const firstNewer = kept.findIndex(({ position }) => position > upTo)
    kept = firstNewer === -1 ? [] : kept.slice(firstNewer)
    completeAfter = upTo
  }

  return {
    head: () => ledger.head(),
    async readPage(after, limit): Promise<Page> {
      const from = after ?? startOfLog
      if (completeAfter === undefined || from < completeAfter) return ledger.readPage(after, limit)
      forget(from)
      if (kept.length === 0) await Promise.race([arrival.promise, setTimeout(pushTimeoutMs)])
      // A page read from the store in the meantime may have been pushed as well.
      forget(from)
      const entries = kept.slice(0, limit)
      return entries.length === 0
        ? ledger.readPage(after, limit)
        : { entries, through: entries.at(-1)?.position }
    },
    async *follow(after, signal, onBreak) {
      kept = []
      completeAfter = after ?? startOfLog
      for await (const entry of follow(ledger, after, signal, onBreak)) {
        keep(entry)
        yield entry
      }
      completeAfter = undefined
      kept = []
    },
  }
}
