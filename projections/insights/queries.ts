import type { Pool } from 'pg'
import type { Days } from './days.ts'

/** Payments of one day, provider, product and currency. Amounts are in the currency's minor units. */
export type SaleDay = {
  day: string
  provider: string
  /** null for sales that are mapped to no product yet. */
  productId: string | null
  currency: string
  sales: number
  payments: number
  paid: number
  /** What went back of these payments since, by refunds and lost disputes. */
  returned: number
}

/** Reads the payments of some days, the first day first. Days without any have no row. */
export async function readSaleDays(db: Pool, tenantId: string, { from, to }: Days): Promise<SaleDay[]> {
  const { rows } = await db.query<Omit<SaleDay, 'paid' | 'returned'> & { paid: bigint; returned: bigint }>({
    name: 'read-sale-days',
    text: `select to_char(day, 'YYYY-MM-DD') as day, provider, nullif(product_id, '') as "productId", currency, sales,
             payments, paid, returned
           from sale_days where tenant_id = $1 and day between $2 and $3 and payments > 0
           order by day, provider, product_id, currency`,
    values: [tenantId, from, to],
  })
  return rows.map((row) => ({ ...row, paid: Number(row.paid), returned: Number(row.returned) }))
}

export type LicenseDay = { day: string; issued: number; renewed: number }

/** Reads how many licenses were issued and renewed on some days. Days without any have no row. */
export async function readLicenseDays(db: Pool, tenantId: string, days: Days): Promise<LicenseDay[]> {
  const { rows } = await db.query<LicenseDay>({
    name: 'read-license-days',
    text: `select to_char(day, 'YYYY-MM-DD') as day, sum(issued)::int as issued, sum(renewed)::int as renewed
           from license_days where tenant_id = $1 and day between $2 and $3 group by 1 order by 1`,
    values: [tenantId, days.from, days.to],
  })
  return rows
}

/**
 * Whether a license was ever issued that is not a test.
 * @param except a product whose licenses do not count
 */
export async function hasIssued(db: Pool, tenantId: string, except: string | undefined): Promise<boolean> {
  const { rows } = await db.query<{ issued: boolean }>({
    name: 'has-issued',
    text: `select exists (
             select from license_days where tenant_id = $1 and product_id is distinct from $2 and issued > 0
           ) as issued`,
    values: [tenantId, except ?? null],
  })
  return rows[0]?.issued ?? false
}

export type ProductLicenses = { productId: string; active: number; expiring: number }

/**
 * Counts the licenses of each product that expire today or later, and those of them that do so within 30 days.
 * @param today in UTC
 */
export async function countLicenses(db: Pool, tenantId: string, today: string): Promise<ProductLicenses[]> {
  const { rows } = await db.query<ProductLicenses>({
    name: 'count-license-ends',
    text: `select product_id as "productId", sum(licenses)::int as active,
             coalesce(sum(licenses) filter (where expires_on <= $2::date + 30), 0)::int as expiring
           from license_ends where tenant_id = $1 and expires_on >= $2::date
           group by product_id having sum(licenses) > 0 order by active desc, product_id`,
    values: [tenantId, today],
  })
  return rows
}

/** Devices whose app reported for the first time, by its version and platform; null for what it did not report. */
export type VersionCount = { appVersion: string | null; platform: string | null; devices: number }

/** The most frequent versions. */
const maxVersions = 50

export async function countVersions(db: Pool, tenantId: string, { from, to }: Days): Promise<VersionCount[]> {
  const { rows } = await db.query<VersionCount>({
    name: 'count-app-versions',
    text: `select nullif(app_version, '') as "appVersion", nullif(platform, '') as platform, sum(devices)::int as devices
           from usage.app_versions where tenant_id = $1 and day between $2 and $3
           group by 1, 2 order by devices desc, 1, 2 limit ${maxVersions}`,
    values: [tenantId, from, to],
  })
  return rows
}

export type TrialDay = { day: string; started: number; converted: number }

/** Reads how many installs started a trial, and how many on trial or past it activated a license, on some days. */
export async function readTrialDays(db: Pool, tenantId: string, { from, to }: Days): Promise<TrialDay[]> {
  const { rows } = await db.query<TrialDay>({
    name: 'read-trial-days',
    text: `select to_char(day, 'YYYY-MM-DD') as day, sum(started)::int as started, sum(converted)::int as converted
           from usage.trial_days where tenant_id = $1 and day between $2 and $3 group by 1 order by 1`,
    values: [tenantId, from, to],
  })
  return rows
}
