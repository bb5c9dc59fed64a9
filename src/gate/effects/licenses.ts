import { entitlementsFor } from '../../../projections/licenses/entitlements.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { LicenseEvent } from '../../domain/licenses/events.ts'
import {
  decideLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
} from '../../domain/licenses/license.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { givesSeats, statusAt } from '../../domain/licenses/status.ts'
import {
  type AffectedDevice,
  type Effect,
  type EntitlementChange,
  exactly,
  mostNames,
  type StatusChange,
} from './effect.ts'

/** A license before a change, and the events that were decided for it. */
export type ChangedLicense = {
  entry: LicenseEntry
  /** Its active devices: the first ones, of as many as it has seats in use. */
  seated: readonly Seat[]
  events: readonly LicenseEvent[]
}

type LicenseEffect = Pick<
  Effect,
  'licenses' | 'devicesLosing' | 'devicesGaining' | 'entitlementsAppearing' | 'entitlementsDisappearing'
>

/**
 * What decided events change for licenses, their devices and their entitlements.
 * @param now the moment at which statuses are computed
 */
export function effectOnLicenses(changed: readonly ChangedLicense[], now: string): LicenseEffect {
  const changes = changed.map((one) => ({ ...one, after: afterwards(one) }))
  const statuses = changes.flatMap(({ entry: { license }, after }): StatusChange[] => {
    const [from, to] = [statusAt(license, now), statusAt(after, now)]
    return from === to ? [] : [{ id: license.licenseId, displayKey: license.displayKey, from, to }]
  })
  const seats = changes.map((one) => seatChange(one, now))
  const { appearing, disappearing } = entitlementChanges(
    changes.map(({ entry, after }) => ({ before: entry, after: { ...entry, license: after } })),
    now,
  )
  return {
    licenses: { ...exactly(statuses.length), first: statuses.slice(0, mostNames) },
    devicesLosing: allOf(seats.map(({ losing }) => losing)),
    devicesGaining: allOf(seats.map(({ gaining }) => gaining)),
    entitlementsAppearing: appearing,
    entitlementsDisappearing: disappearing,
  }
}

/**
 * The events that follow without a further request: the end of a term that was not recorded while the license was
 * revoked.
 */
export function followingEvents({ entry, events }: ChangedLicense, now: string): LicenseEvent[] {
  const end = { type: 'EndPaidPeriod', at: now } as const
  if (decideLicense(entry.license, end).length > 0) return []
  return decideLicense(afterwards({ entry, events }), end)
}

/** @throws Error for events that leave no license, which cannot be */
function afterwards({ entry, events }: Pick<ChangedLicense, 'entry' | 'events'>): IssuedLicense {
  const after = events.reduce<License>(evolveLicense, entry.license)
  if (after.status === 'absent') throw new Error('a license does not disappear')
  return after
}

type Devices = { count: number; first: AffectedDevice[] }
const noDevices: Devices = { count: 0, first: [] }

/** A device has a seat while it is active on a license whose status gives seats. */
function seatChange(
  { entry: { license }, after, seated, events }: ChangedLicense & { after: IssuedLicense },
  now: string,
): { losing: Devices; gaining: Devices } {
  const { licenseId, seatsUsed } = license
  const [gave, gives] = [givesSeats(statusAt(license, now)), givesSeats(statusAt(after, now))]
  const shown = ({ deviceId, name }: Pick<Seat, 'deviceId' | 'name'>): AffectedDevice => ({
    licenseId,
    deviceId,
    name,
  })
  const all: Devices = { count: seatsUsed, first: seated.slice(0, mostNames).map(shown) }
  if (gave && !gives) return { losing: all, gaining: noDevices }
  if (!gave && gives) return { losing: noDevices, gaining: all }
  if (!gave || events.some(emptiesSeats)) return { losing: gave ? all : noDevices, gaining: noDevices }
  const activated = events.flatMap(({ type, data }) => (type === 'DeviceActivated' ? [data] : []))
  const freed = events.flatMap(({ type, data }) => (type === 'DeviceDeactivated' ? [data.deviceId] : []))
  return {
    losing: {
      count: freed.length,
      first: seated.filter(({ deviceId }) => freed.includes(deviceId)).map(shown),
    },
    gaining: { count: activated.length, first: activated.map(shown) },
  }
}

const emptiesSeats = (event: LicenseEvent): boolean =>
  event.type === 'ImportTakenBack' || (event.type === 'LicenseReminted' && !event.data.keepDevices)

const allOf = (parts: readonly Devices[]) => ({
  ...exactly(parts.reduce((sum, { count }) => sum + count, 0)),
  first: parts.flatMap(({ first }) => first).slice(0, mostNames),
})

type Compared = { before: LicenseEntry; after: LicenseEntry }

/** Which entitlements licenses get and lose, by name, and how many licenses each. */
export function entitlementChanges(
  compared: readonly Compared[],
  now: string,
): { appearing: EntitlementChange[]; disappearing: EntitlementChange[] } {
  const appearing = new Map<string, number>()
  const disappearing = new Map<string, number>()
  for (const { before, after } of compared) {
    const had = entitlementsFor(statusAt(before.license, now), before, now)
    const has = entitlementsFor(statusAt(after.license, now), after, now)
    for (const name of has.filter((one) => !had.includes(one))) add(appearing, name)
    for (const name of had.filter((one) => !has.includes(one))) add(disappearing, name)
  }
  return { appearing: listed(appearing), disappearing: listed(disappearing) }
}

const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

const listed = (counts: ReadonlyMap<string, number>): EntitlementChange[] =>
  [...counts]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([entitlement, count]) => ({ entitlement, licenses: exactly(count) }))
