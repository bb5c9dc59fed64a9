import { z } from 'zod'
import { firstPayment } from '../../domain/sales/facts.ts'
import { ignored, momentFrom, type Translated } from '../translated.ts'
import { Numeric, type Payload, refundOf } from './payload.ts'
import type { LemonSqueezyReads } from './reads.ts'

const Invoice = z.object({
  subscription_id: Numeric,
  billing_reason: z.string(),
  currency: z.string().length(3),
  status: z.string().nullish(),
  total: z.int(),
  refunded_amount: z.int().nullish(),
  refunded_at: z.string().nullish(),
  created_at: z.string(),
  updated_at: z.string().nullish(),
  test_mode: z.boolean().default(false),
})

/**
 * A paid invoice of a subscription. It holds neither the order that began the subscription nor the end of the
 * period; the subscription's own events do. With an API key the provider is asked, for vendors who do not
 * send those events.
 * @returns undefined when a required field is missing
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function paidBy(
  { data }: Payload,
  notificationId: string,
  reads: LemonSqueezyReads | undefined,
): Promise<Translated | undefined> {
  const invoice = Invoice.safeParse(data.attributes).data
  const at = momentFrom(invoice?.created_at)
  if (!invoice || !at) return undefined
  const { subscription_id: id, billing_reason: reason, test_mode: test } = invoice
  const names = [`invoice:${data.id}`]
  const about = { provider: 'lemonsqueezy', notificationId, test, at, link: `subscription:${id}` } as const
  // The first period was paid by the order.
  if (reason === 'initial') return { type: 'payment named', ...about, names, isFirst: true }
  if (reason !== 'renewal') return ignored
  const subscription = await reads?.subscription(id)
  return {
    type: 'renewed',
    ...about,
    ...(subscription && { link: `order:${subscription.orderId}` }),
    paymentId: data.id,
    links: [...names, about.link],
    paidUntil: subscription?.paidUntil ?? null,
    amount: invoice.total,
    currency: invoice.currency.toLowerCase(),
  }
}

/**
 * An invoice for another period whose payment failed. Every attempt is sent with the same invoice, which holds neither their
 * number nor the time of the next one.
 * @returns undefined when a required field is missing
 */
export function failedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const invoice = Invoice.safeParse(data.attributes).data
  const at = momentFrom(invoice?.updated_at ?? invoice?.created_at)
  if (!invoice || !at) return undefined
  if (invoice.billing_reason !== 'renewal') return ignored
  return {
    type: 'renewal_failed',
    provider: 'lemonsqueezy',
    notificationId,
    test: invoice.test_mode,
    at,
    link: `subscription:${invoice.subscription_id}`,
    paymentId: data.id,
    periodEnd: null,
    attempt: null,
    nextAttemptAt: null,
  }
}

/** @returns undefined when a required field is missing */
export function paymentRefundedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const invoice = Invoice.safeParse(data.attributes).data
  if (!invoice) return undefined
  const id = `invoice:${data.id}`
  const link = `subscription:${invoice.subscription_id}`
  // The order's notifications report the refund of the first payment too.
  const payment = invoice.billing_reason === 'initial' ? firstPayment : id
  return refundOf(invoice, { id, link, payment }, notificationId)
}
