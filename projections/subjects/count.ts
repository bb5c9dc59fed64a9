import type { Pool } from 'pg'

/** How many there are; `at_least` when the count stopped at its bound. */
type CountedUpTo = { count: number; counted: 'exactly' | 'at_least' }

export type PersonCounts = Record<'licenses' | 'customers' | 'sales', CountedUpTo>

/** Up to this number, the records of a person are counted. */
const mostCounted = 10_000

/** Counts what refers to people, each kind up to a bound. */
export async function countPersonRecords(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
): Promise<PersonCounts> {
  const of = (table: string) =>
    `(select count(*) from (select from ${table} where tenant_id = $1 and subject_id = any($2) limit $3) found)`
  const { rows } = await db.query<Record<keyof PersonCounts, bigint>>({
    name: 'count-person-records',
    text: `select ${of('licenses')} as licenses, ${of('customers')} as customers, ${of('sales')} as sales`,
    values: [tenantId, subjectIds, mostCounted],
  })
  const [row] = rows
  return {
    licenses: upTo(Number(row?.licenses ?? 0n)),
    customers: upTo(Number(row?.customers ?? 0n)),
    sales: upTo(Number(row?.sales ?? 0n)),
  }
}

const upTo = (count: number): CountedUpTo => ({
  count,
  counted: count < mostCounted ? 'exactly' : 'at_least',
})
