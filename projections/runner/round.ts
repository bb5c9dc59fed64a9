import type { Pool, PoolClient } from 'pg'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { projectors } from '../projectors.ts'
import { applyEntries, type OnParked } from './apply.ts'
import type { LogReader } from './log.ts'
import { beforeAll, projectionLock } from './schema.ts'

/** How much of the log one transaction takes in. */
const pageSize = 1000

/**
 * One step forward: takes the lock, reads the log from the checkpoint, applies, and commits rows and checkpoint
 * together. Killed at any point it has done all of it or nothing.
 * @returns the checkpoint now
 */
export async function runRound(db: Pool, log: LogReader, onParked: OnParked): Promise<bigint> {
  return inTransaction(db, async (client) => {
    const checkpoint = await lockCheckpoint(client)
    const { entries, through } = await log.readPage(
      checkpoint === beforeAll ? undefined : checkpoint,
      pageSize,
    )
    if (through === undefined) return checkpoint
    await applyThrough(client, entries, through, onParked)
    return through
  })
}

/** @returns the position that the tables stand at, which nobody else can move before the transaction ends */
export async function lockCheckpoint(client: PoolClient): Promise<bigint> {
  await client.query({
    name: 'projection-lock',
    text: 'select pg_advisory_xact_lock($1)',
    values: [projectionLock],
  })
  return readCheckpoint(client)
}

export async function readCheckpoint(client: Pool | PoolClient): Promise<bigint> {
  const { rows } = await client.query<{ position: bigint }>('select position from checkpoint')
  return rows[0]?.position ?? beforeAll
}

export async function applyThrough(
  client: PoolClient,
  entries: readonly LogEntry[],
  through: bigint,
  onParked: OnParked,
): Promise<void> {
  await applyEntries(client, projectors, entries, onParked)
  await client.query('update checkpoint set position = $1', [through])
}

export async function inTransaction<T>(db: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await db.connect()
  let broken = false
  // A connection that ends while it waits says so to its listeners alone.
  const lost = () => {
    broken = true
  }
  client.on('error', lost)
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(lost)
    throw error
  } finally {
    client.off('error', lost)
    client.release(broken)
  }
}
