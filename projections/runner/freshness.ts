import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { LogReader } from './log.ts'
import { startOfLog } from './schema.ts'

/** How current the read models are. */
export type Freshness = {
  /** The position of the last applied event; -1 before the first one. */
  position: bigint
  /** The time since they applied it, in milliseconds. */
  ageMs: number
  /** Events that are not applied yet, counted up to 100; undefined when the event store did not answer in time. */
  waiting: number | undefined
}

/** A page must not wait long for its own freshness note. */
const timeLimitMs = 300
/** How many waiting events are counted; more are not told apart. */
export const maxCounted = 100

/** Reads the checkpoint and its age from Postgres, and counts waiting events in the event store for at most 300 ms. */
export async function readFreshness(db: Pool, log: LogReader): Promise<Freshness> {
  const { rows } = await db.query<{ position: bigint; age_ms: number }>({
    name: 'read-freshness',
    text: `select position, (extract(epoch from clock_timestamp() - moved_at) * 1000)::double precision as age_ms
           from checkpoint`,
  })
  const { position, age_ms: ageMs } = rows[0] ?? { position: startOfLog, age_ms: 0 }
  const counted = countAfter(log, position).catch(() => undefined)
  const limit = new AbortController()
  const timedOut = setTimeout(timeLimitMs, undefined, { signal: limit.signal }).catch(() => undefined)
  const waiting = await Promise.race([counted, timedOut])
  limit.abort()
  return { position, ageMs, waiting }
}

async function countAfter(log: LogReader, position: bigint): Promise<number> {
  const head = (await log.head()) ?? startOfLog
  if (head <= position) return 0
  const { entries } = await log.readPage(position === startOfLog ? undefined : position, maxCounted)
  return entries.length
}
