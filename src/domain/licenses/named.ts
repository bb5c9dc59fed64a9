import type { NamedSeats } from '../products/key-type.ts'
import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import type { NamedEvent, PersonalKey } from './named-events.ts'
import type { Seat, Seats } from './seats.ts'

/** The seat of a person. */
export type PersonSeat = PersonalKey & {
  assignedAt: string
  /** Their devices, by their ids. */
  deviceIds: readonly string[]
}

/** A seat that was taken from a person, which no other person may have before a moment. */
type WaitingSeat = { personId: string; until: string }

/** The seats of a license that people have, each with devices of their own. */
export type Named = {
  /** null for a license whose seats are of devices. */
  named: {
    rules: NamedSeats
    /** By the ids that the people have in their organization. */
    people: Readonly<Record<string, PersonSeat>>
    waiting: readonly WaitingSeat[]
  } | null
}

/** A license of which people have the seats. */
type OfPeople = Named & Seats & Pick<LicenseTerms, 'deviceLimit'> & { revokedAt: string | null }

export type NamedCommand =
  /** @param isVendor whether the vendor assigns it, who does not have to wait for a seat that was taken from another person */
  | { type: 'AssignSeat'; personId: string; key: PersonalKey; isVendor: boolean; at: string }
  | { type: 'UnassignSeat'; personId: string; at: string }
  | { type: 'ReplacePersonalKey'; personId: string; key: PersonalKey; at: string }

const commandTypes: Record<NamedCommand['type'], true> = {
  AssignSeat: true,
  UnassignSeat: true,
  ReplacePersonalKey: true,
}

export const isNamedCommand = <Command extends { type: string }>(
  command: Command | NamedCommand,
): command is NamedCommand => Object.hasOwn(commandTypes, command.type)

/** Those who may have a seat of one license, also where it has no limit: they are part of it. */
const maxSeatedPeople = 1000

/** How many people may have a seat of a license at once. */
export const mostPeople = ({ deviceLimit }: Pick<LicenseTerms, 'deviceLimit'>): number =>
  Math.min(deviceLimit ?? maxSeatedPeople, maxSeatedPeople)

/** The part of a license's terms, as an event records it. */
export const recordedNamed = ({
  namedSeats,
}: {
  namedSeats?: NamedSeats | null | undefined
}): { named?: NamedSeats } => (namedSeats ? { named: namedSeats } : {})

/** A license of which no one has a seat yet. */
export const unassigned = (rules: NamedSeats | undefined): Named['named'] =>
  rules === undefined ? null : { rules, people: {}, waiting: [] }

/**
 * Who has the seats of a license. Returning no events means that the request was already true.
 * @throws Refusal `seats_not_named`, `license_revoked`, `seat_limit_reached`, `seat_waits`, `person_without_seat`
 */
export function decideOnPersonSeat(license: OfPeople, command: NamedCommand): LicenseEvent[] {
  const { named } = license
  if (named === null) throw new Refusal('seats_not_named')
  const { personId, at } = command
  const seat = named.people[personId]
  switch (command.type) {
    case 'AssignSeat':
      if (seat) return []
      requireFree(license, named, command)
      return [{ type: 'SeatAssigned', data: { personId, ...command.key, at } }]
    case 'UnassignSeat':
      return seat ? [...freed(license, seat, at), unassignedAt(named.rules, personId, seat, at)] : []
    case 'ReplacePersonalKey':
      if (!seat) throw new Refusal('person_without_seat')
      return [{ type: 'PersonalKeyReplaced', data: { personId, ...command.key, at } }]
  }
}

/** A person has the seat back that was taken from them, for which others still wait. */
function requireFree(
  { deviceLimit, revokedAt }: OfPeople,
  { people, waiting }: NonNullable<Named['named']>,
  { personId, isVendor, at }: Extract<NamedCommand, { type: 'AssignSeat' }>,
): void {
  if (revokedAt !== null) throw new Refusal('license_revoked')
  const most = mostPeople({ deviceLimit })
  const taken = Object.keys(people).length
  if (taken >= most) throw new Refusal('seat_limit_reached')
  const ofOthers = waiting.filter((each) => each.until > at && each.personId !== personId)
  if (!isVendor && taken + ofOthers.length >= most) throw new Refusal('seat_waits')
}

const freed = (license: Seats, { deviceIds }: PersonSeat, at: string): LicenseEvent[] =>
  deviceIds.flatMap((deviceId) => {
    const seat = license.seats.get(deviceId)
    if (seat === undefined) throw new Error(`the device ${deviceId} has to be loaded to be freed`)
    return [{ type: 'DeviceDeactivated', data: { deviceId, instanceId: seat.instanceId, at } }]
  })

function unassignedAt(
  { reassignEveryDays }: NamedSeats,
  personId: string,
  { assignedAt }: PersonSeat,
  at: string,
): LicenseEvent {
  const until = waitsUntil(reassignEveryDays, assignedAt)
  return { type: 'SeatUnassigned', data: { personId, ...(until > at && { waitsUntil: until }), at } }
}

