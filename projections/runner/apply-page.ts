import type { ClientBase } from 'pg'
import { batchStatements } from '../database/statement-batch.ts'
import { runAll, type Statement, type Statements } from '../statements.ts'
import { applyOneByOne, type OnParked, PoisonedPage, runWrites, writesOfPage } from './apply.ts'
import type { LogPage } from './log.ts'
import { beforeAll, fingerprint } from './schema.ts'

/** The positions from which and to which the tables were moved, and by how many events. */
export type AppliedBatch = { from: bigint; to: bigint; events: number }

/** A page of the log, and the position that it was read from. */
export type PageFrom = LogPage & { from: bigint }

/**
 * Folds one page into the connection's tables, in a transaction of its own: quickly, or, when some event does not
 * fit, once more with care. Of a page that others have folded in part the rest is folded; of one that does not begin where
 * the tables stand, nothing. Tables of another version are left to its own processes, which fold what this one could
 * misread.
 * @param lock a statement that keeps others away for as long as the transaction lasts
 * @param speculative whether the tables are believed to stand where the page begins. What it is folded onto is then asked
 * for along with the lock, and thrown away where the tables stand elsewhere: folding has written nothing yet.
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
    { checkpoint, isOurs, parked }: Begun,
    apply: (entries: LogPage['entries'], parked: ReadonlySet<string>, last: Statement[]) => Promise<void>,
  ): Promise<AppliedBatch> => {
    const { through } = page
    if (!isOurs || through === undefined || checkpoint < page.from || checkpoint >= through) {
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

/** How the tables were found; `writes` is what a page comes to that was folded on trust, if it could be. */
type Begun = { checkpoint: bigint; isOurs: boolean; parked: Set<string>; writes?: Statement[] | undefined }

/** Begins, and folds along with that what the page holds. */
async function beginAndPrepare(
  client: ClientBase,
  statements: Statements,
  lock: Statement,
  { entries }: PageFrom,
): Promise<Begun> {
  const begun = begin(statements, lock)
  // What makes folding fail, or asking for what it needs, comes up again without trust and is judged there.
  const writes = writesOfPage(statements, entries, new Set()).catch(() => undefined)
  try {
    return { ...(await begun), writes: await writes }
  } catch {
    await client.query('rollback')
    return begin(statements, lock)
  }
}

/** Begins, locks and reads where the tables stand: each statement sees what was before it. */
async function begin(db: Statements, lock: Statement): Promise<Begun> {
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

/** @param last the last of the ledger's own events on the way there, if there was one */
const moveCheckpoint = (position: bigint, last: LogPage['entries'][number] | undefined): Statement => ({
  name: 'move-checkpoint',
  text: `update checkpoint set position = $1, moved_at = clock_timestamp(),
           event_position = coalesce($2, event_position), event_id = coalesce($3, event_id)
         where position < $1`,
  values: [position, last?.position ?? null, last?.id ?? null],
})

const commit: Statement = { name: 'commit-fold', text: 'commit' }
