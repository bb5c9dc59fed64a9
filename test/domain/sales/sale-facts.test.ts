/** The facts of a sale lead to the same status in any order and with any repetition. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SaleFact } from '../../../src/domain/sales/events.ts'
import { isNew, noFacts, withFact } from '../../../src/domain/sales/facts.ts'
import { paymentStatusOf, type SaleRules } from '../../../src/domain/sales/status.ts'
import { at } from '../licenses/license-samples.ts'
import { anyFact, disputed, ended, named, refunded, renewed, subscription } from './sale-samples.ts'

const april = '2026-04-01T12:00:00.000Z'
const sold = {
  links: ['sale:cs_1', 'payment:pi_1', 'subscription:sub_1'],
  amount: 4900,
  currency: 'usd',
  soldAt: at,
  paidUntil: null as string | null,
  firstExpiresAt: april as string | null,
}
const may = '2026-05-01T12:00:00.000Z'
const june = '2026-06-01T12:00:00.000Z'

const factsOf = (facts: readonly SaleFact[]) => facts.reduce(withFact, noFacts)

test('the order and the repetition of facts have no effect', () =>
  fc.assert(
    fc.property(
      fc.array(anyFact, { maxLength: 8 }).chain((facts) =>
        fc.tuple(
          fc.constant(facts),
          fc.shuffledSubarray([...facts, ...facts], {
            minLength: facts.length * 2,
            maxLength: facts.length * 2,
          }),
        ),
      ),
      ([given, repeated]) => {
        const facts = factsOf(given)
        expect(factsOf(repeated)).toStrictEqual(facts)
        for (const fact of given) expect(isNew(facts, fact)).toBe(false)
      },
    ),
    { numRuns: 1000 },
  ))

/** The payment status, for a license until April unless `own` sets something else. */
const statusFrom = (facts: readonly SaleFact[], own: Partial<typeof sold> = {}, rules?: SaleRules) =>
  paymentStatusOf({ ...sold, ...own }, factsOf(facts), rules)

const inApril = '2026-04-01T12:00:05.000Z'
const of = (payment: string) => ({ payment })

describe('a returned payment', () => {
  const whole = [{ payment: 'first', because: 'refund', amount: 4900, totalRefunded: 4900, currency: 'usd' }]

  test.each<[string, SaleFact[]]>([
    ['in part', [refunded('re_1', 1000)]],
    ['in parts that are less than what was paid', [refunded('re_1', 1000), refunded('re_2', 3899)]],
    ['in another currency', [refunded('re_1', 4900, { currency: 'eur' })]],
    ['of a payment that is not known', [refunded('re_1', 4900, { ...of('payment:pi_9'), full: true })]],
    [
      'in parts that are reported as totals',
      [refunded('c.2000', 2000, { cumulative: true }), refunded('c.3000', 3000, { cumulative: true })],
    ],
    ['in a dispute that is open', [disputed('SaleDisputed')]],
    ['in a dispute that was won', [disputed('DisputeLost'), disputed('DisputeWon')]],
  ])('%s leaves what was paid', (_, facts) => {
    expect(statusFrom(facts)).toMatchObject({ refunded: [], unpaid: null, expiresAt: undefined })
  })

  test('marked as full by the provider, or in parts that add up, is a full refund', () => {
    expect(statusFrom([refunded('re_1', 4900, { full: true })])).toMatchObject({
      refunded: whole,
      unpaid: 'refund',
    })
    const parts = [refunded('re_1', 1000), refunded('re_2', 3900)]
    expect(statusFrom(parts)).toMatchObject({
      refunded: [{ amount: 3900, totalRefunded: 4900 }],
      unpaid: 'refund',
    })
    const inAll = [
      refunded('c.1000', 1000, { cumulative: true }),
      refunded('c.4900', 4900, { cumulative: true }),
    ]
    expect(statusFrom(inAll)).toMatchObject({
      refunded: [{ amount: 3900, totalRefunded: 4900 }],
      unpaid: 'refund',
    })
  })

  test('by a lost dispute leaves no payment, regardless of another dispute', () => {
    expect(statusFrom([disputed('SaleDisputed'), disputed('DisputeLost')])).toMatchObject({
      refunded: [{ because: 'dispute', amount: 4900 }],
      unpaid: 'dispute',
    })
    expect(statusFrom([disputed('DisputeWon', 'dp_1'), disputed('DisputeLost', 'dp_2')])).toMatchObject({
      unpaid: 'dispute',
    })
    const both = [refunded('re_1', 4900, { full: true }), disputed('DisputeWon')]
    expect(statusFrom(both)).toMatchObject({ refunded: whole, unpaid: 'refund' })
  })

  test('is of the payment that any of its names names', () => {
    const facts = [refunded('re_1', 4900, of('payment:pi_7')), named(['payment:pi_7', 'invoice:in_0'])]
    expect(statusFrom(facts)).toMatchObject({ unpaid: null })
    expect(statusFrom([...facts, named(['invoice:in_0', 'charge:1'], true)])).toMatchObject({
      unpaid: 'refund',
    })
    const ofRenewal = [...facts, named(['invoice:in_0', 'invoice:in_1']), renewed('in_1', may)]
    expect(statusFrom(ofRenewal)).toMatchObject({
      refunded: [{ payment: 'in_1' }],
      unpaid: null,
      expiresAt: april,
    })
  })

  test('by a refund of the whole sale includes every earlier payment', () => {
    const old = refunded('re_1', 100, { payment: null, full: true })
    expect(statusFrom([old])).toMatchObject({ unpaid: 'refund' })
    const later = renewed('in_1', may)
    const paidLater = { ...later, data: { ...later.data, occurredAt: inApril } } as SaleFact
    expect(statusFrom([old, paidLater])).toMatchObject({ unpaid: null, expiresAt: may })
    expect(statusFrom([disputed('DisputeLost', 'dp_1', null)])).toMatchObject({ unpaid: 'dispute' })
  })
})

