import { listPeople } from '../../../projections/people.ts'
import { type OpenedPerson, openPeople } from '../../commands/organizations/read-people.ts'
import { momentOf } from '../../commands/origin.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { maxSeatedPeople, type PersonSeat } from '../../domain/licenses/named.ts'
import { maxPeople } from '../../domain/organizations/people.ts'
import type { PortalContext } from '../context.ts'
import { organizationsOf } from '../organizations/organization.ts'
import type { Customer } from '../visit.ts'

/** The seats of a license that people have, as one of them sees them. */
export type PersonSeats = {
  /** Those who have one. */
  seated: { person: OpenedPerson; seat: PersonSeat }[]
  /** Those who have none; empty for a member, who gives no seats. */
  others: OpenedPerson[]
  /** The seat of the one who looks. */
  own: { personId: string; seat: PersonSeat } | undefined
  devicesPerPerson: number
  /** How many seats can be given to anyone now. */
  free: number
  /** When the next one can be given that was taken from a person; null where none waits. */
  nextAt: string | null
}

/** @returns undefined for a license whose seats are of devices, or that belongs to no organization of the person */
export async function personSeatsOf(
  ports: PortalContext['ports'],
  license: IssuedLicense,
  customer: Customer,
  mayChange: boolean,
): Promise<PersonSeats | undefined> {
  const { tenantId, customerId, named } = license
  if (named === null || customerId === null) return undefined
  const organizations = await organizationsOf(ports, tenantId, customer)
  const mine = organizations.find((each) => each.customerId === customerId)
  if (!mine) return undefined
  const { personId } = mine
  const { items } = await listPeople(ports.db, tenantId, customerId, { after: undefined, limit: maxPeople })
  const people = await openPeople(ports, tenantId, items)
  const now = momentOf(ports)
  const waiting = named.waiting.filter(({ until }) => until > now).map(({ until }) => until)
  const most = Math.min(license.deviceLimit ?? maxSeatedPeople, maxSeatedPeople)
  const own = named.people[personId]
  return {
    seated: people.flatMap((person) => {
      const seat = named.people[person.personId]
      return seat ? [{ person, seat }] : []
    }),
    others: mayChange ? people.filter((person) => named.people[person.personId] === undefined) : [],
    own: own && { personId, seat: own },
    devicesPerPerson: named.rules.devicesPerPerson,
    free: Math.max(0, most - Object.keys(named.people).length - waiting.length),
    nextAt: waiting.toSorted()[0] ?? null,
  }
}
