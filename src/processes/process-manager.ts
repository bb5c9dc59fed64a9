import { createBackoff } from '../async/backoff.ts'
import type { WakeSignal } from '../async/wake-signal.ts'
import { newId } from '../credentials/id.ts'
import type { Process } from './process.ts'

/** Who acts where nobody asked. */
export const originOfProcess = (): { requestId: string; actor: string } => ({
  requestId: newId('req'),
  actor: 'system:reactions',
})

/** Could not be advanced; it is tried again later. */
export type Trouble = { id: string; error: unknown }

/** What a poll asks for: nothing that waits after a failure, and no more at once than it takes on. */
export type Wanted = { except: string[]; most: number }

/** A process manager, from top to bottom: what is due, and the next step for one of it. */
export type ProcessManager<Due> = {
  /** In logs and metrics. */
  name: string
  everyMs: number
  /** Lists what is due, the most urgent first. */
  due(wanted: Wanted): Promise<readonly Due[]>
  idOf(due: Due): string
  /** Takes the next step. It may be taken again, after a crash or by another process, and must then come to the same. */
  advance(due: Due): Promise<void>
  /**
   * Throws while the stores do not answer. Asked when something could not be advanced, since then it is not to blame:
   * the poll fails as a whole.
   */
  requireStores(): Promise<unknown>
  onTrouble(trouble: Trouble): void
  now(): Date
  /** How many are advanced side by side; one unless given. */
  lanes?: number
  /** How many one poll takes on; 100 unless given. */
  most?: number
  /** Around all that a poll advances, with an `advance` for this poll alone. */
  around?(work: (advance: (due: Due) => Promise<void>) => Promise<void>): Promise<void>
  /** How soon something is due after a poll that took on all that was. */
  nextInMs?(): number
  wakeSignal?: WakeSignal
}

/** So many that fail each for itself are no accident any more: then nothing is done until somebody looks. */
const mostFailing = 1000

/**
 * Turns a process manager into what polls it: everything that is due is advanced, what fails is retried after longer and
 * longer pauses, and nothing waits for what fails. Nothing is kept but those pauses: what is due stands in a read model.
 */
export function processOf<Due>(manager: ProcessManager<Due>): Process {
  const { name, everyMs, idOf, lanes = 1, most = 100, wakeSignal } = manager
  const backoff = createBackoff(manager.now)
  let isFull = false

  async function poll(): Promise<void> {
    if (backoff.size >= mostFailing) throw new Error(`${name}: ${backoff.size} cannot be advanced`)
    const due = await manager.due({ except: backoff.waiting(), most })
    if (manager.around) await manager.around((advance) => advanceAll(due, advance))
    else await advanceAll(due, manager.advance)
    isFull = due.length >= most
    backoff.retainOnly(due.map(idOf))
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

  /** @throws what is nobody's own fault: the stores do not answer */
  async function advanceOne(one: Due, advance: (due: Due) => Promise<void>): Promise<void> {
    const id = idOf(one)
    try {
      await advance(one)
      backoff.succeeded(id)
    } catch (error) {
      await manager.requireStores()
      manager.onTrouble({ id, error })
      backoff.failed(id)
    }
  }

  return {
    name,
    everyMs,
    poll,
    dueInMs: () => (isFull ? 0 : (manager.nextInMs?.() ?? everyMs)),
    ...(wakeSignal && { wakeSignal }),
  }
}
