/**
 * Guarantee: a payment that was charged back, given back and charged back again suspends its license again. A notification
 * that arrives twice, or late, counts once, and the order of the notifications does not matter.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Provider } from '../../src/domain/integrations/provider.ts'
import type { SaleFact } from '../../src/domain/sales/events.ts'
import { noFacts, withFact } from '../../src/domain/sales/facts.ts'
import { translateResource } from '../../src/payments/gumroad/notification.ts'
import { translatePaddle } from '../../src/payments/paddle/notification.ts'
import { translateStripe } from '../../src/payments/stripe/notification.ts'
import type { Translated } from '../../src/payments/translated.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { purchase } from './notifications.ts'
import { openShop, type Shop } from './shop.ts'

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  shop = await openShop(api)
})

const day = (number: number) => new Date(Date.UTC(2026, 2, number, 12)).toISOString()

const adjustment = (on: number, id: string, action: string, status = 'approved') =>
  translatePaddle(
    JSON.stringify({
      event_id: `evt_${id}_${status}`,
      event_type: status === 'reversed' ? 'adjustment.updated' : 'adjustment.created',
      occurred_at: day(on),
      data: {
        id,
        action,
        status,
        transaction_id: 'txn_1',
        currency_code: 'USD',
        totals: { total: '4900' },
      },
    }),
    { test: false, isMapped: () => true, readCustomer: undefined },
  )

const ping = (on: number, resource: 'dispute' | 'dispute_won') =>
  translateResource(`resource_name=${resource}&sale_id=cs_ada`, new Date(day(on)))

const dispute = (on: number, id: string, status: string) =>
  translateStripe(
    JSON.stringify({
      id: `evt_${id}_${status}_${on}`,
      type: 'charge.dispute.closed',
      livemode: true,
      created: Date.parse(day(on)) / 1000,
      data: { object: { id, status, amount: 4900, currency: 'usd', payment_intent: 'pi_ada' } },
    }),
  )?.translated

type Step = [Translated | Promise<Translated> | undefined, isRevoked: boolean]

const cases: [string, Provider, Step[]][] = [
  [
    'paddle, with both notifications of a chargeback that was given back',
    'paddle',
    [
      [adjustment(1, 'adj_1', 'chargeback'), true],
      [adjustment(9, 'adj_2', 'chargeback_reverse'), false],
      [adjustment(9, 'adj_1', 'chargeback', 'reversed'), false],
      [adjustment(1, 'adj_1', 'chargeback'), false],
      [adjustment(20, 'adj_3', 'chargeback'), true],
      [adjustment(20, 'adj_3', 'chargeback'), true],
      [adjustment(9, 'adj_2', 'chargeback_reverse'), true],
      [adjustment(28, 'adj_4', 'chargeback_reverse'), false],
    ],
  ],
  [
    'paddle, with the mark of a chargeback alone',
    'paddle',
    [
      [adjustment(1, 'adj_1', 'chargeback'), true],
      [adjustment(2, 'adj_1', 'chargeback', 'reversed'), false],
      [adjustment(2, 'adj_3', 'chargeback'), true],
      [adjustment(3, 'adj_3', 'chargeback', 'reversed'), false],
    ],
  ],
  [
    'gumroad, which names no dispute',
    'gumroad',
    [
      [ping(1, 'dispute'), true],
      [ping(1, 'dispute'), true],
      [ping(9, 'dispute_won'), false],
      [ping(9, 'dispute_won'), false],
      // Sent again before, delivered only now.
      [ping(9, 'dispute'), false],
      [ping(20, 'dispute'), true],
      [ping(21, 'dispute'), true],
      [ping(28, 'dispute_won'), false],
    ],
  ],
  [
    'stripe, by another dispute',
    'stripe',
    [
      [dispute(1, 'du_1', 'lost'), true],
      [dispute(9, 'du_1', 'won'), false],
      [dispute(1, 'du_1', 'lost'), false],
      [dispute(20, 'du_2', 'lost'), true],
      [dispute(28, 'du_2', 'won'), false],
    ],
  ],
  [
    'stripe, by the same dispute',
    'stripe',
    [
      [dispute(1, 'du_1', 'won'), false],
      [dispute(20, 'du_1', 'lost'), true],
    ],
  ],
]

test.each(cases)('%s', async (_, provider, steps) => {
  const links = ['payment:pi_ada', 'transaction:txn_1', 'sale:cs_ada']
  await shop.tell(purchase('ada', { provider, links }).sold())
  const [sale] = await shop.sales()
  if (!sale) throw new Error('nothing was sold')
  const found: boolean[] = []
  for (const [translated] of steps) {
    const told = await translated
    if (!told || told.type === 'ignored' || told.type === 'incomplete') throw new Error('it tells nothing')
    await shop.tell(told)
    const { revokedAt, revokedCause } = await shop.licenseOf(sale)
    found.push(revokedAt !== null && revokedCause === 'dispute')
  }
  expect(found).toStrictEqual(steps.map(([, isRevoked]) => isRevoked))
})

describe('in any order', () => {
  const fact = (
    type: 'SaleDisputed' | 'DisputeLost' | 'DisputeWon',
    on: number,
    caseId?: string,
  ): SaleFact => ({
    type,
    data: {
      notificationId: `evt_${on}`,
      payload: 'notification.1',
      disputeId: 'txn_1',
      ...(caseId !== undefined && { caseId }),
      payment: null,
      amount: 4900,
      currency: 'usd',
      occurredAt: day(on),
      at: day(on),
    },
  })
  const [lost, won] = ['DisputeLost', 'DisputeWon'] as const

  test.each([
    ['won', [fact(lost, 1, 'adj_1'), fact(won, 9, 'adj_2')]],
    ['lost', [fact(lost, 1, 'adj_1'), fact(won, 9, 'adj_2'), fact(won, 9, 'adj_1'), fact(lost, 20, 'adj_3')]],
    ['lost', [fact(lost, 1), fact(won, 9), fact(lost, 20), fact('SaleDisputed', 19)]],
    ['won', [fact(lost, 1), fact(won, 9), fact(lost, 9), fact('SaleDisputed', 1)]],
    // What an earlier version recorded without a case, and the same notifications sent once more.
    ['won', [fact(lost, 1), fact(won, 9), fact(lost, 1, 'adj_1'), fact(won, 9, 'adj_2')]],
    ['lost', [fact(lost, 1), fact(won, 9), fact(lost, 20, 'adj_3')]],
    ['open', [fact('SaleDisputed', 1), fact('SaleDisputed', 3, 'adj_w')]],
  ] as const)('it is %s', (outcome, facts) => {
    for (const order of ordersOf(facts)) {
      const twice = [...order, ...order].reduce(withFact, noFacts)
      expect(twice.disputes.map((one) => one.outcome)).toStrictEqual([outcome])
      expect(twice).toStrictEqual(facts.reduce(withFact, noFacts))
    }
  })
})

const ordersOf = <T>(all: readonly T[]): T[][] =>
  all.length < 2
    ? [[...all]]
    : all.flatMap((one, place) => ordersOf(all.toSpliced(place, 1)).map((rest) => [one, ...rest]))