describe('the period of a payment', () => {
  const refundOf = (paymentId: string, amount = 4900) =>
    refunded(`re_${paymentId}`, amount, of(paymentId === 'first' ? 'payment:pi_1' : `invoice:${paymentId}`))

  test.each<[string, SaleFact[], string | null | undefined]>([
    ['is as the license was issued when nothing is reported', [], undefined],
    ['runs as long as the last renewal', [renewed('in_2', june), renewed('in_1', may)], june],
    ['never makes the license shorter', [renewed('in_1', '2026-03-15T00:00:00.000Z')], april],
    ['ends with what is paid', [renewed('in_1', may), ended(null)], may],
    ['ends when the end says so', [ended(may)], may],
    ['is renewed by a payment that comes after the end', [ended(may), renewed('in_2', june)], june],
    ['is reported for the first payment', [named(['invoice:in_0'], true, may)], may],
  ])('%s', (_, facts, expiresAt) => {
    expect(statusFrom(facts)).toMatchObject({ refunded: [], unpaid: null, expiresAt })
  })

  test.each<[string, SaleFact[], string]>([
    ['of the last renewal', [renewed('in_1', may), renewed('in_2', june), refundOf('in_2')], may],
    ['of a renewal in the middle', [renewed('in_1', may), renewed('in_2', june), refundOf('in_1')], june],
    ['of the only renewal', [renewed('in_1', may), refundOf('in_1')], april],
    ['of the first payment', [renewed('in_1', may), refundOf('first')], may],
    ['in a lost dispute', [renewed('in_1', may), disputed('DisputeLost', 'dp_1', 'invoice:in_1')], april],
    [
      'of the last renewal, whose end the subscription reported',
      [renewed('in_1', may), renewed('in_2', june), refundOf('in_2'), ended(june)],
      may,
    ],
  ])('is taken back with the money %s', (_, facts, expiresAt) => {
    expect(statusFrom(facts)).toMatchObject({ refunded: [{}], unpaid: null, expiresAt })
  })

  test('stays with a license that its product keeps', () => {
    const facts = [renewed('in_1', may), refundOf('in_1')]
    expect(statusFrom(facts, {}, { keepRefunded: true })).toMatchObject({
      refunded: [{ payment: 'in_1' }],
      expiresAt: may,
    })
  })

  test('ends when all payments are returned', () => {
    const facts = [renewed('in_1', may), refundOf('first'), refundOf('in_1')]
    expect(statusFrom(facts)).toMatchObject({
      refunded: [{ totalRefunded: 9800 }, { totalRefunded: 9800 }],
      unpaid: 'refund',
      expiresAt: may,
    })
    const free = [renewed('in_1', may), refundOf('in_1')]
    expect(statusFrom(free, { amount: 0 })).toMatchObject({ unpaid: 'refund' })
    expect(statusFrom([...free, renewed('in_2', june)], { amount: 0 })).toMatchObject({ unpaid: null })
  })

  test('gives no expiry to a perpetual license until the subscription ends or the period is returned', () => {
    const perpetual = { firstExpiresAt: null }
    const facts = [renewed('in_1', may), renewed('in_2', june)]
    expect(statusFrom(facts, perpetual)).toMatchObject({ expiresAt: null })
    expect(statusFrom([...facts, refundOf('in_2')], perpetual)).toMatchObject({ expiresAt: may })
    expect(statusFrom([...facts, refundOf('in_1')], perpetual)).toMatchObject({ expiresAt: null })
    expect(statusFrom([renewed('in_1', may), ended(null)], perpetual)).toMatchObject({ expiresAt: may })
    const atOnce = ended(null)
    expect(statusFrom([atOnce], perpetual)).toMatchObject({ expiresAt: atOnce.data.occurredAt })
  })
})

