import type { ClientBase, Pool } from 'pg'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { rebuildLock, verifyLock } from '../database/advisory-locks.ts'
import { liveSchema } from '../database/pool.ts'
import { compareTables, type Difference } from './compare.ts'
import type { LogReader } from './log.ts'
import { withOwnConnection } from './own-connection.ts'
import { type Progress, replay, withScratchSchema } from './replay.ts'

const scratchSchema = `${liveSchema}_verify`

export type Verification = { events: number; rows: number; differences: Difference[] }

/**
 * Replays the log into a scratch schema up to exactly where the live tables stand, and compares the two row by
 * row. The live tables are compared as they were at one moment, and move on meanwhile.
 * @param until replays no further than the last event before the first one after this moment: what differs then is what
 *   has changed since
 */
export async function verify(
  db: Pool,
  log: LogReader,
  onProgress: (progress: Progress) => void,
  until?: string,
): Promise<Verification> {
  const scratch = { schema: scratchSchema, lock: verifyLock, kept: false }
  return withScratchSchema(db, scratch, async (client) => {
    let events = 0
    const counted = (progress: Progress) => {
      events = Math.max(events, progress.events)
      onProgress(progress)
    }
    const options = { onParked: () => undefined, onProgress: counted }
    const read = until === undefined ? log : endingAt(log, until)
    try {
      // Never past the live tables, which may be behind the log.
      await replay(client, read, { ...options, upTo: await liveCheckpoint(client) })
      return await withLiveTables(db, async (live) => {
        await live.query('begin isolation level repeatable read')
        // As the first query of its transaction it decides what the connection sees from here on.
        const upTo = await liveCheckpoint(live)
        await replay(client, read, { ...options, upTo })
        const compared = await compareTables(
          { db: live, schema: liveSchema },
          { db: client, schema: scratchSchema },
        )
        return { events, ...compared }
      })
    } finally {
      await client.query(`drop schema if exists ${scratchSchema} cascade`)
    }
  })
}

/** While it works no rebuild swaps the live tables: their names would mean other tables. */
function withLiveTables<T>(db: Pool, work: (live: ClientBase) => Promise<T>): Promise<T> {
  return withOwnConnection(db, async (live) => {
    await live.query('select pg_advisory_lock_shared($1)', [rebuildLock])
    return work(live)
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

async function liveCheckpoint(client: ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ position: bigint }>(`select position from ${liveSchema}.checkpoint`)
  return rows[0]?.position ?? -1n
}
