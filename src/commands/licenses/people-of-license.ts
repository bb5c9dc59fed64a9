import { listPeople } from '../../../projections/people.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import type { PersonSeat } from '../../domain/licenses/named.ts'
import { maxPeople } from '../../domain/organizations/people.ts'
import type { Ports } from '../../ports.ts'
import { type OpenedPerson, openPeople } from '../organizations/read-people.ts'

/** Someone who has a seat. */
export type SeatedPerson = { person: OpenedPerson; seat: PersonSeat }

/** The people of the organization that has a license: those who have a seat of it, and the others. Newest first. */
export async function peopleOfLicense(
  ports: Ports<'db' | 'subjects'>,
  { tenantId, customerId, named }: IssuedLicense,
): Promise<{ seated: SeatedPerson[]; others: OpenedPerson[] }> {
  if (customerId === null) return { seated: [], others: [] }
  const { items } = await listPeople(ports.db, tenantId, customerId, { after: undefined, limit: maxPeople })
  const people = await openPeople(ports, tenantId, items)
  const seatOf = ({ personId }: OpenedPerson) => named?.people[personId]
  return {
    seated: people.flatMap((person) => {
      const seat = seatOf(person)
      return seat ? [{ person, seat }] : []
    }),
    others: people.filter((person) => seatOf(person) === undefined),
  }
}
