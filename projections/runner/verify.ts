import type { Pool, PoolClient } from 'pg'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { projectionLock, verifyLock } from '../database/advisory-locks.ts'
import { liveSchema } from '../database/pool.ts'
import { readModelTables } from '../projectors.ts'
import type { LogReader } from './log.ts'
import { type Progress, replay, withScratchSchema } from './replay.ts'

const scratchSchema = `${liveSchema}_verify`

/** A row that the live table and the replayed one do not both hold, as JSON. */
type Difference = { table: string; side: 'only in live' | 'only in replay'; row: unknown }

export type Verification = { events: number; rows: number; differences: Difference[] }

/** More than a person reads; the first ones tell what is wrong. */
const mostShown = 100

/**
 * Replays the log into a scratch schema up to exactly where the live tables stand, and compares the two row by
 * row. The live tables are held still only for the comparison, and answer reads even then.
 * @param until replays no further than the last event before the first one after this moment: what differs then is what
 *   has changed since
 */
export async function verify(
  db: Pool,
  log: LogReader,
  onProgress: (progress: Progress) => void,
  until?: string,
): Promise<Verification> {
  return withScratchSchema(db, scratchSchema, verifyLock, async (client) => {
    let events = 0
    const counted = (progress: Progress) => {
      events = Math.max(events, progress.events)
      onProgress(progress)
    }
    const options = { onParked: () => undefined, onProgress: counted }
    const read = until === undefined ? log : endingAt(log, until)
    try {
      await client.query('set synchronous_commit = off')
      // Never past the live tables, which may be behind the log.
      await replay(client, read, { ...options, upTo: await liveCheckpoint(client) })
      await client.query('select pg_advisory_lock($1)', [projectionLock])
      await replay(client, read, { ...options, upTo: await liveCheckpoint(client) })
      return { events, ...(await compare(client)) }
    } finally {
      await client.query(`drop schema if exists ${scratchSchema} cascade`)
      await client.query('select pg_advisory_unlock($1)', [projectionLock])
    }
  })
}

/** The log as it was at a moment. Its order counts: what stands behind the first later event came later, too. */
function endingAt(log: LogReader, moment: string): LogReader {
  const isLater = (entry: LogEntry) => entry.readable && entry.metadata.at > moment
  return {
    head: () => log.head(),
    async readPage(after, limit) {
      const page = await log.readPage(after, limit)
      const end = page.entries.findIndex(isLater)
      if (end === -1) return page
      const entries = page.entries.slice(0, end)
      return { entries, through: entries.at(-1)?.position }
    },
  }
}

async function liveCheckpoint(client: PoolClient): Promise<bigint> {
  const { rows } = await client.query<{ position: bigint }>(`select position from ${liveSchema}.checkpoint`)
  return rows[0]?.position ?? -1n
}

async function compare(client: PoolClient): Promise<{ rows: number; differences: Difference[] }> {
  const differences: Difference[] = []
  let rows = 0
  for (const table of readModelTables) {
    rows += await countRows(client, table)
    differences.push(...(await rowsMissing(client, table, liveSchema, scratchSchema, 'only in live')))
    differences.push(...(await rowsMissing(client, table, scratchSchema, liveSchema, 'only in replay')))
  }
  return { rows, differences }
}

async function countRows(client: PoolClient, table: string): Promise<number> {
  const { rows } = await client.query<{ count: bigint }>(`select count(*) from ${liveSchema}.${table}`)
  return Number(rows[0]?.count ?? 0n)
}

/** Compared as text: `json` columns have no equality of their own, and byte for byte is what is promised. */
async function rowsMissing(
  client: PoolClient,
  table: string,
  here: string,
  there: string,
  side: Difference['side'],
): Promise<Difference[]> {
  const { rows } = await client.query<{ row: string }>(
    `select row from (select to_json(t)::text as row from ${here}.${table} t
     except all select to_json(t)::text from ${there}.${table} t) as missing limit ${mostShown}`,
  )
  return rows.map(({ row }): Difference => ({ table, side, row: JSON.parse(row) }))
}
