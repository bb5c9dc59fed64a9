import type { Pool } from 'pg'
import type { Linked } from '../src/domain/licenses/link.ts'
import type { PresentCustomer } from './customers.ts'

/** A license that merges of customers have to move, or have to move back. */
export type LicenseToMove = {
  tenantId: string
  licenseId: string
  /** Where it is. */
  from: Pick<Linked, 'customerId' | 'mergedFrom'>
  /** Where it belongs. */
  customerId: string
}

/**
 * For each merged customer, the one that stands for it in the end. A circle of merges, which the lock of merging prevents, leads
 * nowhere, and moves nothing.
 */
const standIns = `
  recursive merges(customer_id, into_id) as (
    select customer_id, merged_into from customers where merged_into is not null
    union
    select m.customer_id, c.merged_into from merges m join customers c on c.customer_id = m.into_id
    where c.merged_into is not null
  ),
  stand_ins as (
    select m.customer_id, m.into_id from merges m join customers c on c.customer_id = m.into_id
    where c.merged_into is null
  )`

/**
 * Licenses that are not where the merges of customers lead: those of a merged customer, those that moved from one whose
 * merges lead elsewhere now, and those from one that stands for itself again.
 * @param customerId only those that this customer has, or had before merges
 */
export async function listLicensesToMove(
  db: Pool,
  { customerId = '', except = [], most }: { customerId?: string; except?: readonly string[]; most: number },
): Promise<LicenseToMove[]> {
  const { rows } = await db.query<Row>({
    name: 'licenses-to-move',
    text: `with ${standIns}
      select * from (
        select l.*, coalesce(o.into_id, s.into_id) as "to"
        from stand_ins s
        cross join lateral (${license} where customer_id = s.customer_id offset 0) l
        left join stand_ins o on o.customer_id = l."mergedFrom"
        where (l."mergedFrom" is null or o.into_id is not null) and $1 in ('', s.customer_id)
        union
        select l.*, s.into_id
        from stand_ins s
        cross join lateral (${license} where merged_from = s.customer_id and customer_id <> s.into_id offset 0) l
        where $1 in ('', s.customer_id)
        union
        select l.*, l."mergedFrom"
        from (${license} where merged_from is not null and $1 in ('', merged_from) offset 0) l
        cross join lateral (
          select from customers where customer_id = l."mergedFrom" and merged_into is null offset 0
        ) c
      ) moving
      where "licenseId" <> all($2)
      order by "licenseId" limit $3`,
    values: [customerId, except, most],
  })
  return rows.map(({ tenantId, licenseId, customerId, mergedFrom, to }) => ({
    ...{ tenantId, licenseId },
    from: { customerId, mergedFrom },
    customerId: to,
  }))
}

type Row = Pick<LicenseToMove, 'tenantId' | 'licenseId'> & LicenseToMove['from'] & { to: string }

/** Read by their indexes, from what is merged: there are many more licenses. */
const license = `
  select tenant_id as "tenantId", license_id as "licenseId", customer_id as "customerId", merged_from as "mergedFrom" from licenses`

/** Selects a column of the customers that a customer stands for, also by way of others. */
export const mergedInto = (column: 'state' | 'subject_id', tenantId: string, customerId: string): string => `
  with recursive merged(customer_id, value) as (
    select customer_id, ${column} from customers where merged_into = ${customerId} and tenant_id = ${tenantId}
    union
    select c.customer_id, c.${column} from merged m
    join customers c on c.merged_into = m.customer_id and c.tenant_id = ${tenantId}
  )
  select value from merged where customer_id <> ${customerId}`

/** The customers that a customer stands for, also by way of others. */
export async function listMergedInto(
  db: Pool,
  tenantId: string,
  customerId: string,
): Promise<PresentCustomer[]> {
  const { rows } = await db.query<{ value: PresentCustomer }>({
    name: 'customers-merged-into',
    text: mergedInto('state', '$1', '$2'),
    values: [tenantId, customerId],
  })
  return rows.map(({ value }) => value)
}
