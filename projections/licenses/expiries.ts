import type { Pool } from 'pg'
import { isUnrecorded } from './filter.ts'

/** Whether notices of its end make sense. */
const mayExpire = 'expires_at is not null and revoked_at is null and suspended_at is null'

/** An index of the unrecorded expiries only: most of a million licenses may have none. */
export const expiriesIndexes = {
  licenses_open_ends: `(ends_at) where ${isUnrecorded}`,
  // With all that a notice depends on: those that need none are passed over without reading their rows.
  licenses_by_expiry: `(tenant_id, product_id, expires_at, noticed_end, noticed_days, end_set_at) where ${mayExpire}`,
}

/** Excludes parked streams: their rows are outdated until they are repaired. */
const isReadable = `'license-' || license_id <> all (array(select stream from parked))`

/** `isNews`: it was still ahead when it was set, unlike that of a license that was imported after its end. */
export type UnrecordedEnd = { licenseId: string; endsAt: string; isNews: boolean }

/** Ends up to `until` without a recorded event, however long past; the earliest first. */
export async function listUnrecordedExpiries(
  db: Pool,
  { until, except, most }: { until: string; except: readonly string[]; most: number },
): Promise<UnrecordedEnd[]> {
  const { rows } = await db.query<UnrecordedEnd>({
    name: 'list-open-ends',
    text: `select license_id as "licenseId", ends_at as "endsAt",
             coalesce(end_set_at < ends_at, false) as "isNews" from licenses
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

/** An expiry of which a notice is due. */
export type DueNotice = { tenantId: string; licenseId: string }

/**
 * Licenses whose expiry is so near that a notice is due and not recorded: by the days of their product, or by those given where an
 * endpoint of the tenant wants to know. A notice that was due before the expiry was set is none. The nearest expiry first.
 */
export async function listDueNotices(
  db: Pool,
  {
    now,
    usualDays,
    except,
    most,
  }: { now: string; usualDays: readonly number[]; except: readonly string[]; most: number },
): Promise<DueNotice[]> {
  const { rows } = await db.query<DueNotice>({
    name: 'list-due-notices',
    text: `with wanted as (
             select tenant_id, product_id, unnest(expiring_days) as days from products where expiring_days is not null
             union all
             select p.tenant_id, p.product_id, unnest($2::int[]) from webhooks w join products p using (tenant_id)
             where w.expiring and p.expiring_days is null
           )
           select tenant_id as "tenantId", license_id as "licenseId" from wanted join licenses using (tenant_id, product_id)
           where ${mayExpire} and expires_at > $1 and expires_at <= $1::timestamptz + days * interval '24 hours'
             and (noticed_end is distinct from expires_at or noticed_days > days)
             and end_set_at <= expires_at - days * interval '24 hours'
             and license_id <> all($3) and ${isReadable}
           group by tenant_id, license_id, expires_at order by expires_at limit $4`,
    values: [now, usualDays, except, most],
  })
  return rows
}
