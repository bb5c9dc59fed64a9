import type { Pool } from 'pg'
import type { KnownSale } from '../../src/domain/sales/sale.ts'
import type { PresentCustomer } from '../customers.ts'
import { lastCharacter } from './licenses.ts'

/** Finds sales by keyledger's id or by stream name, which contains the provider's id. */
export async function findSalesByName(
  db: Pool,
  tenantId: string,
  id: string,
  streams: readonly string[],
): Promise<KnownSale[]> {
  const { rows } = await db.query<{ state: KnownSale }>({
    name: 'search-sale',
    text: 'select state from sales where (id = $2 or stream = any($3)) and tenant_id = $1',
    values: [tenantId, id, streams],
  })
  return rows.map(({ state }) => state)
}

/** Finds sales whose id at the provider begins with a text, ignoring case, ordered by it. */
export async function findSalesByStart(
  db: Pool,
  tenantId: string,
  start: string,
  most: number,
): Promise<KnownSale[]> {
  const { rows } = await db.query<{ state: KnownSale }>({
    name: 'search-sale-start',
    text: `select state from sales
           where tenant_id = $1 and lower(sale_id) ~>=~ lower($2) and lower(sale_id) ~<~ (lower($2) || $3)
           order by lower(sale_id) using ~<~ limit $4`,
    values: [tenantId, start, lastCharacter, most],
  })
  return rows.map(({ state }) => state)
}

/** Finds the customers who are one of these people, newest first. */
export async function findCustomersOfPeople(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
  most: number,
): Promise<PresentCustomer[]> {
  const { rows } = await db.query<{ state: PresentCustomer }>({
    name: 'search-customers-of-people',
    text: `select c.state from unnest($2::text[]) as s (subject_id), lateral (
             select * from customers where tenant_id = $1 and subject_id = s.subject_id
             order by created_at desc, customer_id desc limit $3
           ) c
           order by c.created_at desc, c.customer_id desc limit $3`,
    values: [tenantId, subjectIds, most],
  })
  return rows.map(({ state }) => state)
}

/** Finds the sales to these people, newest first. */
export async function findSalesOfPeople(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
  most: number,
): Promise<KnownSale[]> {
  const { rows } = await db.query<{ state: KnownSale }>({
    name: 'search-sales-of-people',
    text: `select o.state from unnest($2::text[]) as s (subject_id), lateral (
             select * from sales where tenant_id = $1 and subject_id = s.subject_id
             order by received_at desc, id desc limit $3
           ) o
           order by o.received_at desc, o.id desc limit $3`,
    values: [tenantId, subjectIds, most],
  })
  return rows.map(({ state }) => state)
}
