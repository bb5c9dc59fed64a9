import fc from 'fast-check'
import type { SaleEvent, SaleFact } from '../../src/domain/sale/events.ts'
import { at, end, later, nextEnd } from './license-samples.ts'

const told = (notificationId: string) => ({
  notificationId,
  payload: `notification.stripe.${notificationId}`,
  occurredAt: at,
  at,
})

export const refunded = (refundId: string, amount: number, full = false): SaleFact => ({
  type: 'SaleRefunded',
  data: { ...told(refundId), refundId, amount, currency: 'usd', full },
})

export const renewed = (paymentId: string, paidUntil: string): SaleFact => ({
  type: 'SaleRenewed',
  data: {
    ...told(paymentId),
    paymentId,
    links: [`invoice:${paymentId}`],
    paidUntil,
    amount: 4900,
    currency: 'usd',
  },
})

export const disputed = (
  type: 'SaleDisputed' | 'DisputeLost' | 'DisputeWon',
  disputeId = 'dp_1',
): SaleFact => ({
  type,
  data: { ...told(`${disputeId} ${type}`), disputeId, amount: 4900, currency: 'usd' },
})

export const ended = (paidUntil: string | null): SaleFact => ({
  type: 'SaleEnded',
  data: { ...told('ended'), paidUntil },
})

/** What a provider may tell, contradictions and all. */
export const anyFact: fc.Arbitrary<SaleFact> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('re_1', 're_2'),
      fc.constantFrom(1000, 4900),
      fc.boolean(),
      fc.constantFrom('usd', 'eur'),
    )
    .map(([refundId, amount, full, currency]): SaleFact => {
      const data = { ...told(refundId), refundId, amount, full, currency }
      return { type: 'SaleRefunded', data }
    }),
  fc
    .tuple(fc.constantFrom('in_1', 'in_2'), fc.constantFrom(end, later, nextEnd), fc.constantFrom(1, 2))
    .map(([paymentId, paidUntil, amount]): SaleFact => {
      const data = { ...told(paymentId), paymentId, links: [], paidUntil, amount, currency: 'usd' }
      return { type: 'SaleRenewed', data }
    }),
  fc
    .tuple(
      fc.constantFrom('SaleDisputed' as const, 'DisputeLost' as const, 'DisputeWon' as const),
      fc.constantFrom('dp_1', 'dp_2'),
      fc.constantFrom(4900, null),
    )
    .map(([type, disputeId, amount]): SaleFact => {
      const currency = amount === null ? null : 'usd'
      return { type, data: { ...told(disputeId), disputeId, amount, currency } }
    }),
  fc.tuple(fc.constantFrom(end, nextEnd, null), fc.constantFrom(at, later)).map(
    ([paidUntil, occurredAt]): SaleFact => ({
      type: 'SaleEnded',
      data: { ...told('ended'), paidUntil, occurredAt },
    }),
  ),
)

export const received: Extract<SaleEvent, { type: 'SaleReceived' }>['data'] = {
  ...told('sold'),
  id: 'sal_1',
  tenantId: 'acme',
  provider: 'stripe',
  saleId: 'cs_1',
  sessionId: 'cs_1',
  links: ['sale:cs_1', 'payment:pi_1'],
  sold: { productId: 'editor', keyTypeId: null },
  quantity: 1,
  customer: { subjectId: 'sub_1', email: 'sealed.e', name: null },
  amount: 4900,
  currency: 'usd',
  productName: 'Editor',
  paidUntil: null,
  test: false,
  licenseId: 'lic_1',
  keyName: 'sale-key.lic_1',
}
