import { setTimeout } from 'node:timers/promises'
import type { WakeSignal } from '../async/wake-signal.ts'

/** Something that has to follow from what is recorded, whoever recorded it and whatever has happened to them. */
export type Process = {
  /** In logs and metrics. */
  name: string
  everyMs: number
  /** Does what is due. Any number of processes may do so at once, and be killed at any point. */
  poll(): Promise<void>
  /** Asked after a poll that went well: how soon something is due, when that is sooner than `everyMs`. */
  dueInMs?(): number
  /** Wakes the next poll early. A poll that has failed is not repeated any sooner for it. */
  wakeSignal?: WakeSignal
}

/** A poll failed as a whole, most often since a store does not answer. It is repeated. */
type OnFailure = (failure: { process: string; error: unknown }) => void

const longestPauseMs = 30_000

/**
 * Polls every process until the signal aborts; the polls that are running are finished.
 * @param untilMayAct waited for before each poll: nothing is done while nothing can be recorded
 */
export async function runProcesses(
  processes: readonly Process[],
  signal: AbortSignal,
  onFailure: OnFailure,
  untilMayAct: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<void> {
  await Promise.all(processes.map((process) => repeat(process, signal, onFailure, untilMayAct)))
}

async function repeat(
  { name, everyMs, poll, dueInMs, wakeSignal }: Process,
  signal: AbortSignal,
  onFailure: OnFailure,
  untilMayAct: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    await untilMayAct(signal)
    if (signal.aborted) return
    try {
      await poll()
      failures = 0
    } catch (error) {
      failures++
      onFailure({ process: name, error })
    }
    const due = failures === 0 ? dueInMs?.() : undefined
    const pauseMs = Math.min(longestPauseMs, everyMs * 2 ** failures, due ?? longestPauseMs)
    if (wakeSignal && failures === 0) await wakeSignal.wait(pauseMs, signal)
    else await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
