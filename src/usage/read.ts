import type { Pool } from 'pg'
import { pointsIn, type UsageRange } from './range.ts'

type Counts = { activations: number; deactivations: number; validations: number; rejected: number }
export type UsageSeries = { totals: Counts; series: ({ at: string } & Counts)[] }

/**
 * Reads usage in a range, by hour or day, including those without any. Counts of other processes from the last
 * second may be missing.
 * @param productId undefined for all products of the tenant
 */
export async function readUsage(
  db: Pool,
  tenantId: string,
  productId: string | undefined,
  range: UsageRange,
): Promise<UsageSeries> {
  const { rows } = await db.query<{ at: string } & Record<keyof Counts, bigint>>({
    name: 'read-usage',
    text: countedIn,
    values: [tenantId, productId ?? null, range.from, range.to, range.granularity],
  })
  const counted = new Map(rows.map((row) => [row.at, countsOf(row)]))
  const totals = { ...none }
  for (const counts of counted.values()) {
    for (const what of kinds) totals[what] += counts[what]
  }
  return { totals, series: pointsIn(range).map((at) => ({ at, ...(counted.get(at) ?? none) })) }
}

const none: Counts = { activations: 0, deactivations: 0, validations: 0, rejected: 0 }
const kinds = ['activations', 'deactivations', 'validations', 'rejected'] as const

function countsOf(row: Record<keyof Counts, bigint>): Counts {
  return {
    activations: Number(row.activations),
    deactivations: Number(row.deactivations),
    validations: Number(row.validations),
    rejected: Number(row.rejected),
  }
}

/** Only existing products have counts, so joining the products reads only the requested hours. */
const countedIn = `
  select date_trunc($5, u.hour, 'UTC') as at,
    sum(u.activations)::bigint as activations, sum(u.deactivations)::bigint as deactivations,
    sum(u.validations)::bigint as validations, sum(u.rejected)::bigint as rejected
  from products p
  join usage.hourly u on u.tenant_id = p.tenant_id and u.product_id = p.product_id
    and u.hour >= $3 and u.hour < $4
  where p.tenant_id = $1 and ($2::text is null or p.product_id = $2)
  group by 1`

/**
 * Whether a license was ever validated.
 * @param except a product whose licenses do not count
 */
export async function hasValidated(db: Pool, tenantId: string, except: string | undefined): Promise<boolean> {
  const { rows } = await db.query<{ validated: boolean }>({
    name: 'has-validated',
    text: `select exists (
             select from usage.hourly
             where tenant_id = $1 and product_id is distinct from $2 and validations > 0
           ) as validated`,
    values: [tenantId, except ?? null],
  })
  return rows[0]?.validated ?? false
}

/** Sums the usage of a product since the hour of a time. */
export async function readTotals(
  db: Pool,
  tenantId: string,
  productId: string,
  since: string,
): Promise<Counts> {
  const { rows } = await db.query<Record<keyof Counts, bigint>>({
    name: 'read-usage-totals',
    text: `select coalesce(sum(activations), 0)::bigint as activations,
             coalesce(sum(deactivations), 0)::bigint as deactivations,
             coalesce(sum(validations), 0)::bigint as validations, coalesce(sum(rejected), 0)::bigint as rejected
           from usage.hourly
           where tenant_id = $1 and product_id = $2 and hour >= date_trunc('hour', $3::timestamptz, 'UTC')`,
    values: [tenantId, productId, since],
  })
  return rows[0] ? countsOf(rows[0]) : none
}
