import { Refusal } from '../refusal.ts'
import { mailOfDevice, type Tell } from './device-mails.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { claimOn, type Floating, freedByEnd, isOfFence, mostSeats, type RanOut, seatOf } from './floating.ts'
import { alsoHeld, identified, identifiedAtFirst } from './identity.ts'
import type { DeviceClaim } from './marks.ts'
import { isSeatedFor, type Named, seatsFor } from './named.ts'
import { type Why, withReason } from './reasons.ts'
import { type Relays, seatsTaken } from './relay-seats.ts'
import { liveFile } from './seat-files.ts'
import { evolveSeats, type Seat, type Seats } from './seats.ts'
import { started, type WaitingLicense } from './start.ts'
import { givesSeats, type Standing, statusAt } from './status.ts'
import { isCovered, type Updates } from './updates.ts'

type Device = Pick<Seat, 'deviceId' | 'instanceId' | 'installId' | 'name' | 'platform'>

/** Floating seats whose ends have passed, by the clock that keeps them; absent or empty when none has. */
export type Ends = { ranOut?: readonly RanOut[] | undefined }

export type ActivateDevice = { type: 'ActivateDevice'; at: string } & Device & Build & Ends & OfPerson & Tell

/** Whose key was sent; null or absent for the key of the license. */
type OfPerson = { personId?: string | null }

/** The build of the app that asks for a seat; absent or null when it does not say. */
type Build = { builtAt?: string | null }

export type ActivateInstance = {
  type: 'ActivateInstance'
  /** For a device that has no seat yet. */
  instanceId: string
  platform: string | null
  claim: DeviceClaim & { name: string }
  /** How many components make it the same device; see {@link recognized}. */
  atLeast: number | null
  at: string
} & Build &
  Ends &
  OfPerson &
  Tell

/** The device in a seat says who it is, without asking for the seat. */
type IdentifyDevice = { type: 'IdentifyDevice'; deviceId: string; claim: DeviceClaim; at: string }

type DeactivateDevice = {
  type: 'DeactivateDevice'
  deviceId: string
  /** The seat that the caller means; null or absent for whichever its device has. */
  fence?: number | null
  /** Whose key was sent, null for the key of the license; absent where no key decides, as for the vendor. */
  personId?: string | null
  at: string
} & Why

/** Records which floating seats ran out. */
type EndSeats = { type: 'EndSeats'; ranOut: readonly RanOut[]; at: string }

export type DeviceCommand = ActivateDevice | ActivateInstance | IdentifyDevice | DeactivateDevice | EndSeats

/** What an activation depends on. */
export type Seated = Standing &
  WaitingLicense &
  Seats &
  Floating &
  Named &
  Relays &
  Pick<Updates, 'updatesUntil'> &
  Pick<LicenseTerms, 'deviceLimit' | 'holder'>

/**
 * What becomes of the seats of a license when a device takes one, gives it back, or says who it is.
 * @throws Refusal `license_revoked`, `license_suspended`, `license_expired`, `build_not_covered`, `seat_limit_reached`,
 *   `seat_has_file`, `seat_lost`, `assigned_to_another`
 */
export function decideOnDevice(license: Seated, command: DeviceCommand): LicenseEvent[] {
  switch (command.type) {
    case 'ActivateDevice':
      return activated(license, command)
    case 'ActivateInstance':
      return instanceActivated(license, command)
    case 'IdentifyDevice':
      return saidWho(license, command)
    case 'DeactivateDevice':
      return deactivated(license, command)
    case 'EndSeats':
      return freedByEnd(license, command.ranOut, command.at)
  }
}

/** A floating seat that ran out is free at the moment when it is needed. */
export function afterEnds<License extends Seated>(
  license: License,
  { ranOut = [], at }: Ends & { at: string },
  seat: (license: License) => LicenseEvent[],
): LicenseEvent[] {
  const freed = freedByEnd(license, ranOut, at)
  return [...freed, ...seat(freed.reduce<License>(evolveSeats, license))]
}

export const activated = (
  license: Seated,
  { type: _, builtAt, ranOut, ...device }: ActivateDevice,
): LicenseEvent[] => afterEnds(license, { ranOut, at: device.at }, (after) => seated(after, device, builtAt))

