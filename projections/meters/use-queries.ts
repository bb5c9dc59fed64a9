import type { Pool } from 'pg'
import type { Amount } from '../../src/domain/meters/amount.ts'
import type { RecentUse } from '../../src/domain/meters/forecast.ts'
import { streamName } from '../../src/domain/streams.ts'

/** Whose use: of one license, of the licenses of a product that are no tests, or of those of a customer and what they share. */
export type MeterScope = { tenantId: string } & (
  | { licenseId: string }
  | { productId: string }
  | { customerId: string }
)

/** Whole hours or days in UTC; `from` is inclusive, `to` is exclusive. */
type Range = { from: string; to: string; granularity: 'hour' | 'day' }

/** Uses in the range `$3` to `$4`: of meters of licenses, or of those that the licenses of customers share. */
const ownColumns = 'm.product_id, m.license_id, m.meter, m.unit, u.at, u.used, u.overage'
const sharedColumns = `null as product_id, nullif(u.license_id, '') as license_id, m.meter, m.unit, u.at, u.used, u.overage`
const inRange = 'u.stream = m.stream and u.at >= $3 and u.at < $4'

/** By what a scope is about `$2`, of the tenant `$1`: its uses in a table. */
const usesOf = {
  license: (table: string) => `
    select ${ownColumns} from meters m join ${table} u on ${inRange}
    where m.tenant_id = $1 and m.license_id = $2
    union all
    select ${sharedColumns}
    from licenses l join meters m on m.tenant_id = l.tenant_id and m.customer_id = l.customer_id
    join ${table} u on ${inRange} and u.license_id = l.license_id
    where l.tenant_id = $1 and l.license_id = $2`,
  product: (table: string) => `
    select ${ownColumns}
    from meters m join licenses l on l.license_id = m.license_id join ${table} u on ${inRange}
    where m.tenant_id = $1 and m.product_id = $2 and not l.test
    union all
    select ${sharedColumns}
    from meters m join ${table} u on ${inRange} join licenses l on l.license_id = u.license_id
    where m.tenant_id = $1 and m.customer_id is not null and l.tenant_id = $1 and l.product_id = $2 and not l.test`,
  customer: (table: string) => `
    select ${ownColumns}
    from licenses l join meters m on m.license_id = l.license_id join ${table} u on ${inRange}
    where l.tenant_id = $1 and l.customer_id = $2 and not l.test
    union all
    select ${sharedColumns} from meters m join ${table} u on ${inRange}
    where m.tenant_id = $1 and m.customer_id = $2`,
}

function queryOf(scope: MeterScope, { from, to, granularity }: Range) {
  const [name, value] =
    'licenseId' in scope
      ? (['license', scope.licenseId] as const)
      : 'productId' in scope
        ? (['product', scope.productId] as const)
        : (['customer', scope.customerId] as const)
  return {
    name: `${name}-${granularity}`,
    uses: usesOf[name](granularity === 'hour' ? 'meter_hours' : 'meter_days'),
    values: [scope.tenantId, value, from, to],
  }
}

/** What was used under a meter in an hour or a day. */
export type MeterPoint = {
  /** null of a meter that the licenses of a customer share. */
  productId: string | null
  meter: string
  unit: string
  at: string
  used: Amount
  overage: Amount
}

type Sums = { used: string; overage: string }

const exact = <Row extends Sums>(row: Row) => ({
  ...row,
  used: BigInt(row.used),
  overage: BigInt(row.overage),
})

/** What was used in each hour or day of a range in which anything was counted, by product and meter, the oldest first. */
export async function readMeterPoints(db: Pool, scope: MeterScope, range: Range): Promise<MeterPoint[]> {
  const { name, uses, values } = queryOf(scope, range)
  const { rows } = await db.query<Omit<MeterPoint, keyof Sums> & Sums>({
    name: `read-meter-points-${name}`,
    text: `select product_id as "productId", meter, max(unit) as unit, at, sum(used) as used, sum(overage) as overage
           from (${uses}) uses
           group by product_id, meter, at
           order by product_id nulls first, meter, at`,
    values,
  })
  return rows.map(exact)
}

/** What one license has used under a meter over a range. */
export type MeterUseOfLicense = {
  productId: string | null
  meter: string
  licenseId: string
  used: Amount
  overage: Amount
}

/** The licenses of a scope that used most under each meter, the first one first, at most so many for each. */
export async function readHeaviestLicenses(
  db: Pool,
  scope: MeterScope,
  range: Range,
  most: number,
): Promise<MeterUseOfLicense[]> {
  const { name, uses, values } = queryOf(scope, range)
  const { rows } = await db.query<Omit<MeterUseOfLicense, keyof Sums> & Sums>({
    name: `read-heaviest-licenses-${name}`,
    text: `with sums as (
             select product_id, meter, license_id, sum(used) as used, sum(overage) as overage
             from (${uses}) uses where license_id is not null
             group by product_id, meter, license_id
           )
           select product_id as "productId", meter, license_id as "licenseId", used, overage from (
             select *, row_number() over (partition by product_id, meter order by used desc, license_id) as place
             from sums
           ) placed where place <= $5 and used > 0
           order by product_id nulls first, meter, place`,
    values: [...values, most],
  })
  return rows.map(exact)
}

/**
 * What was used under meters, each by the id of its stream, since the hour of a moment; or since the hour of its first use, if that is later.
 * @returns those that were used, by these ids
 */
export async function readRecentUse(
  db: Pool,
  ids: readonly string[],
  since: string,
): Promise<ReadonlyMap<string, RecentUse>> {
  const { rows } = await db.query<{ stream: string; since: string; used: string }>({
    name: 'read-recent-use',
    text: `select s.stream, greatest(f.at, date_trunc('hour', $2::timestamptz, 'UTC')) as since, r.used
           from unnest($1::text[]) s (stream)
           join lateral (select min(at) as at from meter_hours where stream = s.stream) f on f.at is not null
           cross join lateral (
             select coalesce(sum(used), 0) as used from meter_hours
             where stream = s.stream and at >= date_trunc('hour', $2::timestamptz, 'UTC')
           ) r`,
    values: [ids.map((id) => streamName('meter', id)), since],
  })
  const found = new Map(rows.map(({ stream, ...recent }) => [stream, recent]))
  return new Map(
    ids.flatMap((id) => {
      const recent = found.get(streamName('meter', id))
      return recent ? [[id, { since: recent.since, used: BigInt(recent.used) }]] : []
    }),
  )
}