/** Until when a seat waits that a person was given at a moment, once it is taken from them. */
export const waitsUntil = (reassignEveryDays: number, assignedAt: string): string =>
  new Date(Date.parse(assignedAt) + reassignEveryDays * 86_400_000).toISOString()

/**
 * The seats that a device of a person may have: of a license with named seats their own, else all.
 * @param personId whose key was sent; null for the key of the license
 */
export const seatsFor = <License extends Seats & Named>(
  license: License,
  personId: string | null,
): License =>
  license.named === null
    ? license
    : {
        ...license,
        seats: new Map([...license.seats].filter(([, seat]) => seat.personId === personId)),
      }

/**
 * Whether the device has its seat already.
 * @throws Refusal `assigned_to_another` for the key of a person without a seat, for the key of the license, and for a device of
 *   another person; `seat_limit_reached` where the person has as many devices as they may have
 */
export function isSeatedFor(
  { rules, people }: NonNullable<Named['named']>,
  personId: string | null,
  seat: Pick<Seat, 'status' | 'personId'> | undefined,
): boolean {
  const own = personId === null ? undefined : people[personId]
  if (own === undefined) throw new Refusal('assigned_to_another')
  if (seat?.status === 'active') {
    if (seat.personId !== personId) throw new Refusal('assigned_to_another')
    return true
  }
  if (own.deviceIds.length >= rules.devicesPerPerson) throw new Refusal('seat_limit_reached')
  return false
}

type OfNamed =
  | NamedEvent
  | Extract<
      LicenseEvent,
      { type: 'DeviceActivated' | 'DeviceDeactivated' | 'LicenseReminted' | 'ImportTakenBack' }
    >

/**
 * A seat is used by the person who has it, whatever the number of their devices. Nothing changes for a license whose seats are of
 * devices.
 */
export function evolveNamed<License extends Named & { seatsUsed: number }>(
  license: License,
  event: OfNamed,
): License {
  if (license.named === null) return license
  const named = namedAfter(license.named, event)
  return { ...license, named, seatsUsed: Object.keys(named.people).length }
}

function namedAfter(named: NonNullable<Named['named']>, event: OfNamed): NonNullable<Named['named']> {
  const { people, waiting } = named
  switch (event.type) {
    case 'SeatAssigned': {
      const { personId, at, ...key } = event.data
      const left = waiting.filter((each) => each.until > at && each.personId !== personId)
      const seat = { ...key, assignedAt: at, deviceIds: [] }
      return { ...named, people: { ...people, [personId]: seat }, waiting: left }
    }
    case 'SeatUnassigned': {
      const { personId, waitsUntil } = event.data
      const { [personId]: _, ...others } = people
      const added = waitsUntil === undefined ? [] : [{ personId, until: waitsUntil }]
      return { ...named, people: others, waiting: [...waiting, ...added] }
    }
    case 'PersonalKeyReplaced': {
      const { personId, at: _, ...key } = event.data
      const seat = people[personId]
      return seat ? { ...named, people: { ...people, [personId]: { ...seat, ...key } } } : named
    }
    case 'DeviceActivated':
    case 'DeviceDeactivated':
      return { ...named, people: withDevice(people, event) }
    case 'LicenseReminted':
      return event.data.keepDevices ? named : { ...named, people: withoutDevices(people) }
    case 'ImportTakenBack':
      return { ...named, people: withoutDevices(people) }
  }
}

function withDevice(
  people: Readonly<Record<string, PersonSeat>>,
  event: Extract<OfNamed, { type: 'DeviceActivated' | 'DeviceDeactivated' }>,
): Record<string, PersonSeat> {
  const { deviceId } = event.data
  const owner = event.type === 'DeviceActivated' ? event.data.personId : undefined
  return Object.fromEntries(
    Object.entries(people).map(([personId, seat]) => {
      const others = seat.deviceIds.filter((id) => id !== deviceId)
      return [personId, { ...seat, deviceIds: personId === owner ? [...others, deviceId] : others }]
    }),
  )
}

const withoutDevices = (people: Readonly<Record<string, PersonSeat>>): Record<string, PersonSeat> =>
  Object.fromEntries(Object.entries(people).map(([id, seat]) => [id, { ...seat, deviceIds: [] }]))

/** Whether a license can be used with a key now: its own, or that of a person who has a seat. */
export const isKeyOf = (
  { keyHash, named }: Named & Pick<LicenseTerms, 'keyHash'>,
  candidate: string,
): boolean =>
  candidate === keyHash || Object.values(named?.people ?? {}).some((seat) => seat.keyHash === candidate)

/** How many devices are in the seats: as many as seats that are used, unless the seats are of people. */
export const devicesSeated = ({ named, seatsUsed }: Named & { seatsUsed: number }): number =>
  named === null
    ? seatsUsed
    : Object.values(named.people).reduce((sum, { deviceIds }) => sum + deviceIds.length, 0)
