/** Guarantee: what a customer has paid is the sum of all payments, by currency; what went back is said beside it, and tests do not count. */
import { expect, test } from 'vitest'
import type { SaleFact } from '../../../src/domain/sales/events.ts'
import { noFacts, withFact } from '../../../src/domain/sales/facts.ts'
import { paidByCurrency } from '../../../src/domain/sales/totals.ts'
import { at, nextEnd } from '../licenses/license-samples.ts'
import { disputed, refunded, renewed } from './sale-samples.ts'

const sold = (currency: string, ...facts: SaleFact[]) => ({
  test: false,
  ownLinks: ['sale:cs_1', 'payment:pi_1', 'subscription:sub_1'],
  amount: 4900,
  currency,
  soldAt: at,
  paidUntil: null,
  line: undefined,
  facts: facts.reduce(withFact, noFacts),
})

test('payments of all sales add up, each currency for itself', () => {
  const sales = [sold('usd', renewed('in_1', nextEnd, 1000)), sold('eur'), sold('usd')]
  expect(paidByCurrency(sales)).toStrictEqual([
    { currency: 'eur', paid: 4900, returned: 0 },
    { currency: 'usd', paid: 10_800, returned: 0 },
  ])
})

test.each([
  ['a part that is refunded', [refunded('re_1', 1500)], 1500],
  ['a lost dispute', [disputed('SaleDisputed'), disputed('DisputeLost')], 4900],
  ['no more than was paid', [refunded('re_1', 4900, { full: true }), disputed('DisputeLost')], 4900],
])('%s went back', (_, facts, returned) => {
  expect(paidByCurrency([sold('usd', ...facts)])).toStrictEqual([{ currency: 'usd', paid: 4900, returned }])
})

test('a test is no payment', () => {
  expect(paidByCurrency([{ ...sold('usd'), test: true }])).toStrictEqual([])
  expect(paidByCurrency([])).toStrictEqual([])
})
