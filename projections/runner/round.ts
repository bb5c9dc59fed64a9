import type { ClientBase, Pool } from 'pg'
import { projectionLock } from '../database/advisory-locks.ts'
import { inMessages } from '../database/message.ts'
import { runAll, type Statement, type Statements } from '../statements.ts'
import { applyOneByOne, applyTogether, type OnParked, PoisonedPage } from './apply.ts'
import type { LogPage, LogReader } from './log.ts'
import { beforeAll, fingerprint } from './schema.ts'

/** How much of the log one transaction takes in. */
const pageSize = 1000

const againstOthers: Statement = {
  name: 'lock-to-fold',
  text: `select pg_advisory_xact_lock(${projectionLock})`,
}

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
    return await takeStep(client, againstOthers, read, onParked)
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
  lock: Statement,
  read: (checkpoint: bigint) => Promise<LogPage>,
  onParked: OnParked,
): Promise<bigint> {
  const statements = inMessages(client)
  let known: { checkpoint: bigint; page: LogPage } | undefined
  const step = async (
    apply: (entries: LogPage['entries'], parked: ReadonlySet<string>, last: Statement[]) => Promise<void>,
  ): Promise<bigint> => {
    const { checkpoint, isOurs, parked } = await begin(statements, lock)
    if (!isOurs) {
      await client.query('rollback')
      return checkpoint
    }
    const page = known?.checkpoint === checkpoint ? known.page : await read(checkpoint)
    known = { checkpoint, page }
    const now = page.through ?? checkpoint
    await apply(page.entries, parked, [moveCheckpoint(now), commit])
    return now
  }
  try {
    return await step((entries, parked, last) => applyTogether(statements, entries, parked, last))
  } catch (error) {
    if (!(error instanceof PoisonedPage)) throw error
    await client.query('rollback')
    return step(async (entries, parked, last) => {
      await applyOneByOne(client, entries, parked, onParked)
      await runAll(statements, last)
    })
  }
}

/** Begins, locks and reads where the tables stand: each statement sees what was before it. */
async function begin(
  db: Statements,
  lock: Statement,
): Promise<{ checkpoint: bigint; isOurs: boolean; parked: Set<string> }> {
  const [, , checkpoint, parked] = await Promise.all([
    db.query({ name: 'begin-fold', text: 'begin' }),
    db.query(lock),
    db.query<{ position: bigint; fingerprint: string }>({
      name: 'checkpoint-to-fold-from',
      text: 'select position, fingerprint from checkpoint',
    }),
    db.query<{ stream: string }>({ name: 'parked-to-fold', text: 'select stream from parked' }),
  ])
  return {
    checkpoint: checkpoint.rows[0]?.position ?? beforeAll,
    isOurs: checkpoint.rows[0]?.fingerprint === fingerprint,
    parked: new Set(parked.rows.map(({ stream }) => stream)),
  }
}

const moveCheckpoint = (position: bigint): Statement => ({
  name: 'move-checkpoint',
  text: 'update checkpoint set position = $1, moved_at = clock_timestamp() where position < $1',
  values: [position],
})

const commit: Statement = { name: 'commit-fold', text: 'commit' }

export async function readCheckpoint(db: Pool | ClientBase): Promise<bigint> {
  const { rows } = await db.query<{ position: bigint }>('select position from checkpoint')
  return rows[0]?.position ?? beforeAll
}
