// Guarantee: the checks of the chaos test find lost and duplicated changes, exceeded limits, and missing and late
// deliveries; and they report nothing for a correct run.
import { expect, test } from 'vitest'
import { checkAcknowledged } from './acknowledged-checks.ts'
import type { Arrival } from './arrivals.ts'
import { checkAttempts, checkDelivered, checkEnded, checkOrder } from './delivery-checks.ts'
import { checkLog, checkPrefix } from './log-checks.ts'
import {
  expectedDuring,
  expectedOf,
  type License,
  newLicense,
  noteActivation,
  noteDeactivation,
} from './model.ts'
import type { LogLine } from './operator-commands.ts'

type Event = [type: string, data?: Record<string, unknown>, publicName?: string]

/** A log of one stream. */
function logOf(stream: string, ...events: Event[]): LogLine[] {
  return events.map(([type, data = {}, publicName], revision) => ({
    id: `${stream}/${revision}`,
    stream,
    revision,
    position: String(revision * 100),
    type,
    data: { tenantId: 'acme', ...data },
    requestId: 'req_test',
    publicName: publicName ?? null,
  }))
}

const minted: Event = ['LicenseMinted', { licenseId: 'lic_1', source: 'api' }]
const on = (deviceId: string): Event => ['DeviceActivated', { deviceId }, 'license.activated']
const off = (deviceId: string): Event => ['DeviceDeactivated', { deviceId }, 'license.deactivated']
const licenseLog = (...events: Event[]) => logOf('license-lic_1', minted, ...events)

/** A license of which only the mint was acknowledged. */
const fresh = () => newLicense('lic_1', 'KEY', 'acme')
function seatOf(license: License, name: string) {
  const seat = license.seats.find(({ deviceId }) => deviceId === name)
  if (!seat) throw new Error(`no ${name}`)
  return seat
}
const known = (...licenses: License[]) => ({ licenses, sales: [], refunded: [] })
const found = (violations: readonly { found: string }[]) => violations.map((one) => one.found)

test('no violation when everything is as acknowledged', () => {
  const license = fresh()
  noteActivation(seatOf(license, 'laptop'), 'done')
  noteDeactivation(seatOf(license, 'laptop'), 'done')
  noteActivation(seatOf(license, 'phone'), 'unknown')
  const log = licenseLog(on('laptop'), off('laptop'))
  expect([...checkLog(log), ...checkAcknowledged(known(license), log)]).toStrictEqual([])
})

test('a missing acknowledged mint, and a license that was not requested', () => {
  expect(found(checkAcknowledged(known(fresh()), []))).toStrictEqual(['missing'])
  expect(found(checkAcknowledged(known(), licenseLog()))).toStrictEqual(['a license that no answer named'])
})

test('a missing acknowledged activation, and one recorded twice', () => {
  const license = fresh()
  noteActivation(seatOf(license, 'laptop'), 'done')
  expect(found(checkAcknowledged(known(license), licenseLog()))).toStrictEqual([
    'acknowledged as active, recorded as not active',
    '0 activations recorded, 1 to 1 expected',
  ])
  expect(found(checkLog(licenseLog(on('laptop'), on('laptop'))))).toStrictEqual(['revision 2'])
})

test('after a lost response, the outcome is unknown', () => {
  for (const events of [[], [on('laptop')]]) {
    const license = fresh()
    const seat = seatOf(license, 'laptop')
    noteActivation(seat, 'unknown')
    expect(expectedOf(license, seat)).toBe('either')
    expect(checkAcknowledged(known(license), licenseLog(...events))).toStrictEqual([])
    // The command may still be executed at any time.
    expect(expectedOf(license, seat)).toBe('either')
  }
})

test('more devices than seats, and an activation after the revocation', () => {
  expect(found(checkLog(licenseLog(on('a'), on('b'), on('c'))))).toStrictEqual(['3 at 3'])
  expect(found(checkLog(licenseLog(['LicenseRevoked'], on('a'))))).toStrictEqual(['1'])
})

test('a revoked key is never valid after the response', () => {
  const license = fresh()
  const seat = seatOf(license, 'laptop')
  noteActivation(seat, 'done')
  expect(expectedOf(license, seat)).toBe('valid')
  license.revocation = 'requested'
  expect(expectedOf(license, seat)).toBe('either')
  license.revocation = 'acknowledged'
  expect(expectedOf(license, seat)).toBe('invalid')
  // A validate that began earlier may have been answered earlier.
  expect(expectedDuring('either', 'invalid')).toBe('either')
  expect(found(checkAcknowledged(known(license), licenseLog(on('laptop'))))).toStrictEqual(['0'])
})

test('a sale with two licenses or none, and a refund without effect', () => {
  const sold: Event = ['LicenseMinted', { licenseId: 'lic_1', source: 'sale', saleId: 'cs_1' }]
  const bought = { licenses: [], sales: ['cs_1'], refunded: [] }
  const once = logOf('license-lic_1', sold)
  expect(checkAcknowledged(bought, once)).toStrictEqual([])
  expect(found(checkAcknowledged(bought, []))).toStrictEqual(['0'])
  expect(found(checkAcknowledged(bought, [...once, ...logOf('license-lic_2', sold)]))).toStrictEqual(['2'])
  const refunded = { ...bought, refunded: ['cs_1'] }
  expect(found(checkAcknowledged(refunded, once))).toStrictEqual(['0', 'false'])
})

