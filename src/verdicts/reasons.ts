import type { HistoryEntry } from '../../projections/history/queries.ts'
import { setsEnd } from '../domain/licenses/event-traits.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import { graceUntilAt, graceUntilOf } from '../domain/licenses/grace.ts'
import { seatsOfRelay, seatsTaken } from '../domain/licenses/relay-seats.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import { statusAt } from '../domain/licenses/status.ts'
import { planLimits } from '../domain/tenants/tenant.ts'
import { momentWords, quoted, termWords } from '../history/sentences.ts'
import type { RuntimeStatus } from './answer.ts'
import type { LicenseLookup } from './lookup.ts'

/** The rules that can decide an answer. */
export const rules = [
  'active',
  'seated',
  'seat_free',
  'never_activated',
  'assigned_to_another',
  'deactivated',
  'seats_freed',
  'seat_limit_reached',
  'expired',
  'fallback',
  'suspended',
  'revoked',
  'taken_back',
  'plan_limit',
  'tenant_suspended',
  'tenant_closed',
] as const

/** Why an answer is what it is, in words for a phone call, with the events that decided. */
export type Reason = { rule: (typeof rules)[number]; because: string; events: HistoryEntry[] }

export const tenantReasons = {
  suspended: {
    rule: 'tenant_suspended',
    because: 'refused: the tenant is suspended, and no licenses are activated until it is resumed',
    events: [],
  },
  closed: { rule: 'tenant_closed', because: 'refused: the tenant is closed', events: [] },
} as const satisfies Record<string, Reason>

/** Why a device without a person is not activated, where the seats are of people. */
export const ofPeopleReason: Reason = {
  rule: 'assigned_to_another',
  because: 'denied: the seats of this license are of people, who activate devices with their own keys',
  events: [],
}

/** Why a validate has this status, or an activation is refused with it. */
export function reasonFor(lookup: LicenseLookup, status: RuntimeStatus): Reason {
  switch (status) {
    case 'active':
      return activeReason(lookup)
    case 'inactive':
      return isSuspended(lookup) ? suspendedReason(lookup) : inactiveReason(lookup)
    case 'seat_limit_reached':
      return fullReason(lookup)
    case 'plan_limit':
      return planReason(lookup)
    case 'revoked':
      return lookup.result.license.takenBackAt === null ? revokedReason(lookup) : takenBackReason(lookup)
    case 'fallback':
    case 'expired':
      return endedReason(lookup, status)
    case 'not_found':
    case 'reminted':
      throw new Error('the license was looked up by its current key')
  }
}

type Type = LicenseEvent['type']

/** The newest event of any of these types, if there is one. */
const newest = ({ deciding }: LicenseLookup, ...types: readonly Type[]): HistoryEntry[] =>
  deciding.filter(({ event }) => types.includes(event.type)).slice(-1)

const newestActivation = ({ deciding }: LicenseLookup, deviceId: string): HistoryEntry[] =>
  deciding
    .filter(({ event }) => event.type === 'DeviceActivated' && event.data.deviceId === deviceId)
    .slice(-1)

/** The event that set the license's expiry: the first since the last that gave it another one. */
function endSetBy({ deciding, result }: LicenseLookup): HistoryEntry[] {
  const setting = deciding.filter(({ event }) => setsEnd(event))
  const other = setting.findLastIndex(
    ({ event }) => 'expiresAt' in event.data && event.data.expiresAt !== result.license.expiresAt,
  )
  return setting.slice(other + 1, other + 2)
}

function activeReason(lookup: LicenseLookup): Reason {
  const { result, deviceId = '' } = lookup
  const { license } = result
  const seat = license.seats.get(deviceId)
  const until = graceUntilAt(license, lookup.at)
  const term =
    until === null
      ? termWords(license)
      : `expired on ${momentWords(license.expiresAt ?? until)}, with a grace until ${momentWords(until)}`
  if (!seat) {
    return {
      rule: 'active',
      because: `valid: the license is active and ${term}`,
      events: endSetBy(lookup),
    }
  }
  return {
    rule: 'seated',
    because: `valid: ${quoted(seat.name)} has had a seat since ${momentWords(seat.activatedAt)}, and the license ${term}`,
    events: [...endSetBy(lookup), ...newestActivation(lookup, deviceId)],
  }
}

function inactiveReason({ result, deviceId = '', deciding }: LicenseLookup): Reason {
  const seat = result.license.seats.get(deviceId)
  if (!seat || seat.deactivatedAt === null) {
    return {
      rule: 'never_activated',
      because: `denied: ${quoted(deviceId)} has never been activated on this license`,
      events: [],
    }
  }
  const { name, deactivatedAt } = seat
  const left = deciding.filter(({ event }) => event.data.at === deactivatedAt && freed(event, deviceId))
  const freedAll = left.some(({ event }) => event.type === 'LicenseReminted')
  const ranOut = left.some(({ event }) => event.type === 'DeviceDeactivated' && event.data.ranOut)
  return {
    rule: freedAll ? 'seats_freed' : 'deactivated',
    because: freedAll
      ? `denied: the license was reminted on ${momentWords(deactivatedAt)}, which freed the seat of ${quoted(name)}`
      : ranOut
        ? `denied: the floating seat of ${quoted(name)} ran out, which was recorded on ${momentWords(deactivatedAt)}`
        : `denied: ${quoted(name)} was deactivated on ${momentWords(deactivatedAt)}`,
    events: left.slice(-1),
  }
}

