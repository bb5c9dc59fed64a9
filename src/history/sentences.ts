import type { EventOfEnd } from '../domain/deliveries/outbox.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import { changedMarks } from '../domain/licenses/marks.ts'
import { isOfUsage, sharerOf, type UsageEvent } from '../domain/licenses/metered.ts'
import { isOfPerson, type NamedEvent } from '../domain/licenses/named-events.ts'
import { isOfRelay, type RelayEvent } from '../domain/licenses/relay-seats.ts'
import { findingWords, isOfSharing, type SharingEvent } from '../domain/licenses/sharing.ts'
import type { Duration } from '../domain/products/key-type.ts'
import { durationWords, money } from './changes.ts'

/**
 * What happened, in words for a customer. What a customer did begins with a verb, for {@link happeningInWords}.
 * @param deviceName the name of the device, if known
 */
export function wordsOf(event: LicenseEvent, deviceName: string | null): string {
  if (isOfRelay(event)) return relayWords(event)
  if (isOfPerson(event)) return personSeatWords(event)
  if (isOfUsage(event)) return usageWords(event)
  if (isOfSharing(event)) return sharingWords(event)
  switch (event.type) {
    case 'LicenseMinted':
      return issuedWords[event.data.source]
    case 'LicenseImported':
      return 'Imported'
    case 'DeviceActivated':
      return `${quoted(event.data.name)} activated`
    case 'DeviceDeactivated':
      return deactivatedWords(event.data, quoted(deviceName ?? event.data.deviceId))
    case 'LicenseReminted':
      return `Reminted; ${event.data.keepDevices ? 'its devices kept their seats' : 'all seats were freed'}`
    case 'LicenseRevoked':
      return withReason('Revoked', event.data)
    case 'CustomerLinked':
    case 'CustomerUnlinked':
      return linkWords(event)
    case 'LicenseRenewed':
      return `Renewed until ${momentWords(event.data.expiresAt)}`
    case 'LicenseStarted':
      return `Term started with the first activation; expires on ${momentWords(event.data.expiresAt)}`
    case 'LicenseRenewalFailed':
    case 'LicenseExpiring':
    case 'LicenseExpired':
    case 'LicenseFellBack':
      return endWords(event)
    case 'LicenseRefunded':
      return refundWords(event.data)
    case 'SeatsExhausted':
      return `No floating seat was left: ${event.data.seats} taken, ${event.data.waiting} waiting`
    case 'LicenseReinstated':
      return event.data.paidLeft ? 'Reinstated: the payment is valid again' : 'A payment is valid again'
    case 'LicenseTermsChanged':
      return `Changed to ${event.data.keyTypeId}, quantity ${event.data.quantity}; ${termWords(event.data)}`
    case 'UpdatesExtended':
      return `Updates extended until ${momentWords(event.data.updatesUntil)}`
    case 'LicenseEdited':
      return withReason('Edited', event.data)
    case 'LicenseSuspended':
    case 'LicenseResumed':
      return withReason(event.type === 'LicenseSuspended' ? 'Suspended' : 'Resumed', event.data)
    case 'SubscriptionEnded':
      return `Subscription ended; expires on ${momentWords(event.data.expiresAt)}`
    case 'SaleFollowed':
      return 'Synchronized with its sale'
    case 'ReasonGiven':
      return `Reason: ${event.data.reason}`
    case 'KeyMailAsked':
      return 'Key email requested'
    case 'SeatFreedByCustomer':
      return `Freed the seat of ${quoted(deviceName ?? event.data.deviceId)}`
    case 'DeviceIdentified':
      return identifiedWords(event.data)
    case 'DeviceInTwoPlaces':
      return `Two machines with one hash use the seat of ${quoted(deviceName ?? event.data.deviceId)}`
    case 'DeviceNamed':
      return namedWords(event.data, quoted(deviceName ?? event.data.deviceId))
    case 'LicenseFileIssued':
      return `License file for ${quoted(deviceName ?? event.data.deviceId)}, good until ${momentWords(event.data.endsAt)}`
    case 'LicenseFileReleased':
      return `${quoted(deviceName ?? event.data.deviceId)} gave its license file back`
    case 'HolderErased':
      return 'License holder erased'
    case 'RevocationUndone':
      return withReason('Reinstated', event.data)
    case 'ImportTakenBack':
      return withReason('Import taken back', event.data)
  }
}

function personSeatWords({ type, data }: NamedEvent): string {
  const { personId } = data
  if (type === 'SeatAssigned') return `Seat given to ${personId}`
  if (type === 'PersonalKeyReplaced') return `New key for ${personId}`
  const { waitsUntil } = data
  return `Seat taken from ${personId}${waitsUntil === undefined ? '' : `; another person may have it from ${momentWords(waitsUntil)}`}`
}

function relayWords(event: RelayEvent): string {
  const relay = `Relay ${quoted(event.data.name)}`
  switch (event.type) {
    case 'RelayEnrolled':
    case 'RelayRenewed': {
      const { seats, endsAt } = event.data
      const done = event.type === 'RelayEnrolled' ? 'enrolled' : 'renewed'
      return `${relay} ${done} with ${seatWords(seats)}, until ${momentWords(endsAt)}`
    }
    case 'RelayReleased':
      return `${relay} gave its seats back`
    case 'RelayForked':
      return `${relay} was copied, and is not renewed any more`
  }
}

