import { createBackoff } from '../async/backoff.ts'
import type { WakeSignal } from '../async/wake-signal.ts'
import { newId } from '../credentials/id.ts'
import type { Poller } from './poller.ts'

/** The origin of events that no request caused. */
export const originOfProcess = (): { requestId: string; actor: string } => ({
  requestId: newId('req'),
  actor: 'system:reactions',
})

/** An item that could not be advanced; it is retried later. */
export type Failure = { id: string; error: unknown }

/** The limits of a poll: without the items that wait after a failure, and no more than it can advance. */
export type PollLimits = { except: string[]; most: number }

/** A process manager: what is due, and the next step of each item. */
export type ProcessManager<Due> = {
  /** In logs and metrics. */
  name: string
  everyMs: number
  /** Lists the items that are due, the most urgent first. */
  due(wanted: PollLimits): Promise<readonly Due[]>
  idOf(due: Due): string
  /**
   * Takes the next step. It may be repeated, after a crash or by another process, and must then have the same
   * result.
   */
  advance(due: Due): Promise<void>
  /** How many items are advanced concurrently; default 1. */
  lanes?: number
  /** The limit of items per poll; default 100. */
  most?: number
  /** With this many failing items the cause is general: the process stops until an operator intervenes. */
  stopAtFailing?: number
  /** Wraps all steps of a poll, with an `advance` for this poll only. */
  around?(work: (advance: (due: Due) => Promise<void>) => Promise<void>): Promise<void>
  /** In how many milliseconds the next item is due, if one is known, after a poll that advanced all items. */
  nextInMs?(): number | undefined
  wakeSignal?: WakeSignal
}

/** What every process manager needs: the clock, and the stores, which are asked whether they respond. */
type Stores = {
  ledger: { head(): Promise<unknown> }
  db: { query(text: string): Promise<unknown> }
  now(): Date
}

/**
 * Makes a polled process of a process manager. Every due item is advanced; a failing one is retried with
 * backoff and does not block others. While the stores do not respond, a poll fails as a whole and no item is backed
 * off. Only the backoff is kept in memory: what is due is in a read model.
 */
export function processOf<Due>(
  { ledger, db, now }: Stores,
  onFailure: (failure: Failure) => void,
  manager: ProcessManager<Due>,
): Poller {
  const { name, everyMs, idOf, lanes = 1, most = 100, stopAtFailing, wakeSignal } = manager
  const backoff = createBackoff(now)
  let isFull = false
  let before: ReadonlySet<string> = new Set()

  async function poll(): Promise<void> {
    if (stopAtFailing !== undefined && backoff.size >= stopAtFailing)
      throw new Error(`${name}: ${backoff.size} cannot be advanced`)
    const due = await manager.due({ except: backoff.waiting(), most })
    if (manager.around) await manager.around((advance) => advanceAll(due, advance))
    else await advanceAll(due, manager.advance)
    const ids = due.map(idOf)
    // A full poll that lists the same items again made no progress, as when their streams are parked. Others wait
    // behind them.
    const isStuck = due.length >= most && ids.every((id) => before.has(id))
    if (isStuck) for (const id of ids) backoff.failed(id)
    isFull = due.length >= most
    before = new Set(ids)
    backoff.retainOnly(ids)
  }

  async function advanceAll(due: readonly Due[], advance: (due: Due) => Promise<void>): Promise<void> {
    const left = due.values()
    const outage = new AbortController()
    const lane = async () => {
      for (const one of left) {
        if (outage.signal.aborted) return
        await advanceOne(one, advance).catch((error: unknown) => outage.abort(error))
      }
    }
    await Promise.all(Array.from({ length: Math.min(lanes, due.length) }, lane))
    outage.signal.throwIfAborted()
  }

  /** @throws an error that is not the item's own: the stores do not respond */
  async function advanceOne(one: Due, advance: (due: Due) => Promise<void>): Promise<void> {
    const id = idOf(one)
    try {
      await advance(one)
      backoff.succeeded(id)
    } catch (error) {
      // Both throw while a store does not respond: then the item is not at fault.
      await Promise.all([ledger.head(), db.query('select 1')])
      onFailure({ id, error })
      backoff.failed(id)
    }
  }

  return {
    name,
    everyMs,
    poll,
    dueInMs: () => (isFull ? 0 : manager.nextInMs?.()),
    isIdle: () => before.size === 0 && backoff.size === 0,
    ...(wakeSignal && { wakeSignal }),
  }
}