const freed = (event: LicenseEvent, deviceId: string): boolean =>
  (event.type === 'DeviceDeactivated' && event.data.deviceId === deviceId) ||
  (event.type === 'LicenseReminted' && !event.data.keepDevices)

/** Why an activation succeeds. */
export function admissionReason(lookup: LicenseLookup): Reason {
  const { result, at, deviceId = '' } = lookup
  const { seats, deviceLimit } = result.license
  const seat = seats.get(deviceId)
  if (seat?.status === 'active') {
    return {
      rule: 'seated',
      because: `allowed: ${quoted(seat.name)} already has a seat${fallbackWords(lookup)}`,
      events: newestActivation(lookup, deviceId),
    }
  }
  const taken =
    deviceLimit === null
      ? 'seats are unlimited'
      : `${seatsTaken(result.license, at)} of ${deviceLimit} seats are in use`
  const because = `allowed: ${taken}${fallbackWords(lookup)}`
  return { rule: 'seat_free', because, events: endSetBy(lookup) }
}

/** What a device gets if it is activated after the paid period. */
function fallbackWords({ result, at }: LicenseLookup): string {
  const { license } = result
  if (license.expiresAt === null || statusAt(license, at) !== 'fallback') return ''
  return `; the paid period ended on ${momentWords(license.expiresAt)}, so the device gets the fallback entitlements`
}

function fullReason(lookup: LicenseLookup): Reason {
  const { result, seated, at } = lookup
  const { seatsUsed, deviceLimit, relays } = result.license
  const taken = seatsTaken(result.license, at)
  const atRelays = relays.flatMap((relay) => {
    const seats = seatsOfRelay(relay, at)
    return seats === 0 ? [] : [`the relay ${quoted(relay.name)} has ${seats}`]
  })
  const holders = seated.map(
    ({ name, activatedAt }, index) =>
      `seat ${index + 1} taken by ${quoted(name)} on ${momentWords(activatedAt)}`,
  )
  const omitted = seatsUsed - seated.length
  return {
    rule: 'seat_limit_reached',
    because: [
      `denied: ${taken} of ${deviceLimit ?? taken} seats are in use`,
      ...holders,
      ...(omitted > 0 ? [`and ${omitted} more`] : []),
      ...atRelays,
    ].join('; '),
    events: seated.flatMap(({ deviceId }: Seat) => newestActivation(lookup, deviceId)),
  }
}

function planReason({ tenant }: LicenseLookup): Reason {
  const most = planLimits[tenant.plan].activeDevices
  return {
    rule: 'plan_limit',
    because: `denied: the plan ${quoted(tenant.plan)} allows ${most} active devices, and all of them are in use`,
    events: [],
  }
}

function revokedReason(lookup: LicenseLookup): Reason {
  const events = newest(lookup, 'LicenseRevoked', 'ImportTakenBack')
  const { revokedAt, revokedReason } = lookup.result.license
  const why = revokedReason === null ? '' : `: ${revokedReason}`
  return {
    rule: 'revoked',
    because: `denied: revoked on ${momentWords(revokedAt ?? lookup.at)}${why}`,
    events,
  }
}

/** A revocation takes precedence, and has a status of its own. */
const isSuspended = ({ result }: LicenseLookup): boolean => result.license.suspendedAt !== null

function suspendedReason(lookup: LicenseLookup): Reason {
  const { suspendedAt, suspendedReason: reason } = lookup.result.license
  const why = reason === null ? '' : `: ${reason}`
  return {
    rule: 'suspended',
    because: `denied: suspended on ${momentWords(suspendedAt ?? lookup.at)}, until it is resumed${why}`,
    events: newest(lookup, 'LicenseSuspended'),
  }
}

function takenBackReason(lookup: LicenseLookup): Reason {
  return {
    rule: 'taken_back',
    because: 'denied: the import was taken back; the key can be imported again',
    events: newest(lookup, 'ImportTakenBack'),
  }
}

function endedReason(lookup: LicenseLookup, rule: 'expired' | 'fallback'): Reason {
  const { license } = lookup.result
  const { expiresAt } = license
  const until = graceUntilOf(license)
  const grace = until === null ? '' : `, and its grace ended on ${momentWords(until)}`
  const when = `${momentWords(expiresAt ?? lookup.at)}${grace}`
  const recorded = newest(lookup, 'LicenseExpired', 'LicenseFellBack').filter(
    ({ event }) => 'expiresAt' in event.data && event.data.expiresAt === expiresAt,
  )
  return {
    rule,
    because:
      rule === 'expired'
        ? `denied: the license expired on ${when}`
        : `no longer valid: the paid period ended on ${when}; active devices keep the fallback entitlements`,
    events: [...endSetBy(lookup), ...recorded],
  }
}
