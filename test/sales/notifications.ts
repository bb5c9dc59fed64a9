import type { PaymentNotification } from '../../src/payments/notification.ts'

type Of<Type extends PaymentNotification['type']> = Extract<PaymentNotification, { type: Type }>

/** When the purchases of these samples were made, and until when they are paid. */
const soldAt = '2026-03-01T11:59:58.000Z'
export const month = {
  first: '2026-04-01T12:00:00.000Z',
  second: '2026-05-01T12:00:00.000Z',
  third: '2026-06-01T12:00:00.000Z',
}

/** What a provider tells of one purchase, under ids that begin with its name. */
export function purchase(name: string, own: Partial<Of<'sold'>> = {}) {
  const told = (what: string, at = soldAt) =>
    ({
      provider: own.provider ?? 'stripe',
      notificationId: `evt_${name}_${what}`,
      test: own.test ?? false,
      at,
    }) as const
  const link = `payment:pi_${name}`
  const subscription = `subscription:sub_${name}`
  return {
    sold: (more: Partial<Of<'sold'>> = {}): Of<'sold'> => ({
      ...told('sold'),
      type: 'sold',
      saleId: `cs_${name}`,
      sessionId: `cs_${name}`,
      links: [link, subscription],
      sold: { productId: 'editor' },
      quantity: 1,
      customer: { email: `${name}@example.com`, name: 'Ada Lovelace' },
      amount: 4900,
      currency: 'usd',
      ...own,
      ...more,
    }),
    renewed: (paymentId: string, paidUntil: string): Of<'renewed'> => ({
      ...told(paymentId, paidUntil),
      type: 'renewed',
      link: subscription,
      paymentId,
      links: [`invoice:${name}_${paymentId}`],
      paidUntil,
      amount: 4900,
      currency: 'usd',
    }),
    /** @param at when this attempt failed */
    failed: (paymentId: string, own: Partial<Of<'renewal_failed'>> = {}): Of<'renewal_failed'> => ({
      ...told(`${paymentId}_failed_${own.attempt ?? 1}`, month.first),
      type: 'renewal_failed',
      link: subscription,
      paymentId,
      periodEnd: month.second,
      attempt: 1,
      nextAttemptAt: null,
      ...own,
    }),
    /** @param of the first payment, unless a renewal is named */
    refunded: (refundId: string, amount = 4900, of?: string): Of<'refunded'> => ({
      ...told(refundId),
      type: 'refunded',
      link: of === undefined ? link : `invoice:${name}_${of}`,
      refundId,
      amount,
      currency: 'usd',
      full: amount === 4900,
    }),
    dispute: (type: 'disputed' | 'dispute_won' | 'dispute_lost', disputeId = 'dp_1') => ({
      ...told(`${disputeId}_${type}`),
      type,
      link,
      disputeId,
      amount: 4900,
      currency: 'usd',
    }),
    ended: (paidUntil: string | null): Of<'ended'> => ({
      ...told('ended', month.first),
      type: 'ended',
      link: subscription,
      paidUntil,
    }),
  }
}
