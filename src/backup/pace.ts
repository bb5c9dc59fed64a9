import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'

/** Keeps a backup from slowing down the requests that are served meanwhile. */
export type Pace = {
  /** Called after each piece of work; returns when the next one may begin. */
  rest(): Promise<void>
}

export const fullSpeed: Pace = { rest: () => Promise.resolve() }

/**
 * Rests between pieces of work, the longer the more time the piece took: the stores answer more slowly when they are
 * busy, and are then asked less.
 * @param restShare how long a rest is, as a multiple of the work before it
 */
export function createPace(restShare: number): Pace {
  let since = performance.now()
  return {
    async rest() {
      await setTimeout((performance.now() - since) * restShare)
      since = performance.now()
    },
  }
}

/** Lets every other process go first on a busy processor. For a process that makes a backup and does nothing else. */
export function lowerPriority(): void {
  // Linux knows priorities of threads, and those that compress and write exist already.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid]
  for (const thread of threads) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW)
    } catch {
      // A thread that has just ended, or a system that allows no change.
    }
  }
}
