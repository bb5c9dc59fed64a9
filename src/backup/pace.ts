import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'

/** Limits the speed of a backup, so that it does not slow down requests. */
export type Pace = {
  /** How many events are read at once: a short read delays the requests beside it less. */
  eventsPerPage: number
  /** Waits after each piece of work until the next one may start. */
  rest(): Promise<void>
}

export const fullSpeed: Pace = { eventsPerPage: 500, rest: () => Promise.resolve() }

/**
 * Rests after each piece of work, in proportion to the time that it took: busy stores answer more slowly, and
 * then get fewer requests.
 * @param restShare the length of a rest, as a multiple of the work before it
 */
export function createPace(restShare: number): Pace {
  let since = performance.now()
  return {
    eventsPerPage: 50,
    async rest() {
      await setTimeout((performance.now() - since) * restShare)
      since = performance.now()
    },
  }
}

/** Gives this process the lowest CPU priority. For a process that only makes a backup. */
export function lowerPriority(): void {
  // On Linux each thread has a priority of its own, and the threads that compress and write already exist.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid]
  for (const thread of threads) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW)
    } catch {
      // The thread has just ended, or the system allows no change.
    }
  }
}
