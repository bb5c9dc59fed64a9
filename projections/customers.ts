import type { Pool } from 'pg'
import { type Customer, customers } from '../src/domain/customers/customer.ts'
import { withoutReasons } from '../src/domain/customers/overrides.ts'
import type { SharedMeter } from '../src/domain/meters/terms.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'
import { type Keyset, orderOf, type PageOf, type PageStart, pageOf } from './page.ts'

const documents = defineDocuments(evolvedBy(customers), {
  table: 'customers',
  begun: (customer) => (customer.status === 'absent' ? undefined : customer),
  columns: {
    customerId: 'text not null unique',
    tenantId: 'text not null',
    subjectId: 'text not null',
    createdAt: 'timestamptz not null',
  },
  computed: {
    mergedInto: ['text', ({ mergedInto }) => mergedInto ?? null],
    resellerId: ['text', ({ resellerId }) => resellerId ?? null],
    // What a validate needs of a customer, beside the state so that it need not be taken apart; null for none.
    overrides: [
      'jsonb',
      (customer) => (customer.overrides.length > 0 ? withoutReasons(customer.overrides) : null),
    ],
    // What a use needs of a customer; null where the licenses share nothing.
    sharedMeters: [
      'jsonb',
      ({ meters, metersSince, createdAt }): readonly SharedMeter[] | null =>
        meters.length > 0
          ? meters.map((terms) => ({ ...terms, since: metersSince[terms.meter] ?? createdAt }))
          : null,
    ],
  },
  indexes: {
    customers_by_age: '(tenant_id, created_at desc, customer_id desc)',
    customers_erased: "(tenant_id, created_at desc, customer_id desc) where state->>'erasedAt' is not null",
    customers_of_subject: '(tenant_id, subject_id)',
    customers_of_reseller: '(reseller_id, created_at desc, customer_id desc) where reseller_id is not null',
    customers_merged: '(merged_into) where merged_into is not null',
  },
})

export const customersProjector = projectorOf(documents)

export type PresentCustomer = Extract<Customer, { status: 'present' }>

/** A customer and their linked licenses, newest first. */
export type CustomerEntry = { customer: PresentCustomer; licenseIds: string[] }

const entry = `
  select c.state as customer, array(
    select l.license_id from licenses l
    where l.customer_id = c.customer_id and l.tenant_id = c.tenant_id
    order by l.created_at desc, l.license_id desc
  ) as "licenseIds"
  from customers c`

export async function findCustomer(
  db: Pool,
  tenantId: string,
  customerId: string,
): Promise<CustomerEntry | undefined> {
  const { rows } = await db.query<CustomerEntry>({
    name: 'find-customer',
    text: `${entry} where c.tenant_id = $1 and c.customer_id = $2`,
    values: [tenantId, customerId],
  })
  return rows[0]
}

/** Customers by their ids, without those that are not there. */
export async function findCustomersById(
  db: Pool,
  tenantId: string,
  customerIds: readonly string[],
): Promise<Map<string, PresentCustomer>> {
  const { rows } = await db.query<{ customer: PresentCustomer }>({
    name: 'customers-by-id',
    text: 'select state as customer from customers where tenant_id = $1 and customer_id = any($2)',
    values: [tenantId, customerIds],
  })
  return new Map(rows.map(({ customer }) => [customer.customerId, customer]))
}

/** Whose customers are meant: the vendor's, or a reseller's. */
export type CustomersOf = { tenantId: string; resellerId?: string | null }

/**
 * The oldest customer of each person, and whether the tenant wants licenses to belong to them. It is rather one that is this person
 * alone than an organization, whose people would see the licenses, and rather one that is not merged.
 * @param resellerId whose customers they are; null for those of the vendor: neither sees the others
 * @returns for those people who have one, the customer's id
 */
export async function findCustomersByAddress(
  db: Pool,
  { tenantId, resellerId = null }: CustomersOf,
  subjectIds: readonly string[],
): Promise<{ isOn: boolean; found: Map<string, string> }> {
  const { rows } = await db.query<{ isOn: boolean; subjectId: string | null; customerId: string | null }>({
    name: 'customers-by-address',
    text: `select t.state->>'noCustomersByAddress' is null as "isOn",
             c.subject_id as "subjectId", c.customer_id as "customerId"
           from tenants t
           left join (
             select distinct on (subject_id) subject_id, customer_id from customers
             where tenant_id = $1 and subject_id = any($2) and state->>'erasedAt' is null
               and reseller_id is not distinct from $3
             order by subject_id, state ? 'people', merged_into is not null, created_at, customer_id
           ) c on true
           where t.tenant_id = $1`,
    values: [tenantId, subjectIds, resellerId],
  })
  const found = rows.flatMap(({ subjectId, customerId }) =>
    subjectId !== null && customerId !== null ? [[subjectId, customerId] as const] : [],
  )
  return { isOn: rows[0]?.isOn ?? false, found: new Map(found) }
}

export type CustomerFilter = {
  /** Only the customers who are one of these people. */
  subjectIds?: readonly string[] | undefined
  erased?: boolean | undefined
  /** Only the customers of this reseller; undefined for all. */
  resellerId?: string | undefined
}

/** By age; ties by id. */
export async function listCustomers(
  db: Pool,
  tenantId: string,
  { subjectIds, erased, resellerId }: CustomerFilter,
  { after, limit, order }: Keyset,
): Promise<PageOf<CustomerEntry>> {
  const { by, past } = orderOf(order, 'c.created_at', 'c.customer_id')
  const { rows } = await db.query<CustomerEntry>(
    `${entry}
     where c.tenant_id = $1 and ($2::timestamptz is null or ${past('$2', '$3')})
       and ($5::text[] is null or c.subject_id = any($5))
       ${resellerId === undefined ? '' : 'and c.reseller_id = $6'}
       ${erased === undefined ? '' : `and c.state->>'erasedAt' is ${erased ? 'not null' : 'null'}`}
     order by ${by} limit $4`,
    [
      tenantId,
      after?.createdAt ?? null,
      after?.id ?? null,
      limit + 1,
      subjectIds ?? null,
      ...(resellerId === undefined ? [] : [resellerId]),
    ],
  )
  return pageOf(rows, limit, startOf)
}

/** Where a page of customers starts that follows this one. */
export const startOf = ({ customer: { createdAt, customerId } }: CustomerEntry): PageStart => ({
  createdAt,
  id: customerId,
})
