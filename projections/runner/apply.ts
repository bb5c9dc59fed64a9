import pg, { type ClientBase } from 'pg'
import type { LogEntry, Recorded, Unreadable } from '../../src/domain/recorded.ts'
import { batchStatements } from '../database/statement-batch.ts'
import { projectors } from '../projectors.ts'
import { runAll, type Statement, type Statements } from '../statements.ts'

/** Told of each stream that has to be set aside. */
export type OnParked = (parked: { stream: string; revision: number; type: string; problem: string }) => void

/** Some event of a page cannot be read or applied; the page has to be gone through one by one. */
export class PoisonedPage extends Error {}

/**
 * Folds a page of the log onto what the tables hold, all events at once. The streams that are set aside are left out.
 * @returns what is to be written, in its order
 * @throws PoisonedPage when an event cannot be read or does not fit; the transaction is of no more use then
 * @throws whatever the database throws for reasons that have nothing to do with an event; the round is repeated
 */
export async function writesOfPage(
  db: Statements,
  entries: readonly LogEntry[],
  parked: ReadonlySet<string>,
): Promise<Statement[]> {
  const usable = entries.filter(({ stream }) => !parked.has(stream))
  const readable = usable.filter((entry) => entry.readable)
  if (readable.length < usable.length) throw new PoisonedPage('an event cannot be read')
  return rethrowPoisoned(async () => {
    const writes = await Promise.all(projectors.map((projector) => projector.apply(db, readable)))
    return writes.flat()
  })
}

/**
 * Writes what a page came to, in one message.
 * @throws as {@link writesOfPage} does
 */
export const runWrites = (db: Statements, writes: readonly Statement[]): Promise<void> =>
  rethrowPoisoned(() => runAll(db, writes))

async function rethrowPoisoned<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isCausedByEvent(error)) throw new PoisonedPage('an event cannot be applied', { cause: error })
    throw error
  }
}

/**
 * The same one event at a time, to find the one that does not fit: it parks its stream, whose later events are
 * left out until a rebuild, and everything else goes on. Each event gets a second try, in case it was only once.
 */
export async function applyOneByOne(
  db: ClientBase,
  entries: readonly LogEntry[],
  alreadyParked: ReadonlySet<string>,
  onParked: OnParked,
): Promise<void> {
  const parked = new Set(alreadyParked)
  for (const entry of entries) {
    if (parked.has(entry.stream)) continue
    if (entry.readable && ((await tryApply(db, entry)) || (await tryApply(db, entry)))) continue
    parked.add(entry.stream)
    const why = entry.readable ? { type: entry.event.type, problem: 'cannot be applied' } : entry
    await park(db, { ...entry, type: why.type, problem: why.problem }, onParked)
  }
}

/** Whether the event could be applied; if not, the transaction is as it was before. */
async function tryApply(db: ClientBase, entry: Recorded): Promise<boolean> {
  await db.query('savepoint before_event')
  try {
    const statements = batchStatements(db)
    for (const projector of projectors) await runAll(statements, await projector.apply(statements, [entry]))
    return true
  } catch (error) {
    if (!isCausedByEvent(error)) throw error
    await db.query('rollback to savepoint before_event')
    return false
  }
}

/**
 * SQLSTATE classes of data that does not fit: 21 cardinality, 22 data exception, 23 constraint violation, 54 too large. Anything
 * else that the database says is its own trouble and passes; what is no database error is a fault in a projector.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isCausedByEvent(error: unknown): boolean {
  if (error instanceof pg.DatabaseError)
    return ['21', '22', '23', '54'].includes(error.code?.slice(0, 2) ?? '')
  return error instanceof TypeError || error instanceof RangeError
}

async function park(db: ClientBase, entry: Omit<Unreadable, 'readable'>, onParked: OnParked): Promise<void> {
  const { stream, revision, position, type, problem } = entry
  await db.query(
    'insert into parked (stream, revision, position, type, problem) values ($1, $2, $3, $4, $5)',
    [stream, revision, position, type, problem],
  )
  onParked({ stream, revision, type, problem })
}
