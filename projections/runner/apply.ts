import type { ClientBase } from 'pg'
import pg from 'pg'
import type { LogEntry, Recorded, Unreadable } from '../../src/domain/recorded.ts'
import { batchStatements } from '../database/statement-batch.ts'
import { projectors } from '../projectors.ts'
import { runAll, type Statement, type Statements } from '../statements.ts'
import type { LogPage } from './log.ts'
import { fingerprint, startOfLog } from './schema.ts'

/** The checkpoint before and after a batch, and the number of events that were applied. */
export type AppliedBatch = { from: bigint; to: bigint; events: number }

/** A page of the log, and the position after which it begins. */
export type PageFrom = LogPage & { from: bigint }

/**
 * Applies one page to the connection's tables in one transaction: all events at once or, when that fails because of an
 * event, one at a time. When another process has applied a part of the page, it applies the rest. It applies nothing
 * when the checkpoint is not within the page, or when the tables are of another version: this version could misread
 * their rows.
 * @param lock a statement that keeps other writers out until the end of the transaction
 * @param speculative whether the checkpoint is likely where the page begins. The writes are then computed from rows that
 *   are read along with the lock, and discarded if the checkpoint is elsewhere.
 */
export async function applyPage(
  client: ClientBase,
  lock: Statement,
  page: PageFrom,
  onParked: OnParked,
  speculative: boolean,
): Promise<AppliedBatch> {
  const statements = batchStatements(client)
  const step = async (
    { checkpoint, isThisVersion, parked }: Begun,
    apply: (entries: LogPage['entries'], parked: ReadonlySet<string>, last: Statement[]) => Promise<void>,
  ): Promise<AppliedBatch> => {
    const { through } = page
    if (!isThisVersion || through === undefined || checkpoint < page.from || checkpoint >= through) {
      await client.query('rollback')
      return { from: checkpoint, to: checkpoint, events: 0 }
    }
    const entries =
      checkpoint === page.from ? page.entries : page.entries.filter(({ position }) => position > checkpoint)
    await apply(entries, parked, [moveCheckpoint(through, entries.at(-1)), commit])
    return { from: checkpoint, to: through, events: entries.length }
  }
  try {
    const begun = await (speculative
      ? beginAndPrepare(client, statements, lock, page)
      : begin(statements, lock))
    return await step(begun, async (entries, parked, last) => {
      const canReuse = begun.checkpoint === page.from && !entries.some(({ stream }) => parked.has(stream))
      const writes = (canReuse && begun.writes) || (await writesOfPage(statements, entries, parked))
      await runWrites(statements, [...writes, ...last])
    })
  } catch (error) {
    if (!(error instanceof PoisonedPage)) throw error
    await client.query('rollback')
    return step(await begin(statements, lock), async (entries, parked, last) => {
      await applyOneByOne(client, entries, parked, onParked)
      await runAll(statements, last)
    })
  }
}

/** The tables at the beginning of the transaction; `writes` are those that were computed speculatively, if any. */
type Begun = {
  checkpoint: bigint
  isThisVersion: boolean
  parked: Set<string>
  writes?: Statement[] | undefined
}

/** Begins, and computes the writes of the page at the same time. */
async function beginAndPrepare(
  client: ClientBase,
  statements: Statements,
  lock: Statement,
  { entries }: PageFrom,
): Promise<Begun> {
  const begun = begin(statements, lock)
  // An error here is ignored: the writes are then computed again after the lock, where it is handled.
  const writes = writesOfPage(statements, entries, new Set()).catch(() => undefined)
  try {
    return { ...(await begun), writes: await writes }
  } catch {
    await client.query('rollback')
    return begin(statements, lock)
  }
}

/** Begins, takes the lock, and reads the checkpoint and the parked streams, each with a snapshot after the lock. */
async function begin(db: Statements, lock: Statement): Promise<Begun> {
  const [, , checkpoint, parked] = await Promise.all([
    db.query({ name: 'begin-batch', text: 'begin' }),
    db.query(lock),
    db.query<{ position: bigint; fingerprint: string }>({
      name: 'checkpoint-to-apply-from',
      text: 'select position, fingerprint from checkpoint',
    }),
    db.query<{ stream: string }>({ name: 'parked-to-apply', text: 'select stream from parked' }),
  ])
  return {
    checkpoint: checkpoint.rows[0]?.position ?? startOfLog,
    isThisVersion: checkpoint.rows[0]?.fingerprint === fingerprint,
    parked: new Set(parked.rows.map(({ stream }) => stream)),
  }
}

/** @param last the last applied event, undefined when the page had none of keyledger's own */
const moveCheckpoint = (position: bigint, last: LogPage['entries'][number] | undefined): Statement => ({
  name: 'move-checkpoint',
  text: `update checkpoint set position = $1, moved_at = clock_timestamp(),
           event_position = coalesce($2, event_position), event_id = coalesce($3, event_id)
         where position < $1`,
  values: [position, last?.position ?? null, last?.id ?? null],
})

const commit: Statement = { name: 'commit-batch', text: 'commit' }

/** Called for each stream that gets parked. */
export type OnParked = (parked: { stream: string; revision: number; type: string; problem: string }) => void

/** An event of a page cannot be read or applied, so the page's events must be applied one at a time. */
class PoisonedPage extends Error {}

/**
 * Applies all events of a page at once, except those of parked streams.
 * @returns the statements to run, in order
 * @throws PoisonedPage when an event cannot be read or applied; the transaction must be rolled back
 * @throws pg.DatabaseError for a cause other than an event, so that the batch is retried
 */
async function writesOfPage(
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
const runWrites = (db: Statements, writes: readonly Statement[]): Promise<void> =>
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
async function applyOneByOne(
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
