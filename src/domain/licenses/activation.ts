import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { alsoHeld, identified, identifiedAtFirst, recognized } from './identity.ts'
import type { DeviceClaim } from './marks.ts'
import { type Why, withReason } from './reasons.ts'
import type { Seat, Seats } from './seats.ts'
import { started, type WaitingLicense } from './start.ts'
import { givesSeats, type Standing, statusAt } from './status.ts'

export type ActivateDevice = { type: 'ActivateDevice'; at: string } & Pick<
  Seat,
  'deviceId' | 'instanceId' | 'installId' | 'name' | 'platform'
>

export type ActivateInstance = {
  type: 'ActivateInstance'
  /** For a device that has no seat yet. */
  instanceId: string
  platform: string | null
  claim: DeviceClaim & { name: string }
  /** How many components make it the same device; see {@link recognized}. */
  atLeast: number | null
  at: string
}

export type DeactivateDevice = { type: 'DeactivateDevice'; deviceId: string; at: string } & Why

/** What an activation depends on. */
type Seated = Standing & WaitingLicense & Seats & Pick<LicenseTerms, 'deviceLimit'>

export function activated(license: Seated, { type: _, ...device }: ActivateDevice): LicenseEvent[] {
  requireSeats(license, device.at)
  if (license.seats.get(device.deviceId)?.status === 'active') return []
  if (license.deviceLimit !== null && license.seatsUsed >= license.deviceLimit) {
    throw new Refusal('seat_limit_reached')
  }
  return [{ type: 'DeviceActivated', data: device }, ...started(license, device.at)]
}

/** @throws Refusal `license_revoked`, `license_suspended`, `license_expired` */
function requireSeats(license: Seated, at: string): void {
  const status = statusAt(license, at)
  if (!givesSeats(status)) throw new Refusal(`license_${status}`)
}

/** A device that is recognized keeps its seat, and gives back any other one that it also holds. */
export function instanceActivated(
  license: Seated,
  { instanceId, platform, claim, atLeast, at }: ActivateInstance,
): LicenseEvent[] {
  const seat = recognized(license.seats.values(), claim, atLeast)
  if (seat === undefined) {
    const { installId, name, identities } = claim
    const device = { deviceId: instanceId, instanceId, installId, name, platform }
    return [
      ...activated(license, { type: 'ActivateDevice', ...device, at }),
      ...identifiedAtFirst({ ...device, identity: identities[0] ?? null }, at),
    ]
  }
  requireSeats(license, at)
  return [
    ...alsoHeld(license.seats.values(), seat, claim).flatMap(({ deviceId }) =>
      deactivated(license, { type: 'DeactivateDevice', deviceId, at }),
    ),
    ...identified(seat, claim, at),
  ]
}

export function deactivated(license: Seated, command: DeactivateDevice): LicenseEvent[] {
  const seat = license.seats.get(command.deviceId)
  if (seat?.status !== 'active') return []
  const { deviceId, instanceId } = seat
  return withReason({ type: 'DeviceDeactivated', data: { deviceId, instanceId, at: command.at } }, command)
}
