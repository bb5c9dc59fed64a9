import { peopleOfLicense, type SeatedPerson } from '../../commands/licenses/people-of-license.ts'
import type { OpenedPerson } from '../../commands/organizations/read-people.ts'
import { momentOf } from '../../commands/origin.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { mostPeople, type PersonSeat } from '../../domain/licenses/named.ts'
import type { PortalContext } from '../context.ts'
import { organizationsOf } from '../organizations/organization.ts'
import type { Customer } from '../visit.ts'

/** The seats of a license that people have, as one of them sees them. */
export type PersonSeats = {
  /** Those who have one. */
  seated: SeatedPerson[]
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
  const { seated, others } = await peopleOfLicense(ports, license)
  const now = momentOf(ports)
  const waiting = named.waiting.filter(({ until }) => until > now).map(({ until }) => until)
  const own = named.people[personId]
  return {
    seated,
    others: mayChange ? others : [],
    own: own && { personId, seat: own },
    devicesPerPerson: named.rules.devicesPerPerson,
    free: Math.max(0, mostPeople(license) - Object.keys(named.people).length - waiting.length),
    nextAt: waiting.toSorted()[0] ?? null,
  }
}
