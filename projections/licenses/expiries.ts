import type { Pool } from 'pg'

/**
 * The end of a paid period that is not recorded yet. A renewal opens a new one; a revoked license has none, since
 * what it would come to at its end does not matter any more.
 */
const isUnrecorded = 'revoked_at is null and expires_at is not null and ended_at is distinct from expires_at'

/** Of a million licenses those that will end at all, the nearest first. */
export const expiriesDdl = `create index licenses_open_ends on licenses (expires_at) where ${isUnrecorded}`

/** One whose events cannot be applied stands still until it is repaired, and its row tells nothing. */
const isReadable = `'license-' || license_id <> all (array(select stream from parked))`

/** The nearest ends up to a moment, those that are long past included; the earliest first. */
export async function listUnrecordedExpiries(
  db: Pool,
  { until, except, most }: { until: string; except: readonly string[]; most: number },
): Promise<{ licenseId: string; expiresAt: string }[]> {
  const { rows } = await db.query<{ licenseId: string; expiresAt: string }>({
    name: 'list-open-ends',
    text: `select license_id as "licenseId", expires_at as "expiresAt" from licenses
           where ${isUnrecorded} and expires_at <= $1 and license_id <> all($2) and ${isReadable}
           order by expires_at limit $3`,
    values: [until, except, most],
  })
  return rows
}

/** For how long the oldest end that should be recorded has been waiting; 0 when there is none. */
export async function expiryLagMs(db: Pool, now: string): Promise<number> {
  const [oldest] = await listUnrecordedExpiries(db, { until: now, except: [], most: 1 })
  return oldest ? Date.parse(now) - Date.parse(oldest.expiresAt) : 0
}
