/** Only the newest event of each slot counts: the state without the others is the same. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deviceSlots, ownSlots, slotOf } from '../../../src/domain/licenses/event-traits.ts'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import { absentLicense, evolveLicense, type License } from '../../../src/domain/licenses/license.ts'
import { activated, deactivated, events, linked, minted, reminted, renewed } from './license-samples.ts'

const evolved = (all: readonly LicenseEvent[]): License => all.reduce(evolveLicense, absentLicense)

const at = '2026-03-03T12:00:00.000Z'
const money = {
  saleId: 'cs_1',
  payment: 'first',
  cause: 'refund' as const,
  amount: 100,
  totalRefunded: 100,
  currency: 'usd',
  paidLeft: false,
  at,
}
const changed = {
  saleId: 'cs_1',
  keyTypeId: 'team',
  quantity: 3,
  deviceLimit: 15,
  onExpiry: 'fallback' as const,
  expiresAt: null,
  at,
}
const {
  saleId: _,
  at: __,
  ...edited
} = {
  ...changed,
  holder: { subjectId: 'sub_1', email: 'sealed.1.a.b', name: null },
  metadata: { order: '1' },
}
const sold = { keyTypeId: 'pro', quantity: 1, expiresAt: null }
/** Events that the other samples lack. */
const more = fc.constantFrom<LicenseEvent>(
  { type: 'LicenseRefunded', data: money },
  { type: 'LicenseReinstated', data: { saleId: 'cs_1', payments: ['first'], paidLeft: true, at } },
  { type: 'LicenseTermsChanged', data: changed },
  { type: 'LicenseTermsChanged', data: { ...changed, quantity: 2, expiresAt: at } },
  { type: 'SubscriptionEnded', data: { expiresAt: at, at } },
  { type: 'SeatsExhausted', data: { seats: 3, waiting: 1, at } },
  {
    type: 'UsageAdjusted',
    data: {
      ...{ meter: 'calls', unit: 'calls', meterRevision: 3, what: 'credit_added' as const },
      ...{ amount: '5', note: null, at },
    },
  },
  { type: 'LicenseExpiring', data: { expiresAt: at, daysBefore: 14, at } },
  { type: 'LicenseExpiring', data: { expiresAt: at, daysBefore: 3, at } },
  {
    type: 'LicenseRenewalFailed',
    data: { saleId: 'cs_1', paymentId: 'in_2', attempt: 1, nextAttemptAt: at, at },
  },
  { type: 'LicenseStarted', data: { expiresAt: at, sold: null, at } },
  { type: 'LicenseTermsChanged', data: { ...changed, startsWith: { count: 1, unit: 'year' } } },
  { type: 'SaleFollowed', data: { saleId: 'cs_1', through: 2, sold: null, at } },
  { type: 'SaleFollowed', data: { saleId: 'cs_1', through: 3, sold: { ...sold, quantity: 2 }, at } },
  { type: 'LicenseEdited', data: { ...edited, sold, reason: null, at } },
  { type: 'LicenseEdited', data: { ...edited, quantity: 4, sold: null, reason: 'a favor', at } },
  { type: 'LicenseSuspended', data: { reason: 'unpaid', at } },
  { type: 'LicenseResumed', data: { reason: null, at } },
  { type: 'ReasonGiven', data: { reason: 'lost laptop', at } },
  { type: 'KeyMailAsked', data: { keyHash: 'a'.repeat(64), at } },
  { type: 'RevocationUndone', data: { reason: null, at } },
  { type: 'ImportTakenBack', data: { reason: null, at } },
  { type: 'HolderErased', data: { at } },
  ...(['networks', 'hops', 'published_key'] as const).flatMap((rule) =>
    (['2026-03-03', '2026-03-04'] as const).flatMap((day) =>
      (['show', 'suspend'] as const).map(
        (action): LicenseEvent => ({
          type: 'LicenseSharingNoticed',
          data: { rule, count: 4, limit: 3, day, action, at },
        }),
      ),
    ),
  ),
  { type: 'LicenseSharingAllowed', data: { allowed: true, reason: null, at } },
  { type: 'LicenseSharingAllowed', data: { allowed: false, reason: 'moved on', at } },
)

/** The order of seats has no meaning. */
const comparable = (license: License) =>
  license.status === 'absent' ? license : { ...license, seats: Object.fromEntries(license.seats) }

function withoutOverwritten(all: readonly LicenseEvent[]): LicenseEvent[] {
  const newest = new Map(all.map((event, index) => [slotOf(event) ?? `event ${index}`, index]))
  return all.filter((event, index) => newest.get(slotOf(event) ?? `event ${index}`) === index)
}

test('any history leads to the same license without the overwritten events', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(events, more), { maxLength: 40 }), (later) => {
      const all = [minted({ expiresAt: null, startsWith: { count: 1, unit: 'month' } }), ...later]
      expect(comparable(evolved(withoutOverwritten(all)))).toStrictEqual(comparable(evolved(all)))
    }),
    { numRuns: 2000 },
  )
})

test('a device that was activated ten thousand times leaves three events to apply', () => {
  const visits = Array.from({ length: 10_000 }, () => [activated('laptop'), deactivated('laptop')]).flat()
  expect(withoutOverwritten([minted(), ...visits])).toStrictEqual([
    minted(),
    activated('laptop'),
    deactivated('laptop'),
  ])
})

test('every slot is one of a device or one that is known', () => {
  const slots = [activated('laptop'), deactivated('laptop'), renewed, reminted(true)].map(slotOf)
  expect([...deviceSlots('laptop'), ...ownSlots]).toEqual(expect.arrayContaining(slots))
  expect([minted(), reminted(false), linked('cus_1')].map(slotOf)).toStrictEqual([null, null, null])
})
