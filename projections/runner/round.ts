import type { ClientBase, Pool, QueryResult } from 'pg'
import { projectionLock } from '../database/advisory-locks.ts'
import { applyOneByOne, applyTogether, type OnParked, PoisonedPage } from './apply.ts'
import type { LogPage, LogReader } from './log.ts'
import { beforeAll, fingerprint } from './schema.ts'

/** How much of the log one transaction takes in. */
const pageSize = 1000

/**
 * One step forward: takes the lock, reads the log from the checkpoint, applies, and commits rows and checkpoint
 * together. Killed at any point it has done all of it or nothing.
 * @returns the checkpoint now
 */
export async function runRound(
  db: Pool,
  log: LogReader,
  onParked: OnParked,
  onApplied: (events: number) => void = () => undefined,
): Promise<bigint> {
  const read = async (checkpoint: bigint): Promise<LogPage> => {
    const page = await log.readPage(checkpoint === beforeAll ? undefined : checkpoint, pageSize)
    onApplied(page.entries.length)
    return page
  }
  const client = await db.connect()
  let broken: Error | undefined
  // A connection that ends while it waits says so to its listeners alone.
  const lost = (error: Error) => {
    broken = error
  }
  client.on('error', lost)
  try {
    return await takeStep(client, `select pg_advisory_xact_lock(${projectionLock})`, read, onParked)
  } catch (error) {
    await client.query('rollback').catch(lost)
    throw error
  } finally {
    client.off('error', lost)
    client.release(broken)
  }
}

/**
 * Folds one page into the connection's tables, in a transaction of its own: quickly, or, when some event does not
 * fit, once more with care. Tables of another version are left to its own processes, which fold what this one could
 * misread.
 * @param lock a statement that keeps others away for as long as the transaction lasts
 * @returns the checkpoint now
 */
export async function takeStep(
  client: ClientBase,
  lock: string,
  read: (checkpoint: bigint) => Promise<LogPage>,
  onParked: OnParked,
): Promise<bigint> {
  let known: { checkpoint: bigint; page: LogPage } | undefined
  const step = async (apply: typeof applyTogether): Promise<bigint> => {
    const { checkpoint, isOurs, parked } = await begin(client, lock)
    if (!isOurs) {
      await client.query('rollback')
      return checkpoint
    }
    const page = known?.checkpoint === checkpoint ? known.page : await read(checkpoint)
    known = { checkpoint, page }
    if (page.through !== undefined) await apply(client, page.entries, parked)
    const now = page.through ?? checkpoint
    await client.query(
      `update checkpoint set position = ${now}, moved_at = clock_timestamp() where position < ${now}; commit`,
    )
    return now
  }
  try {
    return await step(applyTogether)
  } catch (error) {
    if (!(error instanceof PoisonedPage)) throw error
    await client.query('rollback')
    return step((db, entries, parked) => applyOneByOne(db, entries, parked, onParked))
  }
}

/** Begins, locks and reads where the tables stand: statements of one message, each seeing what was before it. */
async function begin(
  client: ClientBase,
  lock: string,
): Promise<{ checkpoint: bigint; isOurs: boolean; parked: Set<string> }> {
  // Several statements give several results, which the types of the client do not know.
  const results: unknown = await client.query(
    `begin; ${lock}; select position, fingerprint from checkpoint; select stream from parked`,
  )
  const [, , checkpoint, parked] = results as [
    QueryResult,
    QueryResult,
    QueryResult<{ position: bigint; fingerprint: string }>,
    QueryResult<{ stream: string }>,
  ]
  return {
    checkpoint: checkpoint.rows[0]?.position ?? beforeAll,
    isOurs: checkpoint.rows[0]?.fingerprint === fingerprint,
    parked: new Set(parked.rows.map(({ stream }) => stream)),
  }
}

export async function readCheckpoint(db: Pool | ClientBase): Promise<bigint> {
  const { rows } = await db.query<{ position: bigint }>('select position from checkpoint')
  return rows[0]?.position ?? beforeAll
}
