import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { LogReader } from './log.ts'
import { beforeAll } from './schema.ts'

/** How old what the read models say is. */
export type Freshness = {
  /** The last event that they hold; -1 before the first one. */
  position: bigint
  /** Since they took it in. */
  ageMs: number
  /** Events that they have not taken in, counted up to a bound; undefined when the event store did not say in time. */
  waiting: number | undefined
}

/** A page is not kept waiting for what only tells how fresh it is. */
const timeLimitMs = 300
const mostCounted = 100

export async function readFreshness(db: Pool, log: LogReader): Promise<Freshness> {
  const { rows } = await db.query<{ position: bigint; age_ms: number }>({
    name: 'read-freshness',
    text: `select position, (extract(epoch from clock_timestamp() - moved_at) * 1000)::double precision as age_ms
           from checkpoint`,
  })
  const { position, age_ms: ageMs } = rows[0] ?? { position: beforeAll, age_ms: 0 }
  const counted = countAfter(log, position).catch(() => undefined)
  const limit = new AbortController()
  const timedOut = setTimeout(timeLimitMs, undefined, { signal: limit.signal }).catch(() => undefined)
  const waiting = await Promise.race([counted, timedOut])
  limit.abort()
  return { position, ageMs, waiting }
}

async function countAfter(log: LogReader, position: bigint): Promise<number> {
  const head = (await log.head()) ?? beforeAll
  if (head <= position) return 0
  const { entries } = await log.readPage(position === beforeAll ? undefined : position, mostCounted)
  return entries.length
}