describe('a subscription with a fixed number of payments, all of them made', () => {
  const paidOff = ended(june, { paidInFull: true })
  const installments = [renewed('in_1', may), renewed('in_2', june)]
  const perpetual = { firstExpiresAt: null, paidUntil: april }
  const choosing = (onPaidInFull: SaleRules['onPaidInFull']) => ({ keepRefunded: false, onPaidInFull })

  test('leaves a perpetual license as it is, and lets another one expire with the last period', () => {
    const facts = [...installments, paidOff]
    expect(statusFrom(facts, perpetual)).toMatchObject({ expiresAt: null, hasEnded: false })
    expect(statusFrom(facts)).toMatchObject({ expiresAt: june, hasEnded: true })
  })

  test('does what the product chooses', () => {
    const facts = [...installments, paidOff]
    expect(statusFrom(facts, perpetual, choosing('expire'))).toMatchObject({ expiresAt: june })
    expect(statusFrom(facts, {}, choosing('keep'))).toMatchObject({ expiresAt: null, hasEnded: false })
    expect(statusFrom(facts, {}, choosing('by_key_type'))).toMatchObject({ expiresAt: june })
  })

  test('is not paid in full once one of the payments was returned, unless its product keeps refunded licenses', () => {
    const refund = refunded('re_1', 4900, { ...of('invoice:in_2'), full: true })
    const facts = [...installments, refund, paidOff]
    expect(statusFrom(facts, perpetual)).toMatchObject({ expiresAt: may, hasEnded: true })
    expect(statusFrom(facts, perpetual, { keepRefunded: true })).toMatchObject({ expiresAt: null })
  })

  test('ends a license whose last end was another one', () => {
    const cancelled = ended(june)
    expect(statusFrom([...installments, cancelled], perpetual)).toMatchObject({ expiresAt: june })
  })
})

describe('a subscription that reports its own paid period', () => {
  const paidInApril = (own: object = {}) => {
    const fact = renewed('77', null)
    return { ...fact, data: { ...fact.data, occurredAt: inApril, ...own } } as SaleFact
  }
  const until = (paidUntil: string) => subscription(at, { paidUntil })

  test('is renewed from the second period on', () => {
    expect(statusFrom([until(april)])).toMatchObject({ expiresAt: april, isRenewed: false })
    expect(statusFrom([until(april), until(may)])).toMatchObject({ expiresAt: may, isRenewed: true })
    expect(statusFrom([until(april), paidInApril(), until(may)])).toMatchObject({
      expiresAt: may,
      isRenewed: true,
    })
  })

  test('loses the period of the payment that was refunded', () => {
    const facts = [until(april), until(may), paidInApril(), refunded('re_1', 4900, of('invoice:77'))]
    expect(statusFrom(facts)).toMatchObject({ unpaid: null, expiresAt: april })
    expect(statusFrom(facts.slice(1))).toMatchObject({ unpaid: null, expiresAt: april })
  })

  test('counts as paid though no payment is known', () => {
    const facts = [until(april), until(may), refunded('re_1', 4900, { full: true })]
    expect(statusFrom(facts)).toMatchObject({ unpaid: null, expiresAt: may })
  })
})

describe('a subscription that was paused', () => {
  const paused = (isPaused: boolean, moment: string) => subscription(moment, { paused: isPaused })

  test('runs until the end of what is paid, and on when it is resumed', () => {
    const perpetual = { firstExpiresAt: null, paidUntil: april }
    expect(statusFrom([paused(true, at)], perpetual)).toMatchObject({ expiresAt: april, unpaid: null })
    expect(statusFrom([paused(false, inApril), paused(true, at)], perpetual)).toMatchObject({
      expiresAt: null,
    })
    expect(statusFrom([paused(true, at), renewed('in_1', may)])).toMatchObject({ expiresAt: may })
  })

  test('changes nothing when the end of the paid period is unknown', () => {
    expect(statusFrom([paused(true, at)], { firstExpiresAt: null })).toMatchObject({ expiresAt: null })
  })
})

describe('of what a subscription was changed to', () => {
  const plan = (providerProduct: string, moment: string) =>
    subscription(moment, { sold: { providerProduct } })

  test('the latest counts, by the time of the provider', () => {
    const facts = factsOf([
      plan('b', may),
      plan('a', april),
      subscription(may, { quantity: 3 }),
      subscription(april, { quantity: 5 }),
    ])
    expect(facts.plans.map(({ sold: item }) => item)).toStrictEqual([
      { providerProduct: 'a' },
      { providerProduct: 'b' },
    ])
    expect(facts.quantity).toStrictEqual({ quantity: 3, at: may })
  })

  test('one that it was changed back to is the latest', () => {
    const facts = factsOf([plan('a', april), plan('b', may), plan('a', june)])
    expect(facts.plans.at(-1)).toStrictEqual({ sold: { providerProduct: 'a' }, at: june })
  })
})
