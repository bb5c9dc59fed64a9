import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { OnParked } from './apply.ts'
import type { LogReader } from './log.ts'
import { readCheckpoint, runRound } from './round.ts'
import { beforeAll } from './schema.ts'

/** The read models did not reach a command's position in time. The command itself stands in the log. */
export class ReadModelsBehind extends Error {
  constructor(position: bigint, cause: unknown) {
    super(`the read models have not reached position ${position}`, { cause })
    this.name = 'ReadModelsBehind'
  }
}

export type ReadModels = {
  /**
   * Returns when the read models hold everything up to a position, pushing them there if nobody else does. Callers
   * at the same time share one round.
   * @throws ReadModelsBehind when that takes longer than the time limit
   */
  advanceTo(position: bigint): Promise<void>
  /** As {@link advanceTo} the end of the log as it is now. */
  catchUp(): Promise<void>
  /** How far they are; -1 before the first event. */
  checkpoint(): Promise<bigint>
}

/** A round costs several times this, however few events it takes in. */
const gatherMs = 3

type Waiter = { position: bigint; deadline: number; resolve: () => void; reject: (error: Error) => void }

export function createReadModels(
  db: Pool,
  log: LogReader,
  options: { timeLimitMs: number; onParked: OnParked; onFailure: (error: unknown) => void },
): ReadModels {
  let reached = beforeAll
  /** Whether the last round found the tables where the one before it had left them. */
  let isAlone = false
  let waiters: Waiter[] = []
  let running = false

  async function run(): Promise<void> {
    running = true
    let failures = 0
    let settled = 0
    while (waiters.length > 0) {
      try {
        // Where several wait, more are on their way: the next round takes them along.
        if (settled > 1) await setTimeout(gatherMs)
        const before = reached
        const { from, to } = await runRound(db, log, options.onParked, isAlone ? before : undefined)
        isAlone = from === before
        reached = to
        failures = 0
        settled = settle()
        // The store acknowledged a position that its log does not show yet; give it a moment.
        if (reached === before && waiters.length > 0) await setTimeout(5)
        expire(undefined)
      } catch (error) {
        options.onFailure(error)
        expire(error)
        await setTimeout(Math.min(500, 10 * 2 ** failures++))
      }
    }
    running = false
  }

  function settle(): number {
    const done = waiters.filter(({ position }) => position <= reached)
    waiters = waiters.filter(({ position }) => position > reached)
    for (const waiter of done) waiter.resolve()
    return done.length
  }

  function expire(cause: unknown): void {
    const now = performance.now()
    const late = waiters.filter(({ deadline }) => deadline <= now)
    waiters = waiters.filter(({ deadline }) => deadline > now)
    for (const waiter of late) waiter.reject(new ReadModelsBehind(waiter.position, cause))
  }

  function advanceTo(position: bigint): Promise<void> {
    if (position <= reached) return Promise.resolve()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiters.push({ position, deadline: performance.now() + options.timeLimitMs, resolve, reject })
    if (!running) void run()
    return promise
  }

  return {
    advanceTo,
    async catchUp() {
      const head = await log.head()
      if (head !== undefined) await advanceTo(head)
    },
    checkpoint: () => readCheckpoint(db),
  }
}