test('a log without its end, or without an event in the middle', () => {
  const log = licenseLog(on('a'), off('a'))
  expect(checkPrefix(log, [...log, ...logOf('license-lic_2', minted)])).toStrictEqual([])
  expect(checkPrefix(log, log.slice(0, 2))).toHaveLength(1)
  expect(checkPrefix(log, log.toSpliced(1, 1))).toHaveLength(1)
  expect(found(checkLog(log.toSpliced(1, 1)))).toContain('0,2')
})

test('a confirmation that was used and never executed', () => {
  const consumed: Event = ['ConfirmationConsumed']
  expect(checkLog(logOf('confirmation-1', consumed, ['ConfirmationExecuted']))).toStrictEqual([])
  expect(found(checkLog(logOf('confirmation-1', consumed)))).toStrictEqual(['1 consumed, 0 executed'])
})

test('a delivery that continues after its end', () => {
  const tried: Event = ['DeliveryAttempted', { attempt: 1 }]
  const again: Event = ['DeliveryAttempted', { attempt: 2 }]
  const done: Event = ['DeliverySucceeded']
  expect(checkLog(logOf('delivery-1', tried, done, ['RedeliveryAsked'], again, done))).toStrictEqual([])
  expect(found(checkLog(logOf('delivery-1', tried, done, again)))).toStrictEqual(['DeliveryAttempted'])
})

test('an event without a webhook, one under two ids, and a webhook without an event', () => {
  const log = licenseLog(on('laptop'))
  const arrival = (id: string, sequence: number, license_id = 'lic_1'): Arrival => ({
    at: 0,
    path: '/acme',
    verified: true,
    payload: { id, event: 'license.activated', license_id, sequence },
  })
  expect(checkDelivered([arrival('one', 1), arrival('one', 1)], log)).toStrictEqual([])
  expect(found(checkDelivered([], log))).toStrictEqual([''])
  expect(found(checkDelivered([arrival('one', 1), arrival('two', 1)], log))).toStrictEqual([
    '1 license.activated under 2 ids',
  ])
  expect(found(checkDelivered([arrival('one', 1), arrival('x', 1, 'lic_9')], log))).toStrictEqual([
    'one of nothing',
  ])
})

test('a request that is no attempt in the log', () => {
  const payload = { id: '1', event: 'license.activated', license_id: 'lic_1', sequence: 1 }
  const arrival: Arrival = { at: 0, path: '/acme', verified: true, payload }
  const tried: Event = ['DeliveryAttempted', { attempt: 1 }]
  const cutOff: Event = ['DeliveryAttemptInterrupted', { attempt: 1 }]
  const again: Event = ['DeliveryAttempted', { attempt: 2 }]
  const log = logOf('delivery-1', cutOff, again)
  expect(checkLog(log)).toStrictEqual([])
  expect(checkAttempts([arrival], log)).toStrictEqual([])
  expect(checkAttempts([arrival, arrival], log)).toStrictEqual([])
  expect(found(checkAttempts([arrival, arrival], logOf('delivery-1', tried)))).toStrictEqual([
    '1 for 2 requests',
  ])
  expect(found(checkAttempts([arrival], []))).toStrictEqual(['0 for 1 requests'])
})

test('events of a license that came in another order, unless one before them was abandoned', () => {
  const arrival = (sequence: number, license_id = 'lic_1'): Arrival => ({
    at: 0,
    path: '/acme',
    payload: { id: `${license_id}-${sequence}`, event: 'license.activated', license_id, sequence },
  })
  const inOrder = [arrival(1), arrival(5, 'lic_2'), arrival(2), arrival(1), arrival(3)]
  expect(checkOrder(inOrder, [])).toStrictEqual([])
  const swapped = [arrival(1), arrival(3), arrival(2), arrival(3)]
  expect(found(checkOrder(swapped, []))).toStrictEqual(['1, 3, 2'])
  expect(checkOrder(swapped, logOf('delivery-lic_1-2', ['DeliveryAbandoned']))).toStrictEqual([])
  expect(
    checkOrder(swapped, logOf('delivery-lic_1-3', ['RedeliveryAsked'], ['DeliveryAttempted'])),
  ).toStrictEqual([])
  const late = logOf('delivery-lic_1-3', ['DeliveryAttempted'], ['RedeliveryAsked'])
  expect(found(checkOrder(swapped, late))).toStrictEqual(['1, 3, 2'])
})

test('a delivery to a removed webhook', () => {
  const arrival: Arrival = { at: 50_000, path: '/brief/1', payload: {} }
  expect(checkEnded([arrival], [{ path: '/brief/1', at: 45_000 }], 10_000)).toStrictEqual([])
  expect(checkEnded([arrival], [{ path: '/brief/1', at: 30_000 }], 10_000)).toHaveLength(1)
})
