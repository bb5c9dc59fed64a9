import type { Pool } from 'pg'
import type { SharedBuckets } from './limiter.ts'
import { type Gcra, latestTat, type Report, roundingMs, type Settlement } from './meter.ts'

/** Buckets in Postgres. A report takes one statement for any number of buckets. */
export function createSharedBuckets(db: Pool): SharedBuckets {
  return {
    async settle(limit, gcra, reports, now) {
      const settleKnown = async (some: readonly Report[]): Promise<Settlement[]> => {
        const { rows } = await db.query<Settlement>({
          name: 'settle-buckets',
          text: settleBuckets,
          values: [
            some.map(({ key }) => nameOf(limit, key)),
            some.map(({ expected }) => expected),
            some.map(({ mine }) => mine),
            some.map(({ since }) => since),
            some.map(({ admitted }) => admitted),
            some.map(({ waiting }) => waiting),
            gcra.intervalMs,
            gcra.toleranceMs + roundingMs,
            now,
            latestTat(gcra, now),
          ],
        })
        return rows.map(({ key, ...row }) => ({ key: key.slice(limit.length + 1), ...row }))
      }
      const settled = await settleKnown(reports)
      if (settled.length === reports.length) return settled
      const known = new Set(settled.map(({ key }) => key))
      const fresh = reports.filter(({ key }) => !known.has(key))
      await db.query({
        name: 'make-buckets',
        text: 'insert into limits.buckets (key, tat) select unnest($1::text[]), 0 on conflict do nothing',
        values: [fresh.map(({ key }) => nameOf(limit, key)).sort()],
      })
      return [...settled, ...(await settleKnown(fresh))]
    },
  }
}

/** The used buckets of a limit, the most used first, as many as a process keeps. */
export async function readBuckets(
  db: Pool,
  limit: string,
  gcra: Gcra,
  now: number,
): Promise<Pick<Settlement, 'key' | 'tat'>[]> {
  const { rows } = await db.query<Pick<Settlement, 'key' | 'tat'>>(
    `select substr(key, length($1) + 1) as key, tat from limits.buckets
     where starts_with(key, $1) and tat > $2 and tat <= $3 order by tat desc limit 100000`,
    [nameOf(limit, ''), now, latestTat(gcra, now)],
  )
  return rows
}

/** When each of these buckets is full again (milliseconds); 0 for an unused bucket. */
export async function readTats(
  db: Pool,
  buckets: readonly { name: string; key: string }[],
): Promise<number[]> {
  const names = buckets.map(({ name, key }) => nameOf(name, key))
  const { rows } = await db.query<Pick<Settlement, 'key' | 'tat'>>(
    'select key, tat from limits.buckets where key = any($1)',
    [names],
  )
  const found = new Map(rows.map(({ key, tat }) => [key, tat]))
  return names.map((name) => found.get(name) ?? 0)
}

const nameOf = (limit: string, key: string): string => `${limit}:${key}`

/**
 * The new state is the process's own if no other process has reported since, the bucket was full when the first
 * unit was taken, or the stored state is impossible. Otherwise its admissions are added to the stored state.
 * Then waiting callers get what is left, which is added as well. Rows are locked in key order, so that
 * statements do not deadlock.
 */
const settleBuckets = `
  with reported as (
    select * from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::int[], $6::int[])
      as t (key, expected, mine, since, admitted, waiting)
  ), locked as (
    select key, tat from limits.buckets where key = any($1::text[]) order by key for update
  ), counted as (
    select key, waiting,
      case when l.tat = expected or l.tat <= since or l.tat > $10::float8 then mine
        else greatest(mine, l.tat + admitted * $7::float8) end as tat
    from locked l join reported using (key)
  ), granted as (
    select key, tat, greatest(tat, $9::float8) as base,
      least(waiting, greatest(0, floor(($9 + $8::float8 - greatest(tat, $9)) / $7)))::int as granted
    from counted
  )
  update limits.buckets b
  set tat = case when g.granted > 0 then g.base + g.granted * $7 else g.tat end
  from granted g where b.key = g.key
  returning b.key, b.tat, g.granted`
