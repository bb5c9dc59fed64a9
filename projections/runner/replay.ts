import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../database/connection.ts'
import { beginKeyedPlans, endKeyedPlans } from '../database/pool.ts'
import type { Statement } from '../statements.ts'
import { applyPage, type OnParked } from './apply.ts'
import type { LogPage, LogReader } from './log.ts'
import { readCheckpoint } from './read-models.ts'
import { createReadModelSchema, dropQueryIndexes, startOfLog } from './schema.ts'

/** The progress of a replay: the number of applied events, and positions, of which only the ratio is meaningful. */
export type Progress = { events: number; position: bigint; head: bigint }

const pageSize = 2000
const pagesAhead = 3

/** Another process is filling the same scratch schema. */
export class ScratchInUse extends Error {
  constructor() {
    super('another process is running the same replay; wait for it, or stop it')
    this.name = 'ScratchInUse'
  }
}

/** A schema that is filled beside the live one, and the advisory lock that is held meanwhile. */
export type Scratch = {
  schema: string
  lock: number
  /** Whether its tables must survive a crash of Postgres. */
  kept: boolean
}

/**
 * Runs work on a dedicated connection whose search path is a new, empty schema. The tables have only the indexes that
 * applying needs: without the others a replay writes several times as fast.
 * @param work its second argument creates the other indexes
 * @throws ScratchInUse when another process holds the lock
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
    // What a crash loses, the next replay applies again.
    await client.query(`commit; set search_path = ${schema}; set synchronous_commit = off`)
    return work(client, async () => {
      for (const definition of indexes) await client.query(definition)
    })
  })
}

/**
 * Applies the log to the connection's tables, from their checkpoint up to the head or to a position (inclusive). It
 * reads up to `pagesAhead` pages while it applies one, so that memory use is bounded.
 */
export async function replay(
  client: ClientBase,
  log: LogReader,
  options: { upTo?: bigint; onParked: OnParked; onProgress: (progress: Progress) => void },
): Promise<void> {
  const head = options.upTo ?? (await log.head()) ?? startOfLog
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
    const page = await log.readPage(after === startOfLog ? undefined : after, pageSize)
    if (page.through === undefined || page.through <= head) return page
    return { entries: page.entries.filter((entry) => entry.position <= head), through: head }
  }
  const prefetched: Promise<LogPage>[] = []
  const prefetch = (page: Promise<LogPage>) => {
    // Prevents an unhandled rejection; the loop awaits the page later and gets the error.
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

/** A scratch schema needs no lock against other writers. */
const noLock: Statement = { name: 'no-lock', text: 'select' }
