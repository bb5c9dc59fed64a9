/**
 * Guarantee: a renewal whose payment failed is to be paid until that payment succeeds, or a later one covers its period, or the
 * subscription ends. Its attempts are one failure. It changes nothing that was paid for.
 */
import { describe, expect, test } from 'vitest'
import type { SaleEvent, SaleFact } from '../../../src/domain/sales/events.ts'
import { noFacts, withFact } from '../../../src/domain/sales/facts.ts'
import { unpaidRenewals } from '../../../src/domain/sales/renewals.ts'
import { absentSale, decideSale, evolveSale, failedRenewalsOf } from '../../../src/domain/sales/sale.ts'
import { paymentStatusOf } from '../../../src/domain/sales/status.ts'
import { givenOn } from '../given.ts'
import { at, end, later, nextEnd } from '../licenses/license-samples.ts'
import { ended, received, renewalFailed, renewed, subscription } from './sale-samples.ts'

const given = givenOn({ initial: absentSale, decide: decideSale, evolve: evolveSale })
const first = { links: ['sale:cs_1', 'subscription:sub_1'], amount: 4900, currency: 'usd', soldAt: at }
const factsOf = (facts: readonly SaleFact[]) => facts.reduce(withFact, noFacts)
const unpaid = (...facts: SaleFact[]) =>
  unpaidRenewals({ ...first, paidUntil: end }, factsOf(facts)).map(({ paymentId }) => paymentId)

describe('a failed renewal', () => {
  test('is to be paid, with the number of attempts and the time of the next one', () => {
    const attempts = [
      renewalFailed('in_2', { attempt: 2, nextAttemptAt: null, occurredAt: later }),
      renewalFailed('in_2', { attempt: 1, nextAttemptAt: later }),
    ]
    const [failure, ...others] = unpaidRenewals({ ...first, paidUntil: end }, factsOf(attempts))
    expect(failure).toStrictEqual({
      paymentId: 'in_2',
      periodEnd: nextEnd,
      attempt: 2,
      nextAttemptAt: null,
      failedAt: at,
    })
    expect(others).toStrictEqual([])
  })

  test.each<[string, SaleFact[]]>([
    ['its payment succeeds', [renewed('in_2', nextEnd)]],
    ['its payment succeeds, and its period is not known', [renewed('in_2', null)]],
    ['another payment covers its period', [renewed('in_3', nextEnd)]],
    ['its subscription ends', [ended(end)]],
  ])('is no longer to be paid when %s, in either order', (_, facts) => {
    expect(unpaid(renewalFailed('in_2'), ...facts)).toStrictEqual([])
    expect(unpaid(...facts, renewalFailed('in_2'))).toStrictEqual([])
  })

  test.each<[string, SaleFact[]]>([
    ['an earlier period was paid', [renewed('in_1', end)]],
    ['another plan was chosen', [subscription(later, { sold: { providerProduct: 'price_2' } })]],
  ])('is still to be paid when %s', (_, facts) =>
    expect(unpaid(renewalFailed('in_2'), ...facts)).toStrictEqual(['in_2']),
  )

  test('of a period that was paid for at first is none: the payment was for something else', () =>
    expect(unpaid(renewalFailed('sub_1.april', { periodEnd: end }))).toStrictEqual([]))

  test('without a period ends with any later payment, and not with one before it', () => {
    const failed = renewalFailed('77', { periodEnd: null, occurredAt: later })
    const paidAt = (paymentId: string, occurredAt: string): SaleFact => {
      const fact = renewed(paymentId, null)
      return fact.type === 'SaleRenewed' ? { ...fact, data: { ...fact.data, occurredAt } } : fact
    }
    expect(unpaid(failed, paidAt('76', at))).toStrictEqual(['77'])
    expect(unpaid(failed, paidAt('78', nextEnd))).toStrictEqual([])
  })

  test('changes neither the expiry nor what counts as paid', () => {
    const sold = { ...first, paidUntil: end, firstExpiresAt: end }
    const facts = [renewed('in_1', nextEnd)]
    expect(paymentStatusOf(sold, factsOf([...facts, renewalFailed('in_2')]))).toStrictEqual(
      paymentStatusOf(sold, factsOf(facts)),
    )
    expect(paymentStatusOf(sold, factsOf([renewalFailed('in_2')]))).toStrictEqual(
      paymentStatusOf(sold, noFacts),
    )
  })
})

describe('a sale', () => {
  const saleReceived: SaleEvent = { type: 'SaleReceived', data: { ...received, paidUntil: end } }
  const again = renewalFailed('in_2', { attempt: 2 })

  test('records each attempt that says something new, and no repetition', () => {
    const record = (fact: SaleFact) => ({ type: 'RecordFacts', facts: [fact] }) as const
    given(saleReceived)
      .when(record(renewalFailed('in_2')))
      .expectEvents([renewalFailed('in_2')])
    given(saleReceived, renewalFailed('in_2'))
      .when(record(renewalFailed('in_2', { notificationId: 'evt_again', occurredAt: later })))
      .expectEvents([])
    given(saleReceived, renewalFailed('in_2')).when(record(again)).expectEvents([again])
  })

  test('numbers a failure by the fact that reported it first', () => {
    const sale = [saleReceived, renewed('in_1', end), renewalFailed('in_2'), again].reduce(
      evolveSale,
      absentSale,
    )
    expect(sale.status === 'absent' ? [] : failedRenewalsOf(sale)).toMatchObject([
      { paymentId: 'in_2', attempt: 2, fact: 2 },
    ])
  })
})
