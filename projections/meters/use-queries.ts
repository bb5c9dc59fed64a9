import type { Pool } from 'pg'
import type { Amount } from '../../src/domain/meters/amount.ts'
import type { RecentUse } from '../../src/domain/meters/forecast.ts'

/** Whose use: of one license, or of the licenses of a product or a customer that are no tests. */
export type MeterScope = { tenantId: string } & (
  | { licenseId: string }
  | { productId: string }
  | { customerId: string }
)

/** The meters of a scope, of the tenant `$1`, which may have used nothing yet. */
const metersIn = (scope: MeterScope): { name: string; value: string; sql: string } => {
  const joined = 'from meters m join licenses l on l.license_id = m.license_id where m.tenant_id = $1'
  if ('licenseId' in scope)
    return {
      name: 'license',
      value: scope.licenseId,
      sql: 'from meters m where m.tenant_id = $1 and m.license_id = $2',
    }
  return 'productId' in scope
    ? { name: 'product', value: scope.productId, sql: `${joined} and m.product_id = $2 and not l.test` }
    : {
        name: 'customer',
        value: scope.customerId,
        sql: `${joined} and l.tenant_id = $1 and l.customer_id = $2 and not l.test`,
      }
}

/** Whole hours or days in UTC; `from` is inclusive, `to` is exclusive. */
type Range = { from: string; to: string; granularity: 'hour' | 'day' }

const tables = { hour: 'meter_hours', day: 'meter_days' } as const

/** What was used under a meter of a product in an hour or a day. */
export type MeterPoint = {
  productId: string
  meter: string
  unit: string
  at: string
  used: Amount
  overage: Amount
}

type Row = Omit<MeterPoint, 'used' | 'overage'> & { used: string; overage: string }

/** What was used in each hour or day of a range in which anything was counted, by product and meter, the oldest first. */
export async function readMeterPoints(
  db: Pool,
  scope: MeterScope,
  { from, to, granularity }: Range,
): Promise<MeterPoint[]> {
  const { name, value, sql } = metersIn(scope)
  const { rows } = await db.query<Row>({
    name: `read-meter-points-${name}-${granularity}`,
    text: `with own as (select m.stream, m.product_id, m.meter, m.unit ${sql})
           select product_id as "productId", meter, max(unit) as unit, at, sum(used) as used, sum(overage) as overage
           from own join ${tables[granularity]} u on u.stream = own.stream and u.at >= $3 and u.at < $4
           group by product_id, meter, at
           order by product_id, meter, at`,
    values: [scope.tenantId, value, from, to],
  })
  return rows.map((row) => ({ ...row, used: BigInt(row.used), overage: BigInt(row.overage) }))
}

/** What one license has used under a meter over a range. */
export type MeterUseOfLicense = {
  productId: string
  meter: string
  licenseId: string
  used: Amount
  overage: Amount
}

/** The licenses of a scope that used most under each meter, the first one first, at most so many for each. */
export async function readHeaviestLicenses(
  db: Pool,
  scope: MeterScope,
  { from, to, granularity }: Range,
  most: number,
): Promise<MeterUseOfLicense[]> {
  const { name, value, sql } = metersIn(scope)
  const { rows } = await db.query<
    Omit<MeterUseOfLicense, 'used' | 'overage'> & { used: string; overage: string }
  >({
    name: `read-heaviest-licenses-${name}-${granularity}`,
    text: `with own as (select m.stream, m.product_id, m.meter, m.license_id ${sql}),
           sums as (
             select product_id, meter, license_id, sum(used) as used, sum(overage) as overage
             from own join ${tables[granularity]} u on u.stream = own.stream and u.at >= $3 and u.at < $4
             group by product_id, meter, license_id
           )
           select product_id as "productId", meter, license_id as "licenseId", used, overage from (
             select *, row_number() over (partition by product_id, meter order by used desc, license_id) as place from sums
           ) placed where place <= $5 and used > 0
           order by product_id, meter, place`,
    values: [scope.tenantId, value, from, to, most],
  })
  return rows.map((row) => ({ ...row, used: BigInt(row.used), overage: BigInt(row.overage) }))
}

/**
 * What a license has used under each of its meters since the hour of a moment; or since the hour of its first use, if that is later.
 */
export async function readRecentUse(
  db: Pool,
  { tenantId, licenseId }: { tenantId: string; licenseId: string },
  since: string,
): Promise<ReadonlyMap<string, RecentUse>> {
  const { rows } = await db.query<{ meter: string; since: string; used: string }>({
    name: 'read-recent-use',
    text: `select m.meter, greatest(f.at, date_trunc('hour', $3::timestamptz, 'UTC')) as since, coalesce(r.used, 0) as used
           from meters m
           join lateral (select at from meter_hours where stream = m.stream order by at limit 1) f on true
           left join lateral (
             select sum(used) as used from meter_hours
             where stream = m.stream and at >= date_trunc('hour', $3::timestamptz, 'UTC')
           ) r on true
           where m.tenant_id = $1 and m.license_id = $2`,
    values: [tenantId, licenseId, since],
  })
  return new Map(rows.map(({ meter, ...recent }) => [meter, { ...recent, used: BigInt(recent.used) }]))
}