function usageWords(event: UsageEvent): string {
  const { type, data } = event
  const { unit } = data
  const meter = sharerOf(event) === undefined ? data.meter : `${data.meter} of all licenses of the customer`
  switch (type) {
    case 'UsageThresholdReached':
      return `${meter} reached ${data.percent} %: ${data.used} ${unit} used, ${data.remaining} left`
    case 'UsagePeriodClosed': {
      const beyond = data.overage === '0' ? '' : `, ${data.overage} of them beyond what there was`
      return `${meter}: period from ${momentWords(data.startsAt)} to ${momentWords(data.endedAt)} closed with ${data.used} ${unit}${beyond}`
    }
    case 'UsageAdjusted':
      return adjustedWords(data)
  }
}

function adjustedWords(data: Extract<UsageEvent, { type: 'UsageAdjusted' }>['data']): string {
  const { meter, unit, what, amount, note } = data
  switch (what) {
    case 'credit_added':
      return `Credit of ${amount} ${unit} added to ${meter}${note === null ? '' : `, order ${note}`}`
    case 'credit_withdrawn':
      return withReason(`Credit of ${meter} withdrawn`, { reason: note })
    case 'use_corrected':
      return withReason(`Use of ${meter} corrected by ${amount} ${unit}`, { reason: note })
  }
}

const sharingWords = (event: SharingEvent): string =>
  event.type === 'LicenseSharingNoticed'
    ? `Looks shared: ${findingWords(event.data)}`
    : withReason(event.data.allowed ? 'Use allowed as it is' : 'Use watched again', event.data)

const seatWords = (seats: number): string => (seats === 1 ? '1 seat' : `${seats} seats`)

const namedWords = ({ name }: { name: object | null }, device: string): string =>
  name === null ? `Removed the name of ${device}` : `Renamed ${device}`

const deactivatedWords = ({ ranOut }: { ranOut?: true | undefined }, device: string): string =>
  ranOut ? `Floating seat of ${device} ran out` : `${device} deactivated`

function identifiedWords({
  marks,
  before,
}: Extract<LicenseEvent, { type: 'DeviceIdentified' }>['data']): string {
  const changed = changedMarks(before, marks)
  if (before === null || (before.identity === null && marks.identity !== null)) {
    return `${quoted(marks.name)} identified by ${inWords(changed.filter((mark) => mark !== 'name'))}`
  }
  if (before.name !== marks.name) {
    const others = changed.filter((mark) => mark !== 'name')
    const more = others.length > 0 ? `, with another ${inWords(others)}` : ''
    return `${quoted(before.name)} is called ${quoted(marks.name)} now${more}`
  }
  return changed.length > 0
    ? `${quoted(marks.name)} has another ${inWords(changed)}`
    : `${quoted(marks.name)} recognized again`
}

/** `board, disk and mac` */
export const inWords = (marks: readonly string[]): string => new Intl.ListFormat('en-GB').format(marks)

const withReason = (what: string, { reason }: { reason: string | null }): string =>
  reason === null ? what : `${what}: ${reason}`

function refundWords(refund: Extract<LicenseEvent, { type: 'LicenseRefunded' }>['data']): string {
  const { cause, amount, totalRefunded, currency, paidLeft } = refund
  const what = cause === 'refund' ? 'Payment refunded' : 'Payment lost in a dispute'
  const all = totalRefunded === amount ? '' : ` (${money(totalRefunded, currency)} in total)`
  return `${what}: ${money(amount, currency)}${all}${paidLeft ? '; the paid period was removed' : ''}`
}

function endWords({ type, data }: EventOfEnd): string {
  switch (type) {
    case 'LicenseRenewalFailed':
      return failureWords(data)
    case 'LicenseExpiring':
      return noticeWords(data)
    case 'LicenseFellBack':
      return 'Paid period ended; the fallback entitlements apply'
    case 'LicenseExpired':
      return data.graceUntil === undefined ? 'Expired' : 'Expired, after its grace'
  }
}

const failureWords = ({ nextAttemptAt }: { nextAttemptAt: string | null }): string =>
  `Payment for the renewal failed${nextAttemptAt === null ? '' : `; next attempt on ${momentWords(nextAttemptAt)}`}`

const noticeWords = ({ daysBefore: count, expiresAt }: { daysBefore: number; expiresAt: string }): string =>
  `Notice ${durationWords({ count, unit: 'day' })} before its end: expires on ${momentWords(expiresAt)}`

/** When a license ends, as the end of a sentence about it. */
export const termWords = ({
  expiresAt,
  startsWith,
}: {
  expiresAt: string | null
  startsWith?: Duration | null | undefined
}): string => {
  if (expiresAt !== null) return `expires on ${momentWords(expiresAt)}`
  return startsWith ? `expires ${undatedEnd(startsWith)}` : 'never expires'
}

/** When a license without an expiry ends: `never`, or `1 year after the first activation`. */
export const undatedEnd = (startsWith: Duration | null | undefined): string =>
  startsWith ? `${durationWords(startsWith)} after the first activation` : 'never'

const issuedWords = {
  api: 'Issued',
  import: 'Imported',
  sale: 'Issued for a sale',
  test: 'Issued for a test purchase',
}

export const quoted = (name: string): string => `“${name}”`

/** `2026-11-21 09:30:00 UTC` */
export const momentWords = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`

function linkWords(event: Extract<LicenseEvent, { type: 'CustomerLinked' | 'CustomerUnlinked' }>): string {
  if (event.type === 'CustomerUnlinked') return `Unlinked from the customer ${event.data.customerId}`
  const { customerId, byAddress, mergedFrom, unmerged } = event.data
  if (mergedFrom !== undefined)
    return `Moved to the customer ${customerId}, into whom ${mergedFrom} was merged`
  if (unmerged) return `Moved back to the customer ${customerId}, whose merge was undone`
  return `Linked to the customer ${customerId}${byAddress ? ' with its email address' : ''}`
}
