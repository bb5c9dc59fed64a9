import type { ClientBase, Pool } from 'pg'
import { projectionLock } from '../database/advisory-locks.ts'
import { rolledBackOnFailure } from '../database/transaction.ts'
import type { Statement } from '../statements.ts'
import type { OnParked } from './apply.ts'
import { type AppliedBatch, applyPage } from './apply-page.ts'
import type { LogReader } from './log.ts'
import { startOfLog } from './schema.ts'

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
