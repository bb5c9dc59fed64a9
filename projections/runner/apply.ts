import pg, { type ClientBase } from 'pg'
import type { LogEntry, Recorded, Unreadable } from '../../src/domain/recorded.ts'
import { batchStatements } from '../database/statement-batch.ts'
import { projectors } from '../projectors.ts'
import { runAll, type Statement, type Statements } from '../statements.ts'

/** Called for each stream that gets parked. */
export type OnParked = (parked: { stream: string; revision: number; type: string; problem: string }) => void

/** An event of a page cannot be read or applied, so the page's events must be applied one at a time. */
export class PoisonedPage extends Error {}

/**
 * Applies all events of a page at once, except those of parked streams.
 * @returns the statements to run, in order
 * @throws PoisonedPage when an event cannot be read or applied; the transaction must be rolled back
 * @throws pg.DatabaseError for a cause other than an event, so that the batch is retried
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
 * Runs the statements of a page in one message.
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
 * Applies a page one event at a time. An event that cannot be applied parks its stream: the stream's later events are
 * skipped until a rebuild, other streams are not affected. Each event is tried twice, in case the error is transient.
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

/** @returns whether the event could be applied; if not, it is rolled back to a savepoint */
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
 * SQLSTATE classes that an event's data causes: 21 cardinality, 22 data exception, 23 constraint violation, 54 too
 * large. Other database errors are transient. A TypeError or RangeError comes from a projector.
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
