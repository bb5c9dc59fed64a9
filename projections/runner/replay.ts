import type { ClientBase, Pool } from 'pg'
import { beginKeyedPlans, endKeyedPlans } from '../database/pool.ts'
import type { Statement } from '../statements.ts'
import type { OnParked } from './apply.ts'
import { applyPage } from './apply-page.ts'
import { readCheckpoint } from './batch.ts'
import type { LogPage, LogReader } from './log.ts'
import { withOwnConnection } from './own-connection.ts'
import { beforeAll, createReadModelSchema, dropQueryIndexes } from './schema.ts'

/** How far a replay is: events folded so far, and positions, of which only the ratio means anything. */
export type Progress = { events: number; position: bigint; head: bigint }

const pageSize = 2000
const pagesAhead = 3

/** Somebody else is filling the same scratch schema at this moment. */
export class ScratchInUse extends Error {
  constructor() {
    super('another process is running the same replay; wait for it, or stop it')
    this.name = 'ScratchInUse'
  }
}

/** Tables that are filled beside the live ones, and the lock that is held for as long as that lasts. */
export type Scratch = {
  schema: string
  lock: number
  /** Whether they are to outlive the connection, and a crash. */
  kept: boolean
}

/**
 * Runs work on a connection whose tables are those of one schema, made anew and empty, with only the indexes that
 * folding needs: a replay writes several times as fast without the others. The connection ends afterwards, since it
 * means other tables than the pool's others.
 * @param work its second argument makes the other indexes
 * @throws ScratchInUse
 */
export async function withScratchSchema<T>(
  db: Pool,
  { schema, lock, kept }: Scratch,
  work: (client: ClientBase, makeIndexes: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return withOwnConnection(db, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      lock,
    ])
    if (!rows[0]?.locked) throw new ScratchInUse()
    await client.query(`begin; drop schema if exists ${schema} cascade`)
    await createReadModelSchema(client, schema, kept)
    const indexes = await dropQueryIndexes(client, schema)
    // What a crash takes is what the next replay folds again.
    await client.query(`commit; set search_path = ${schema}; set synchronous_commit = off`)
    return work(client, async () => {
      for (const definition of indexes) await client.query(definition)
    })
  })
}

/**
 * Folds the log into the connection's tables, from their checkpoint up to the end or to a position (inclusive).
 * Pages are read while one is applied; no more than `pagesAhead` wait, so memory stays flat.
 */
export async function replay(
  client: ClientBase,
  log: LogReader,
  options: { upTo?: bigint; onParked: OnParked; onProgress: (progress: Progress) => void },
): Promise<void> {
  const head = options.upTo ?? (await log.head()) ?? beforeAll
  await client.query(beginKeyedPlans)
  await applyUpTo(head, client, log, options)
  await client.query(endKeyedPlans)
}

async function applyUpTo(
  head: bigint,
  client: ClientBase,
  log: LogReader,
  options: { onParked: OnParked; onProgress: (progress: Progress) => void },
): Promise<void> {
  let position = await readCheckpoint(client)
  let events = 0
  const next = async (after: bigint | undefined): Promise<LogPage> => {
    if (after === undefined || after >= head) return { entries: [], through: undefined }
    const page = await log.readPage(after === beforeAll ? undefined : after, pageSize)
    if (page.through === undefined || page.through <= head) return page
    return { entries: page.entries.filter((entry) => entry.position <= head), through: head }
  }
  const prefetched: Promise<LogPage>[] = []
  const prefetch = (page: Promise<LogPage>) => {
    // Not waited for here, so a failure is not lost: the loop meets it when it comes to this page.
    page.catch(() => undefined)
    prefetched.push(page)
    return page
  }
  let last = prefetch(next(position))
  while (position < head) {
    while (prefetched.length < pagesAhead) last = prefetch(last.then(({ through }) => next(through)))
    const page = await prefetched.shift()
    if (page?.through === undefined) return
    const { to } = await applyPage(client, noLock, { from: position, ...page }, options.onParked, true)
    position = to
    events += page.entries.length
    options.onProgress({ events, position, head })
  }
}

/** Nobody else knows the tables that are being filled. */
const noLock: Statement = { name: 'no-lock', text: 'select' }
