import { minorDigits } from '../domain/currency.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import type { License } from '../domain/licenses/license.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import { type LicenseStatus, statusAt } from '../domain/licenses/status.ts'
import { type MeterTerms, usualThresholds } from '../domain/meters/terms.ts'
import type { Duration, FloatingSeats, NamedSeats } from '../domain/products/key-type.ts'

type Value = string | number | null

/** A changed field; `before` is null for a value that did not exist. */
export type Change = { field: ChangedField; before: Value; after: Value }

const licenseFields = [
  'status',
  'displayKey',
  'keyTypeId',
  'quantity',
  'expiresAt',
  'startsWith',
  'deviceLimit',
  'seatsUsed',
  'customerId',
  'refundedAt',
  'updatesUntil',
] as const
/** `device` is the seat status of the event's device; `email` and `name` are the person's. */
export const changedFields = [...licenseFields, 'metadata', 'device', 'email', 'name'] as const
type ChangedField = (typeof changedFields)[number]

/** The differences between two states of a license, each at its own time. */
export function differences(
  before: License,
  beforeAt: string,
  after: License,
  afterAt: string,
): { changes: Change[]; devices: { deviceId: string; name: string; before: Value; after: Value }[] } {
  const [old, now] = [facts(before, beforeAt), facts(after, afterAt)]
  const seats = after.status === 'absent' ? [] : [...after.seats.values()]
  return {
    changes: changed(licenseFields.map((field) => ({ field, before: old[field], after: now[field] }))),
    devices: changed(
      seats.map(({ deviceId, name, status }) => ({
        deviceId,
        name,
        before: seatIn(before, deviceId),
        after: status,
      })),
    ),
  }
}

const changed = <C extends { before: Value; after: Value }>(all: readonly C[]): C[] =>
  all.filter(({ before, after }) => before !== after)

/**
 * What an event changed in a license, in public terms.
 * @param before the license with at least the seat of the event's device
 * @param at the time of the event
 */
export function changesOf(before: License, after: License, event: LicenseEvent, at: string): Change[] {
  const old = { ...facts(before, at), ...(endsPeriod(event) && { status: 'active' as LicenseStatus }) }
  const now = facts(after, at)
  const changes: Change[] = licenseFields
    .filter((field) => before.status !== 'absent' || !isPlan(field))
    .map((field) => ({ field, before: old[field], after: now[field] }))
  if ('deviceId' in event.data) {
    const { deviceId } = event.data
    changes.push({ field: 'device', before: seatIn(before, deviceId), after: seatIn(after, deviceId) })
  }
  if (event.type === 'LicenseEdited') {
    changes.push({ field: 'metadata', before: metadataIn(before), after: metadataIn(after) })
  }
  return changed(changes)
}

/** Shown when it changes; the page of a license shows the present one. */
const isPlan = (field: ChangedField): boolean => field === 'keyTypeId' || field === 'quantity'

/** As one line, in the order in which it was given. */
const metadataIn = (license: License): string | null =>
  license.status === 'absent' || Object.keys(license.metadata).length === 0
    ? null
    : Object.entries(license.metadata)
        .map(([key, value]) => `${key}: ${value}`)
        .join(', ')

/** What an edit changed in the person that a license is for. Nothing of a person who was erased. */
export const changesOfPerson = (before: Person, after: Person): Change[] =>
  changed([
    { field: 'email', before: before.email, after: after.email },
    { field: 'name', before: before.name, after: after.name },
  ])

type Person = { email: string | null; name: string | null }

/** The end of a paid period is recorded after it occurred; the change still shows the status before it. */
const endsPeriod = ({ type }: LicenseEvent): boolean =>
  type === 'LicenseExpired' || type === 'LicenseFellBack'

type Facts = Record<(typeof licenseFields)[number], Value>

