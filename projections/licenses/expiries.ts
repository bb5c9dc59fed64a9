import type { Pool } from 'pg'
import { isUnrecorded } from './filter.ts'

/** An index of the unrecorded expiries only: most of a million licenses may have none. */
export const expiriesIndexes = { licenses_open_ends: `(ends_at) where ${isUnrecorded}` }

/** Excludes parked streams: their rows are outdated until they are repaired. */
const isReadable = `'license-' || license_id <> all (array(select stream from parked))`

/** Ends up to `until` without a recorded event, however long past; the earliest first. */
export async function listUnrecordedExpiries(
  db: Pool,
  { until, except, most }: { until: string; except: readonly string[]; most: number },
): Promise<{ licenseId: string; endsAt: string }[]> {
  const { rows } = await db.query<{ licenseId: string; endsAt: string }>({
    name: 'list-open-ends',
    text: `select license_id as "licenseId", ends_at as "endsAt" from licenses
           where ${isUnrecorded} and ends_at <= $1 and license_id <> all($2) and ${isReadable}
           order by ends_at limit $3`,
    values: [until, except, most],
  })
  return rows
}

/** The time in milliseconds since the oldest end that is due and not recorded; 0 when there is none. */
export async function expiryLagMs(db: Pool, now: string): Promise<number> {
  const [oldest] = await listUnrecordedExpiries(db, { until: now, except: [], most: 1 })
  return oldest ? Date.parse(now) - Date.parse(oldest.endsAt) : 0
}
