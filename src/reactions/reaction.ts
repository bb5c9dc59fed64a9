import { setTimeout } from 'node:timers/promises'
import type { WakeSignal } from '../async/wake-signal.ts'

/** Something that has to follow from what is recorded, whoever recorded it and whatever has happened to them. */
export type Reaction = {
  name: string
  everyMs: number
  /** One round: does what is due. Any number of processes may do so at once, and be killed at any point. */
  round(): Promise<void>
  /** Asked after a round that went well: how soon something is due, when that is sooner than `everyMs`. */
  dueInMs?(): number
  /** Rung when something is due at once. A round that has failed is not repeated any sooner for it. */
  wakeSignal?: WakeSignal
}

const longestPauseMs = 30_000

/**
 * Runs every reaction round after round until the signal aborts; the rounds that are running are finished.
 * @param untilMayAct waited for before each round: nothing is done while nothing can be recorded
 */
export async function keepReacting(
  reactions: readonly Reaction[],
  signal: AbortSignal,
  onFailure: (failure: { reaction: string; error: unknown }) => void,
  untilMayAct: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<void> {
  await Promise.all(reactions.map((reaction) => repeat(reaction, signal, onFailure, untilMayAct)))
}

async function repeat(
  { name, everyMs, round, dueInMs, wakeSignal }: Reaction,
  signal: AbortSignal,
  onFailure: (failure: { reaction: string; error: unknown }) => void,
  untilMayAct: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    await untilMayAct(signal)
    if (signal.aborted) return
    try {
      await round()
      failures = 0
    } catch (error) {
      failures++
      onFailure({ reaction: name, error })
    }
    const due = failures === 0 ? dueInMs?.() : undefined
    const pauseMs = Math.min(longestPauseMs, everyMs * 2 ** failures, due ?? longestPauseMs)
    if (wakeSignal && failures === 0) await wakeSignal.wait(pauseMs, signal)
    else await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
