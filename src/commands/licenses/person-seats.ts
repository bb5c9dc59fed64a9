import { listLostSeats, type PersonSeatPlace } from '../../../projections/licenses/person-seats.ts'
import { findPerson } from '../../../projections/people.ts'
import { forEachOf } from '../../async/for-each-of.ts'
import { customers } from '../../domain/customers/customer.ts'
import { type IssuedLicense, type License, licenses } from '../../domain/licenses/license.ts'
import type { NamedCommand, PersonSeat } from '../../domain/licenses/named.ts'
import type { PersonalKey } from '../../domain/licenses/named-events.ts'
import { Refusal } from '../../domain/refusal.ts'
import { loadFromLog } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { atOnce } from '../customers/by-address.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { requireLicense } from './licenses.ts'

/** A license and a person of the organization that has it. */
type Place = { tenantId: string; licenseId: string; personId: string }

/** What changes of named seats use. */
export type PersonSeatPorts = Ports<
  'db' | 'execute' | 'findProduct' | 'ledger' | 'newId' | 'now' | 'personalKeys'
>

/** A person's seat, and the text of their key. */
export type AssignedSeat = { seat: PersonSeat; licenseKey: string }

/**
 * Gives a person a seat of a license of their organization; nothing changes for one who has a seat. Who has the seats is decided on the
 * license's stream, and who is in the organization on the customer's. A person who leaves in the meantime keeps no seat: of this and the
 * removal, the later one in the log sees the other, and takes the seat back. After a crash in between a reaction does; see `listLostSeats`.
 * @param by who does not wait for seats that were taken from others, or does
 * @throws Refusal `license_not_found`, `not_an_organization`, `person_not_found`, `seats_not_named`, `license_revoked`,
 *   `seat_limit_reached`, `seat_waits`
 */
export async function assignSeat(
  ports: PersonSeatPorts,
  place: Place,
  by: 'vendor' | 'customer',
  origin: Origin,
): Promise<AssignedSeat> {
  const { license } = await requireLicense(ports, place.tenantId, place.licenseId)
  await requirePersonOf(ports, license, place)
  const assigned = await changeKey(ports, license, place, origin, (key, at) => ({
    type: 'AssignSeat',
    personId: place.personId,
    key,
    isVendor: by === 'vendor',
    at,
  }))
  if (!(await isPersonOf(ports, license, place))) {
    await unassignSeat(ports, place, origin)
    throw new Refusal('person_not_found')
  }
  return assigned
}

/**
 * Gives a person who has a seat a new key; the one before answers `reminted`, and their devices keep their places.
 * @throws Refusal `license_not_found`, `seats_not_named`, `person_without_seat`
 */
export async function replacePersonalKey(
  ports: PersonSeatPorts,
  place: Place,
  origin: Origin,
): Promise<AssignedSeat> {
  const { license } = await requireLicense(ports, place.tenantId, place.licenseId)
  return changeKey(ports, license, place, origin, (key, at) => ({
    type: 'ReplacePersonalKey',
    personId: place.personId,
    key,
    at,
  }))
}

async function changeKey(
  ports: PersonSeatPorts,
  { productId }: IssuedLicense,
  place: Place,
  origin: Origin,
  command: (key: PersonalKey, at: string) => NamedCommand,
): Promise<AssignedSeat> {
  const { tenantId, licenseId, personId } = place
  const product = await ports.findProduct(tenantId, productId)
  if (!product) throw new Refusal('product_not_found')
  const keyId = ports.newId('pky')
  const { keyHash, displayKey } = await ports.personalKeys.of({ ...place, keyId }, product.keyPrefix)
  const at = momentOf(ports)
  const { state } = await ports.execute(
    licenses,
    licenseId,
    command({ keyId, keyHash, displayKey }, at),
    causeOf(origin, at),
    { run: origin.run },
  )
  const seat = seatOfPerson(state, personId)
  // A repeated request may find that the seat was taken away since.
  if (!seat) throw new Refusal('person_without_seat')
  return { seat, licenseKey: await keyOfPerson(ports, { tenantId, licenseId, personId }, seat) }
}

const seatOfPerson = (license: License, personId: string): PersonSeat | undefined =>
  license.status === 'issued' ? license.named?.people[personId] : undefined

/** The text of the key of a person who has a seat. */
export async function keyOfPerson(
  { personalKeys }: Ports<'personalKeys'>,
  place: Place,
  { keyId, displayKey }: PersonSeat,
): Promise<string> {
  // The product may have another prefix by now.
  const prefix = displayKey.slice(0, displayKey.indexOf('…'))
  return (await personalKeys.of({ ...place, keyId }, prefix)).licenseKey
}

/**
 * Takes the seat of a person, whose devices are freed with it; nothing changes for one who has none.
 * @throws Refusal `license_not_found`, `seats_not_named`
 */
export async function unassignSeat(
  ports: Ports<'db' | 'execute' | 'now'>,
  { tenantId, licenseId, personId }: Place,
  origin: Origin,
): Promise<void> {
  await requireLicense(ports, tenantId, licenseId)
  const at = momentOf(ports)
  const command = { type: 'UnassignSeat', personId, at } as const
  await ports.execute(licenses, licenseId, command, causeOf(origin, at), { run: origin.run })
}

/** How many seats a request frees itself, in a few seconds; a reaction frees the others. */
const mostFreed = 500

/** Takes the seats of those who are not in an organization any more. */
export async function freeLostSeats(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  customerId: string,
  origin: Origin,
): Promise<void> {
  const lost = await listLostSeats(ports.db, { customerId, most: mostFreed })
  await forEachOf(lost, atOnce, (seat) => freeLostSeat(ports, seat, origin))
}

/** Takes the seat of a person, unless the license belongs to an organization that the person is in after all, as its stream says. */
export async function freeLostSeat(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  place: PersonSeatPlace,
  origin: Origin,
): Promise<void> {
  const { license } = await requireLicense(ports, place.tenantId, place.licenseId)
  if (license.customerId !== null) {
    const { state: customer } = await loadFromLog(ports.ledger, license.customerId, customers)
    const people = customer.status === 'absent' ? undefined : customer.people
    if (people && Object.hasOwn(people, place.personId)) return
  }
  const { run: _, ...ofSeat } = origin
  await unassignSeat(ports, place, ofSeat)
}

/** @throws Refusal `not_an_organization` for a license without a customer, `person_not_found` */
async function requirePersonOf(ports: Ports<'db'>, license: IssuedLicense, place: Place): Promise<void> {
  if (license.named === null) throw new Refusal('seats_not_named')
  if (license.customerId === null) throw new Refusal('not_an_organization')
  if (!(await isPersonOf(ports, license, place))) throw new Refusal('person_not_found')
}

const isPersonOf = async (
  { db }: Ports<'db'>,
  { customerId }: IssuedLicense,
  { tenantId, personId }: Place,
): Promise<boolean> =>
  customerId !== null && (await findPerson(db, tenantId, customerId, personId)) !== undefined
