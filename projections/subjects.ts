import type { Pool } from 'pg'
import type { KnownSale } from '../src/domain/sales/sale.ts'
import { subjects } from '../src/domain/subjects/subject.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(subjects), {
  table: 'subjects',
  begun: (subject) => (subject.status === 'present' ? undefined : subject),
  columns: {
    tenantId: 'text not null',
    subjectId: 'text not null',
    status: 'text not null',
    begunAt: 'timestamptz not null',
  },
  indexes: {
    // What a reaction goes on with; next to nothing stands in it for long.
    subjects_erasing: "(begun_at) where status = 'erasing'",
  },
})

/** The people whose erasure has begun or finished. */
export const subjectsProjector = projectorOf(documents)

/** People whose erasure began up to a time and has not finished, oldest first. */
export async function listErasures(
  db: Pool,
  { from, until }: { from: string; until: string },
  { except, most }: { except: readonly string[]; most: number },
): Promise<{ tenantId: string; subjectId: string }[]> {
  const { rows } = await db.query<{ tenantId: string; subjectId: string }>(
    `select tenant_id as "tenantId", subject_id as "subjectId" from subjects
     where status = 'erasing' and (begun_at <= $1 or begun_at > $2) and subject_id <> all($3)
     order by begun_at limit $4`,
    [from, until, except, most],
  )
  return rows
}

/** Everything that refers to a person. */
export type PersonRecords = {
  licenseIds: string[]
  customerIds: string[]
  /** The customers among whose people they are. */
  organizationIds: string[]
  sales: KnownSale[]
  /** The deliveries of mails to them, sent or pending. */
  mailIds: string[]
  /** Values that are sealed under the person's key. */
  sealed: { subjectId: string; email: string | null; name: string | null }[]
}

export async function findPersonRecords(
  db: Pool,
  tenantId: string,
  subjectId: string,
): Promise<PersonRecords> {
  const values = [tenantId, subjectId]
  const licenses = await db.query<{ id: string; email: string | null; name: string | null }>(
    `select license_id as id, email, name from licenses where tenant_id = $1 and subject_id = $2 order by 1`,
    values,
  )
  const customers = await db.query<{ id: string; email: string | null; name: string | null }>(
    `select customer_id as id, state->>'email' as email, state->>'name' as name from customers
     where tenant_id = $1 and subject_id = $2 order by 1`,
    values,
  )
  const sales = await db.query<{ state: KnownSale }>(
    `select state from sales where tenant_id = $1 and (subject_id = $2 or giver_id = $2) order by id`,
    values,
  )
  const people = await db.query<{ id: string; personId: string; email: string; name: string | null }>(
    `select customer_id as id, person_id as "personId", email, name from people where tenant_id = $1 and subject_id = $2 order by 1`,
    values,
  )
  const licenseIds = licenses.rows.map(({ id }) => id)
  const mails = await db.query<{ id: string }>(
    `select delivery_id as id from deliveries
     where tenant_id = $1 and channel = 'mail' and license_id = any($2)
     union
     select d.delivery_id from deliveries d
     join license_history h on h.license_id = d.license_id and h.revision = d.license_revision
     where d.tenant_id = $1 and d.channel = 'mail' and d.event = 'license.seat_assigned'
       and d.license_id in (select license_id from license_keys where tenant_id = $1 and person_id = any($3))
       and h.data ->> 'personId' = any($3)
     order by 1`,
    [tenantId, licenseIds, people.rows.map(({ personId }) => personId)],
  )
  return {
    licenseIds,
    customerIds: customers.rows.map(({ id }) => id),
    organizationIds: people.rows.map(({ id }) => id),
    sales: sales.rows.map(({ state }) => state),
    mailIds: mails.rows.map(({ id }) => id),
    sealed: [
      ...[...licenses.rows, ...customers.rows, ...people.rows].map(({ email, name }) => ({
        subjectId,
        email,
        name,
      })),
      ...sales.rows
        .flatMap(({ state: { customer, giver } }) => [customer ?? [], giver ?? []].flat())
        .filter((person) => person.subjectId === subjectId),
    ],
  }
}

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

/** A value that is sealed under the key of a person. */
type Sealed = { subjectId: string; email: string | null; name: string | null }

/** Everything that the read models hold of people: as holders, customers, buyers, in organizations. */
export async function findSealedOf(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
): Promise<Sealed[]> {
  const { rows } = await db.query<Sealed>(
    `select subject_id as "subjectId", email, name from licenses where tenant_id = $1 and subject_id = any($2)
     union all
     select subject_id, state->>'email', state->>'name' from customers
     where tenant_id = $1 and subject_id = any($2)
     union all
     select subject_id, email, name from people where tenant_id = $1 and subject_id = any($2)
     union all
     select subject_id, state->'customer'->>'email', state->'customer'->>'name' from sales
     where tenant_id = $1 and subject_id = any($2)`,
    [tenantId, subjectIds],
  )
  return rows
}
