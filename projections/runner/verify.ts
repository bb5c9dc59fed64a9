import type { ClientBase, Pool } from 'pg'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { rebuildLock, verifyLock } from '../database/advisory-locks.ts'
import { withOwnConnection } from '../database/connection.ts'
import { liveSchema } from '../database/pool.ts'
import { compareTables, type Difference } from './compare.ts'
import type { LogReader } from './log.ts'
import { type Progress, replay, withScratchSchema } from './replay.ts'

const scratchSchema = `${liveSchema}_verify`

export type Verification = { events: number; rows: number; differences: Difference[] }

/**
 * Replays the log into a scratch schema up to the live tables' checkpoint, and compares all rows. It reads the live
 * tables in one snapshot, so they can advance meanwhile.
 * @param until stops the replay before the first event that is later than this time; the differences then are the
 *   changes since
 * @throws ScratchInUse when another verify is running
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
      // Not past the live tables, which may be behind the log.
      await replay(client, read, { ...options, upTo: await liveCheckpoint(client) })
      return await withLiveTables(db, async (live) => {
        await live.query('begin isolation level repeatable read')
        // The first query of the transaction determines its snapshot.
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

/** Holds off rebuilds meanwhile: after a swap the schema's name would mean other tables. */
function withLiveTables<T>(db: Pool, work: (live: ClientBase) => Promise<T>): Promise<T> {
  return withOwnConnection(db, async (live) => {
    await live.query('select pg_advisory_lock_shared($1)', [rebuildLock])
    return work(live)
  })
}

/** The log up to a time: it ends before the first event that is later, whatever the times of the events after that. */
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