function facts(license: License, at: string): Facts {
  if (license.status === 'absent') return nothing
  const { displayKey, keyTypeId, quantity, expiresAt, deviceLimit, seatsUsed, customerId } = license
  const { refundedAt, updatesUntil } = license
  const status = statusAt(license, at)
  const startsWith = license.startsWith && durationWords(license.startsWith)
  return {
    status,
    displayKey,
    keyTypeId,
    quantity,
    expiresAt,
    startsWith,
    deviceLimit,
    seatsUsed,
    customerId,
    refundedAt,
    updatesUntil,
  }
}

const nothing: Facts = {
  status: null,
  displayKey: null,
  keyTypeId: null,
  quantity: null,
  expiresAt: null,
  startsWith: null,
  deviceLimit: null,
  seatsUsed: null,
  customerId: null,
  refundedAt: null,
  updatesUntil: null,
}

function seatIn(license: License, deviceId: string): Seat['status'] | null {
  return license.status === 'absent' ? null : (license.seats.get(deviceId)?.status ?? null)
}

/**
 * `€49.00`, from an amount in minor units. A currency that is not a code of three letters is written
 * unchanged.
 */
export function money(amount: number, currency: string): string {
  if (!/^[a-z]{3}$/i.test(currency)) return `${amount} ${currency}`
  const count = minorDigits(currency)
  const shown = { minimumFractionDigits: count, maximumFractionDigits: count }
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, ...shown })
  return format.format(amount / 10 ** count)
}

/** `1 year`, `30 days` */
export const durationWords = ({ count, unit }: Duration): string =>
  `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`

/** Of a key type or a license whose seats float: how long a seat lasts, what takes it, and how many there are above the limit. */
/** What people may do with named seats. */
export const namedWords = ({ devicesPerPerson, reassignEveryDays }: NamedSeats): string =>
  [
    `${devicesPerPerson} ${devicesPerPerson === 1 ? 'device' : 'devices'} a person`,
    ...(reassignEveryDays === 0 ? [] : [`reassigned after ${reassignEveryDays} days`]),
  ].join(', ')

export function floatingWords({
  seatSeconds,
  overdraft,
  scope,
  maxBorrowDays: days,
  maxBorrowed,
  relays,
}: FloatingSeats): string {
  const over = overdraft === null ? '' : `, ${overdraftWords(overdraft)} above the limit`
  const lent = days === undefined ? '' : `, ${maxBorrowed} borrowed for up to ${secondsWords(days * 86_400)}`
  const away = relays ? `, relays without renewal for up to ${secondsWords(relays.maxDays * 86_400)}` : ''
  return `for each ${scope}, ${secondsWords(seatSeconds)} after its last call${over}${lent}${away}`
}

/** Of a key type: what each period of its meters includes, and what happens to more; null without meters. */
export function metersWords({ meters = [] }: { meters?: readonly MeterTerms[] | undefined }): string | null {
  const words = meters.map((terms) => {
    const {
      meter,
      unit,
      included,
      period,
      overage,
      overageLimit,
      rollover,
      thresholds = usualThresholds,
    } = terms
    const per = period === 'license' ? 'in all' : `a ${period}`
    const more = { block: 'then blocked', allow: 'more is allowed', notify: 'more is allowed and notified' }
    const upTo = overageLimit === null ? '' : ` up to ${overageLimit}`
    const told = thresholds.length === 0 ? '' : `, announced at ${thresholds.join(', ')} %`
    return `${meter}: ${included} ${unit} ${per}, ${more[overage]}${upTo}${rollover ? ', rolls over' : ''}${told}`
  })
  return words.length === 0 ? null : words.join('; ')
}

const overdraftWords = (overdraft: NonNullable<FloatingSeats['overdraft']>): string =>
  'seats' in overdraft
    ? overdraft.seats.toLocaleString('en')
    : overdraft.share.toLocaleString('en', { style: 'percent', maximumFractionDigits: 4 })

/** A duration in the largest unit that divides it. */
export function secondsWords(count: number): string {
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ] as const
  const [length, unit] = units.find(([size]) => count % size === 0 && count >= size) ?? [1, 'second']
  const number = count / length
  return `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'}`
}
