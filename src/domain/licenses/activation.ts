import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { alsoHeld, identified, identifiedAtFirst, recognized } from './identity.ts'
import type { DeviceClaim } from './marks.ts'
import { type Why, withReason } from './reasons.ts'
import { liveFile } from './seat-files.ts'
import type { Seat, Seats } from './seats.ts'
import { started, type WaitingLicense } from './start.ts'
import { givesSeats, type Standing, statusAt } from './status.ts'
import { isCovered, type Updates } from './updates.ts'

type Device = Pick<Seat, 'deviceId' | 'instanceId' | 'installId' | 'name' | 'platform'>

export type ActivateDevice = { type: 'ActivateDevice'; at: string } & Device & Build

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
} & Build

/** The device in a seat says who it is, without asking for the seat. */
export type IdentifyDevice = { type: 'IdentifyDevice'; deviceId: string; claim: DeviceClaim; at: string }

export type DeactivateDevice = { type: 'DeactivateDevice'; deviceId: string; at: string } & Why

/** What an activation depends on. */
export type Seated = Standing &
  WaitingLicense &
  Seats &
  Pick<Updates, 'updatesUntil'> &
  Pick<LicenseTerms, 'deviceLimit'>

export function activated(license: Seated, { type: _, builtAt, ...device }: ActivateDevice): LicenseEvent[] {
  requireSeats(license, device.at, builtAt)
  if (license.seats.get(device.deviceId)?.status === 'active') return []
  if (license.deviceLimit !== null && license.seatsUsed >= license.deviceLimit) {
    throw new Refusal('seat_limit_reached')
  }
  return [{ type: 'DeviceActivated', data: device }, ...started(license, device.at)]
}

/** @throws Refusal `license_revoked`, `license_suspended`, `license_expired`, `build_not_covered` */
function requireSeats(license: Seated, at: string, builtAt: string | null = null): void {
  const status = statusAt(license, at)
  if (!givesSeats(status)) throw new Refusal(`license_${status}`)
  if (!isCovered(license, builtAt)) throw new Refusal('build_not_covered')
}

/** A device that is recognized keeps its seat, and gives back any other one that it also holds. */
export function instanceActivated(
  license: Seated,
  { instanceId, platform, claim, atLeast, builtAt = null, at }: ActivateInstance,
): LicenseEvent[] {
  const seat = recognized(license.seats.values(), claim, atLeast)
  if (seat === undefined) {
    const { installId, name, identities } = claim
    const device = { deviceId: instanceId, instanceId, installId, name, platform }
    return [
      ...activated(license, { type: 'ActivateDevice', ...device, builtAt, at }),
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
export function saidWho(license: Seats, { deviceId, claim, at }: IdentifyDevice): LicenseEvent[] {
  const seat = license.seats.get(deviceId)
  return seat?.status === 'active' ? identified(seat, claim, at) : []
}

/** @throws Refusal `seat_has_file` while the device may go on with a license file */
export function deactivated(license: Seated, command: DeactivateDevice): LicenseEvent[] {
  const seat = license.seats.get(command.deviceId)
  if (seat?.status !== 'active') return []
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
