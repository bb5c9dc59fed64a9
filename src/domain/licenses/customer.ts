import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import { requireNoFile } from './activation.ts'
import type { LicenseEvent } from './events.ts'
import type { GivenName, Seats } from './seats.ts'

/** What the person that a license is for may do themselves, in the portal. */
export type CustomerCommand =
  /** @param most how many seats may be freed within 30 days */
  | { type: 'FreeSeat'; deviceId: string; most: number; at: string }
  /** @param name sealed under the person's key; null for the name that the app reported */
  | { type: 'NameDevice'; deviceId: string; name: GivenName | null; at: string }

/** The state of a license that this depends on: when its customer freed seats, as far as it still counts. */
type Freed = { freedByCustomerAt: readonly string[] }

const windowMs = 30 * 86_400_000

/** A time further ahead than this comes from before a clock was set back, and counts as past. */
const clocksDifferMs = 5 * 60_000

/**
 * @returns no events when the device has no seat, so that a form that is sent twice frees one seat
 * @throws Refusal `device_not_found`, `seat_frees_off`, `seat_frees_spent`, `seat_has_file`
 */
export function decideByCustomer(license: Freed & Seats, command: CustomerCommand): LicenseEvent[] {
  const { deviceId, at } = command
  const seat = license.seats.get(deviceId)
  if (!seat) throw new Refusal('device_not_found')
  if (command.type === 'NameDevice') {
    const { name } = command
    if (sameJson(name, seat.givenName)) return []
    return [{ type: 'DeviceNamed', data: { deviceId, name, at } }]
  }
  if (seat.status !== 'active') return []
  requireNoFile(seat, at)
  if (command.most === 0) throw new Refusal('seat_frees_off')
  const { left, nextAt } = freesLeft(license, command.most, at)
  if (left === 0) throw new Refusal('seat_frees_spent', secondsUntil(nextAt, at))
  return [
    { type: 'DeviceDeactivated', data: { deviceId, instanceId: seat.instanceId, at } },
    { type: 'SeatFreedByCustomer', data: { deviceId, at } },
  ]
}

/**
 * How many seats the customer may still free at a moment.
 * @returns `nextAt`, when one more may be freed; null unless none is left
 */
export function freesLeft(
  { freedByCustomerAt }: Freed,
  most: number,
  now: string,
): { left: number; nextAt: string | null } {
  const nowMs = Date.parse(now)
  const counted = freedByCustomerAt
    .map((at) => Date.parse(at))
    .filter((at) => at > nowMs - windowMs && at <= nowMs + clocksDifferMs)
    .sort((one, other) => one - other)
  const left = Math.max(0, most - counted.length)
  const ending = counted[counted.length - most]
  const nextAt =
    left > 0 || ending === undefined || most === 0 ? null : new Date(ending + windowMs).toISOString()
  return { left, nextAt }
}

const secondsUntil = (moment: string | null, now: string): number | null =>
  moment === null ? null : Math.max(1, Math.ceil((Date.parse(moment) - Date.parse(now)) / 1000))

/** The times at which the customer freed a seat, with one more; those that no longer count are left out. */
export const withFree = (freed: readonly string[], at: string): readonly string[] => [
  ...freed.filter((before) => Date.parse(before) > Date.parse(at) - windowMs),
  at,
]