function seated(
  license: Seated,
  { personId = null, tell, ...device }: Device & OfPerson & Tell & { at: string },
  builtAt?: string | null,
): LicenseEvent[] {
  requireSeats(license, device.at, builtAt)
  if (license.named !== null) {
    if (isSeatedFor(license.named, personId, license.seats.get(device.deviceId))) return []
    const ofPerson = personId === null ? {} : { personId }
    return [{ type: 'DeviceActivated', data: { ...device, ...ofPerson } }, ...started(license, device.at)]
  }
  if (license.seats.get(device.deviceId)?.status === 'active') return []
  const most = mostSeats(license)
  const taken = seatsTaken(license, device.at)
  if (most !== null && taken >= most) throw new Refusal('seat_limit_reached')
  // Devices come and go where seats float: their holders are told when none is left, see `exhausted`.
  const more = license.floating
    ? { fence: license.lastFence + 1 }
    : mailOfDevice(license, { tell }, { taken: taken + 1, most })
  return [{ type: 'DeviceActivated', data: { ...device, ...more } }, ...started(license, device.at)]
}

/** @throws Refusal `license_revoked`, `license_suspended`, `license_expired`, `build_not_covered` */
export function requireSeats(license: Seated, at: string, builtAt: string | null = null): void {
  const status = statusAt(license, at)
  if (!givesSeats(status)) throw new Refusal(`license_${status}`)
  if (!isCovered(license, builtAt)) throw new Refusal('build_not_covered')
}

/** A device that is recognized keeps its seat, and gives back any other one that it also holds. */
export const instanceActivated = (license: Seated, command: ActivateInstance): LicenseEvent[] =>
  afterEnds(license, command, (after) => instanceSeated(after, command))

function instanceSeated(
  whole: Seated,
  { instanceId, platform, claim: said, atLeast, builtAt = null, personId = null, tell, at }: ActivateInstance,
): LicenseEvent[] {
  const license = seatsFor(whole, personId)
  const claim = claimOn(license, said)
  const seat = seatOf(license, claim, atLeast)
  if (seat === undefined) {
    const { installId, name, identities } = claim
    const device = { deviceId: instanceId, instanceId, installId, name, platform }
    return [
      ...seated(license, { ...device, personId, tell, at }, builtAt),
      ...identifiedAtFirst({ ...device, identity: identities[0] ?? null }, at),
    ]
  }
  requireSeats(license, at, builtAt)
  return [
    ...alsoHeld(license.seats.values(), seat, claim)
      .filter(({ files }) => !liveFile(files, at))
      .flatMap(({ deviceId }) => deactivated(license, { type: 'DeactivateDevice', deviceId, at })),
    ...identified(seat, claim, at),
  ]
}

/** A device without a seat says nothing that is kept. */
function saidWho(license: Seats, { deviceId, claim, at }: IdentifyDevice): LicenseEvent[] {
  const seat = license.seats.get(deviceId)
  return seat?.status === 'active' ? identified(seat, claim, at) : []
}

/**
 * @throws Refusal `seat_has_file` while the device may go on with a license file, `seat_lost` for a seat that its device does
 *   not have any more, `assigned_to_another` for the seat of another person than the one whose key was sent
 */
function deactivated(license: Seated, command: DeactivateDevice): LicenseEvent[] {
  const seat = license.seats.get(command.deviceId)
  if (seat && !isOfFence(seat, command.fence)) throw new Refusal('seat_lost')
  if (seat?.status !== 'active') return []
  const { personId } = command
  if (license.named && personId !== undefined && seat.personId !== personId)
    throw new Refusal('assigned_to_another')
  requireNoFile(seat, command.at)
  const { deviceId, instanceId } = seat
  return withReason({ type: 'DeviceDeactivated', data: { deviceId, instanceId, at: command.at } }, command)
}

/**
 * A device with a license file may go on without a network until the file ends, so that freeing its seat would let two devices
 * use it.
 * @throws Refusal `seat_has_file`
 */
export function requireNoFile({ files }: Seat, at: string): void {
  if (liveFile(files, at)) throw new Refusal('seat_has_file')
}
