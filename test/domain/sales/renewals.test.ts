/** Guarantee: a sale is paid for again as often as there are payments for further periods, in whichever order they are reported. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SaleFact } from '../../../src/domain/sales/events.ts'
import { noFacts, withFact } from '../../../src/domain/sales/facts.ts'
import { renewalsOf } from '../../../src/domain/sales/renewals.ts'
import { at } from '../licenses/license-samples.ts'
import { anyFact, refunded, renewed } from './sale-samples.ts'

const april = '2026-04-01T12:00:00.000Z'
const may = '2026-05-01T12:00:00.000Z'
const june = '2026-06-01T12:00:00.000Z'
const sold = {
  links: ['sale:cs_1', 'payment:pi_1', 'subscription:sub_1'],
  amount: 4900,
  currency: 'usd',
  soldAt: at,
  paidUntil: april as string | null,
}
const renewalsFrom = (...facts: SaleFact[]) => renewalsOf(sold, facts.reduce(withFact, noFacts))

function paid(paymentId: string, paidUntil: string, occurredAt: string): SaleFact {
  const fact = renewed(paymentId, paidUntil)
  return fact.type === 'SaleRenewed' ? { ...fact, data: { ...fact.data, occurredAt } } : fact
}

test('every payment for a further period is one, oldest first', () => {
  const facts = [paid('in_2', june, may), paid('in_1', may, april)]
  expect(renewalsFrom(...facts)).toStrictEqual([april, may])
})

test('the first payment, a returned one, and one for a period that is paid already are none', () => {
  expect(renewalsFrom()).toStrictEqual([])
  const inMarch = '2026-03-15T12:00:00.000Z'
  expect(renewalsFrom(paid('in_1', april, inMarch))).toStrictEqual([])
  const returned = refunded('re_1', 4900, { payment: 'renewal:in_1', full: true })
  expect(renewalsFrom(paid('in_1', may, april), returned)).toStrictEqual([])
})

test('the order and the repetition of facts have no effect', () =>
  fc.assert(
    fc.property(
      fc
        .array(anyFact, { maxLength: 8 })
        .chain((facts) =>
          fc.tuple(fc.constant(facts), fc.shuffledSubarray(facts, { minLength: facts.length })),
        ),
      ([given, shuffled]) => {
        expect(renewalsFrom(...shuffled, ...given)).toStrictEqual(renewalsFrom(...given))
      },
    ),
  ))
