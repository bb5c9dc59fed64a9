import type { ClientBase } from 'pg'
import { inMessages } from '../database/message.ts'
import { runAll, type Statement, type Statements } from '../statements.ts'
import { applyOneByOne, foldTogether, type OnParked, PoisonedPage, writeTogether } from './apply.ts'
import type { LogPage } from './log.ts'
import { beforeAll, fingerprint } from './schema.ts'

/** The positions from which and to which the tables were moved, and by how many events. */
export type Step = { from: bigint; to: bigint; events: number }

/**
 * Folds one page into the connection's tables, in a transaction of its own: quickly, or, when some event does not
 * fit, once more with care. Tables of another version are left to its own processes, which fold what this one could
 * misread.
 * @param lock a statement that keeps others away for as long as the transaction lasts
 * @param expected where the tables are believed to stand. What the page behind it is folded onto is then asked for
 * along with the lock, and thrown away where the tables stand elsewhere: folding has written nothing yet.
 */
export async function takeStep(
  client: ClientBase,
  lock: Statement,
  read: (checkpoint: bigint) => Promise<LogPage>,
  onParked: OnParked,
  expected?: bigint,
): Promise<Step> {
  const statements = inMessages(client)
  const pageFrom = rememberingTheLast(read)
  const step = async (
    { checkpoint, isOurs, parked }: Begun,
    apply: (entries: LogPage['entries'], parked: ReadonlySet<string>, last: Statement[]) => Promise<void>,
  ): Promise<Step> => {
    if (!isOurs) {
      await client.query('rollback')
      return { from: checkpoint, to: checkpoint, events: 0 }
    }
    const { entries, through } = await pageFrom(checkpoint)
    const to = through ?? checkpoint
    await apply(entries, parked, [moveCheckpoint(to), commit])
    return { from: checkpoint, to, events: entries.length }
  }
  try {
    const begun = await beginExpecting(expected, client, statements, lock, pageFrom)
    return await step(begun, async (entries, parked, last) => {
      const isAsExpected = begun.checkpoint === expected && !entries.some(({ stream }) => parked.has(stream))
      const writes = (isAsExpected && begun.writes) || (await foldTogether(statements, entries, parked))
      await writeTogether(statements, [...writes, ...last])
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

/** Begins, and folds along with that what lies behind the expected checkpoint. */
async function beginExpecting(
  expected: bigint | undefined,
  client: ClientBase,
  statements: Statements,
  lock: Statement,
  pageFrom: (checkpoint: bigint) => Promise<LogPage>,
): Promise<Begun> {
  if (expected === undefined) return begin(statements, lock)
  const { entries } = await pageFrom(expected)
  const begun = begin(statements, lock)
  // What makes folding fail, or asking for what it needs, comes up again without an expectation and is judged there.
  const writes = foldTogether(statements, entries, new Set()).catch(() => undefined)
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

/** Reads a page once, however often it is asked for in a row. */
function rememberingTheLast(
  read: (checkpoint: bigint) => Promise<LogPage>,
): (checkpoint: bigint) => Promise<LogPage> {
  let last: { checkpoint: bigint; page: LogPage } | undefined
  return async (checkpoint) => {
    if (last?.checkpoint !== checkpoint) last = { checkpoint, page: await read(checkpoint) }
    return last.page
  }
}

const moveCheckpoint = (position: bigint): Statement => ({
  name: 'move-checkpoint',
  text: 'update checkpoint set position = $1, moved_at = clock_timestamp() where position < $1',
  values: [position],
})

const commit: Statement = { name: 'commit-fold', text: 'commit' }
