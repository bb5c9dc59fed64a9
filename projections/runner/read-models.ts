import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { OnParked } from './apply.ts'
import type { AppliedBatch } from './apply-page.ts'
import { readCheckpoint, runBatch } from './batch.ts'
import type { LogReader } from './log.ts'
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

/** Told of each round that was committed. @param startedAt in milliseconds since 1970 */
export type OnBatch = (step: AppliedBatch, startedAt: number) => void

/** A round costs several times this, however few events it takes in. */
const gatherMs = 3

type Waiter = { position: bigint; timer: NodeJS.Timeout; resolve: () => void }

export function createReadModels(
  db: Pool,
  log: LogReader,
  options: {
    timeLimitMs: number
    onParked: OnParked
    onFailure: (error: unknown) => void
    onBatch?: OnBatch | undefined
  },
): ReadModels {
  let reached = beforeAll
  /** Whether a round has told where the tables stand. */
  let positionKnown = false
  /** Whether the last round found the tables where the one before it had left them. */
  let uncontended = false
  let waiters: Waiter[] = []
  let running = false
  let lastFailure: unknown

  async function run(): Promise<void> {
    running = true
    let failures = 0
    let released = 0
    while (waiters.length > 0) {
      try {
        // Where several wait, more are on their way: the next round takes them along.
        if (released > 1) await sleep(gatherMs)
        const before = reached
        const startedAt = options.onBatch && Date.now()
        const step = await runBatch(
          db,
          log,
          options.onParked,
          positionKnown ? before : undefined,
          uncontended,
        )
        if (startedAt !== undefined) options.onBatch?.(step, startedAt)
        const { from, to } = step
        positionKnown = true
        uncontended = from === before
        reached = to
        failures = 0
        released = resolveWaiters()
        // The store acknowledged a position that its log does not show yet; give it a moment.
        if (reached === before && waiters.length > 0) await sleep(5)
        lastFailure = undefined
      } catch (error) {
        options.onFailure(error)
        lastFailure = error
        await sleep(Math.min(500, 10 * 2 ** failures++))
      }
    }
    running = false
  }

  function resolveWaiters(): number {
    const done = waiters.filter(({ position }) => position <= reached)
    waiters = waiters.filter(({ position }) => position > reached)
    for (const { timer, resolve } of done) {
      clearTimeout(timer)
      resolve()
    }
    return done.length
  }

  function advanceTo(position: bigint): Promise<void> {
    if (position <= reached) return Promise.resolve()
    return new Promise((resolve, reject) => {
      // A timer each: the round that is under way may wait for a store that has stopped answering.
      const timer = setTimeout(() => {
        waiters = waiters.filter((other) => other !== waiter)
        reject(new ReadModelsBehind(position, lastFailure))
      }, options.timeLimitMs)
      const waiter: Waiter = { position, timer, resolve }
      waiters.push(waiter)
      if (!running) void run()
    })
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
