import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { projectionLock } from '../database/advisory-locks.ts'
import { rolledBackOnFailure } from '../database/transaction.ts'
import type { Statement } from '../statements.ts'
import { type AppliedBatch, applyPage, type OnParked } from './apply.ts'
import type { LogReader } from './log.ts'
import { startOfLog } from './schema.ts'

/** The read models did not reach a position in time. The command's events are in the log nevertheless. */
export class ReadModelsBehind extends Error {
  constructor(position: bigint, cause: unknown) {
    super(`the read models have not reached position ${position}`, { cause })
    this.name = 'ReadModelsBehind'
  }
}

export type ReadModels = {
  /**
   * Returns when the read models hold everything up to a position. It advances them itself unless another process
   * does; concurrent callers share one batch.
   * @throws ReadModelsBehind when that takes longer than the time limit
   */
  advanceTo(position: bigint): Promise<void>
  /** As {@link advanceTo} the current head of the log. */
  catchUp(): Promise<void>
  /** The checkpoint; -1 before the first event. */
  checkpoint(): Promise<bigint>
}

/** Called for each committed batch. @param startedAt in milliseconds since 1970 */
export type OnBatch = (batch: AppliedBatch, startedAt: number) => void

/** A pause to gather more events into a batch. A batch takes several times as long, however few events it has. */
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
  let reached = startOfLog
  /** Whether `reached` comes from a batch. */
  let positionKnown = false
  /** Whether the last batch began where the previous one ended: no other process advanced the tables meanwhile. */
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
        // When several callers waited, more will follow soon: let the next batch include them.
        if (released > 1) await sleep(gatherMs)
        const before = reached
        const startedAt = options.onBatch && Date.now()
        const batch = await runBatch(
          db,
          log,
          options.onParked,
          positionKnown ? before : undefined,
          uncontended,
        )
        if (startedAt !== undefined) options.onBatch?.(batch, startedAt)
        const { from, to } = batch
        positionKnown = true
        uncontended = from === before
        reached = to
        failures = 0
        released = resolveWaiters()
        // The event store acknowledged a position that its log does not show yet.
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
      // A timer per caller: the running batch may wait for a store that does not respond.
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

/** The largest number of events in one transaction. */
const pageSize = 1000

const projectionLocked: Statement = {
  name: 'lock-to-apply',
  text: `select pg_advisory_xact_lock(${projectionLock})`,
}

/**
 * Applies one batch: reads the log from the checkpoint, takes the projection lock, applies the events that no other
 * process has applied meanwhile, and commits rows and checkpoint together, all or nothing. The log is read before the
 * lock is taken, so that an event store that hangs cannot block other processes.
 * @param expected the assumed checkpoint; undefined reads it from the tables
 * @param speculative whether the assumption is likely: saves a round trip when it is right
 */
export async function runBatch(
  db: Pool,
  log: LogReader,
  onParked: OnParked,
  expected?: bigint,
  speculative = false,
): Promise<AppliedBatch> {
  const from = expected ?? (await readCheckpoint(db))
  const page = await log.readPage(from === startOfLog ? undefined : from, pageSize)
  if (page.through === undefined) {
    const found = await readCheckpoint(db)
    return { from: found, to: found, events: 0 }
  }
  return rolledBackOnFailure(db, (client) =>
    applyPage(client, projectionLocked, { from, ...page }, onParked, speculative),
  )
}

export async function readCheckpoint(db: Pool | ClientBase): Promise<bigint> {
  const { rows } = await db.query<{ position: bigint }>('select position from checkpoint')
  return rows[0]?.position ?? startOfLog
}
