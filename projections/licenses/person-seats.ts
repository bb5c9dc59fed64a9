import type { Pool } from 'pg'

/** The seat of a person. */
export type PersonSeatPlace = { tenantId: string; licenseId: string; personId: string }

/**
 * Seats of people who are not in the organization any more that the license belongs to: they were removed, it was dissolved, or the
 * license was linked to another customer.
 * @param customerId only those of people who are or were in this organization
 */
export async function listLostSeats(
  db: Pool,
  { customerId = '', except = [], most }: { customerId?: string; except?: readonly string[]; most: number },
): Promise<PersonSeatPlace[]> {
  const { rows } = await db.query<PersonSeatPlace>({
    name: 'list-lost-seats',
    text: `select k.tenant_id as "tenantId", k.license_id as "licenseId", k.person_id as "personId"
           from license_keys k
           join people p on p.person_id = k.person_id
           join licenses l on l.license_id = k.license_id
           where k.is_seated and (p.removed or l.customer_id is distinct from p.customer_id)
             and $1 in ('', p.customer_id) and k.license_id || ' ' || k.person_id <> all($2)
           order by k.license_id, k.person_id limit $3`,
    values: [customerId, except, most],
  })
  return rows
}

/** The name of a seat among those that are due. */
export const nameOfSeat = ({ licenseId, personId }: PersonSeatPlace): string => `${licenseId} ${personId}`
