import { setTimeout } from 'node:timers/promises'
import type { WakeSignal } from '../async/wake-signal.ts'

/** Work that follows from recorded events, even if the process that recorded them has died. */
export type Poller = {
  /** In logs and metrics. */
  name: string
  everyMs: number
  /** Does what is due. Any number of processes may poll concurrently, and may be killed at any point. */
  poll(): Promise<void>
  /** Called after a successful poll: in how many milliseconds something is due, if sooner than `everyMs`. */
  dueInMs?(): number
  /** Wakes the next poll early, but does not shorten the pause after a failed poll. */
  wakeSignal?: WakeSignal
}

/** A poll failed as a whole, most often because a store does not respond. It is repeated. */
type OnFailure = (failure: { process: string; error: unknown }) => void

const longestPauseMs = 30_000

/**
 * Polls every process until the signal aborts; running polls are finished.
 * @param untilMayAct awaited before each poll, so that nothing is done while nothing can be recorded
 */
export async function runPollers(
  processes: readonly Poller[],
  signal: AbortSignal,
  onFailure: OnFailure,
  untilMayAct: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<void> {
  await Promise.all(processes.map((process) => repeat(process, signal, onFailure, untilMayAct)))
}

async function repeat(
  { name, everyMs, poll, dueInMs, wakeSignal }: Poller,
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
