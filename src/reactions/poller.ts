import { setTimeout } from 'node:timers/promises'
import { createWakeSignal, type WakeSignal } from '../async/wake-signal.ts'
import type { Activity } from './activity.ts'

/** Work that follows from recorded events, even if the process that recorded them has died. */
export type Poller = {
  /** In logs and metrics. */
  name: string
  everyMs: number
  /** Does what is due. Any number of processes may poll concurrently, and may be killed at any point. */
  poll(): Promise<void>
  /** Called after a successful poll: in how many milliseconds something is due, if that is known. */
  dueInMs?(): number | undefined
  /** Called after a successful poll: nothing was due, and nothing waits to be tried again. */
  isIdle?(): boolean
  /** Wakes the next poll early, but does not shorten the pause after a failed poll. */
  wakeSignal?: WakeSignal
}

/** A poll failed as a whole, most often because a store does not respond. It is repeated. */
type OnFailure = (failure: { process: string; error: unknown }) => void

/** After failed polls. */
const longestPauseMs = 30_000
/** While the log is quiet, an idle process looks this often: for what only the clock has made due. */
export const quietPollMs = 10_000

type Conditions = {
  /** Awaited before each poll, so that nothing is done while nothing can be recorded. */
  untilMayAct?: (signal: AbortSignal) => Promise<void>
  activity?: Activity
}

/** Polls every process until the signal aborts; running polls are finished. */
export async function runPollers(
  processes: readonly Poller[],
  signal: AbortSignal,
  onFailure: OnFailure,
  conditions: Conditions = {},
): Promise<void> {
  await Promise.all(processes.map((process) => repeat(process, signal, onFailure, conditions)))
}

async function repeat(
  { name, everyMs, poll, dueInMs, isIdle, wakeSignal = createWakeSignal() }: Poller,
  signal: AbortSignal,
  onFailure: OnFailure,
  { untilMayAct, activity }: Conditions,
): Promise<void> {
  activity?.onNews(wakeSignal.wake)
  for (let failures = 0; !signal.aborted; ) {
    await untilMayAct?.(signal)
    if (signal.aborted) return
    try {
      await poll()
      failures = 0
    } catch (error) {
      failures++
      onFailure({ process: name, error })
      const pauseMs = Math.min(longestPauseMs, everyMs * 2 ** failures)
      await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
      continue
    }
    const rests = activity?.isQuiet() && isIdle?.()
    const pauseMs = rests ? Math.max(everyMs, quietPollMs) : everyMs
    await wakeSignal.wait(Math.min(pauseMs, dueInMs?.() ?? pauseMs), signal)
  }
}
