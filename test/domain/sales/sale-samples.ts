import fc from 'fast-check'
import type { SaleEvent, SaleFact } from '../../../src/domain/sales/events.ts'
import { at, end, later, nextEnd } from '../licenses/license-samples.ts'

const told = (notificationId: string) => ({
  notificationId,
  payload: `notification.stripe.${notificationId}`,
  occurredAt: at,
  at,
})

/** The first payment's name; those of renewals are `invoice:<id>`. */
const first = 'payment:pi_1'

export const refunded = (
  refundId: string,
  amount: number,
  own: Partial<Extract<SaleFact, { type: 'SaleRefunded' }>['data']> = {},
): SaleFact => ({
  type: 'SaleRefunded',
  data: {
    ...told(refundId),
    refundId,
    payment: first,
    amount,
    cumulative: false,
    currency: 'usd',
    full: false,
    ...own,
  },
})

export const renewed = (paymentId: string, paidUntil: string | null, amount = 4900): SaleFact => ({
  type: 'SaleRenewed',
  data: {
    ...told(paymentId),
    paymentId,
    links: [`invoice:${paymentId}`],
    paidUntil,
    amount,
    currency: 'usd',
  },
})

export const renewalFailed = (
  paymentId: string,
  own: Partial<Extract<SaleFact, { type: 'RenewalFailed' }>['data']> = {},
): SaleFact => ({
  type: 'RenewalFailed',
  data: {
    ...told(`${paymentId} failed`),
    paymentId,
    periodEnd: nextEnd,
    attempt: 1,
    nextAttemptAt: null,
    ...own,
  },
})

export const disputed = (
  type: 'SaleDisputed' | 'DisputeLost' | 'DisputeWon',
  disputeId = 'dp_1',
  payment: string | null = first,
): SaleFact => ({
  type,
  data: { ...told(`${disputeId} ${type}`), disputeId, payment, amount: 4900, currency: 'usd' },
})

export const named = (names: string[], isFirst = false, paidUntil: string | null = null): SaleFact => ({
  type: 'PaymentNamed',
  data: { ...told(names.join(' ')), names, isFirst, paidUntil },
})

export const subscription = (
  occurredAt: string,
  own: Partial<Extract<SaleFact, { type: 'SubscriptionTold' }>['data']>,
): SaleFact => ({
  type: 'SubscriptionTold',
  data: {
    ...told('subscription'),
    links: [],
    sold: null,
    quantity: null,
    paused: null,
    paidUntil: null,
    ...own,
    occurredAt,
  },
})

export const ended = (paidUntil: string | null, own: { paidInFull?: true } = {}): SaleFact => ({
  type: 'SaleEnded',
  data: { ...told('ended'), paidUntil, ...own },
})

const somePayment = fc.constantFrom(first, 'invoice:in_1', 'invoice:in_3', null)

/** Any fact that a provider may send, including contradictions. */
export const anyFact: fc.Arbitrary<SaleFact> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('re_1', 're_2'),
      fc.constantFrom(1000, 4900),
      fc.boolean(),
      fc.constantFrom('usd', 'eur'),
      fc.boolean(),
      somePayment,
    )
    .map(([refundId, amount, full, currency, cumulative, payment]): SaleFact => {
      const data = { ...told(refundId), refundId, amount, full, currency, cumulative, payment }
      return { type: 'SaleRefunded', data }
    }),
  fc
    .tuple(
      fc.constantFrom('in_1', 'in_2'),
      fc.constantFrom(end, later, nextEnd, null),
      fc.constantFrom(1, 2),
      fc.subarray(['invoice:in_1', 'invoice:in_2']),
    )
    .map(([paymentId, paidUntil, amount, links]): SaleFact => {
      const data = { ...told(paymentId), paymentId, links, paidUntil, amount, currency: 'usd' }
      return { type: 'SaleRenewed', data }
    }),
  fc
    .record({
      periodEnd: fc.constantFrom(null, end, nextEnd),
      attempt: fc.constantFrom(null, 1, 2),
      nextAttemptAt: fc.constantFrom(null, later, end),
      occurredAt: fc.constantFrom(at, later),
    })
    .chain((own) => fc.constantFrom('in_1', 'in_2').map((id) => renewalFailed(id, own))),
  fc
    .tuple(
      fc.constantFrom('SaleDisputed' as const, 'DisputeLost' as const, 'DisputeWon' as const),
      fc.constantFrom('dp_1', 'dp_2'),
      fc.constantFrom(4900, null),
      somePayment,
    )
    .map(([type, disputeId, amount, payment]): SaleFact => {
      const currency = amount === null ? null : 'usd'
      return { type, data: { ...told(disputeId), disputeId, payment, amount, currency } }
    }),
  fc
    .tuple(
      fc.subarray([first, 'invoice:in_1', 'invoice:in_2', 'invoice:in_3'], { minLength: 1 }),
      fc.boolean(),
    )
    .map(([names, isFirst]): SaleFact => named(names, isFirst, isFirst ? end : null)),
  fc
    .record({
      at: fc.constantFrom(at, later, end),
      sold: fc.constantFrom(null, { providerProduct: 'price_1' }, { providerProduct: 'price_2' }),
      quantity: fc.constantFrom(null, 1, 2),
      paused: fc.constantFrom(null, true, false),
      paidUntil: fc.constantFrom(null, end, nextEnd),
    })
    .map(({ at: moment, ...own }): SaleFact => subscription(moment, own)),
  fc
    .tuple(
      fc.constantFrom(end, nextEnd, null),
      fc.constantFrom(at, later),
      fc.constantFrom({}, { paidInFull: true as const }),
    )
    .map(
      ([paidUntil, occurredAt, own]): SaleFact => ({
        type: 'SaleEnded',
        data: { ...told('ended'), paidUntil, occurredAt, ...own },
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
