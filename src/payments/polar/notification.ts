import { z } from 'zod'
import { namedLicense } from '../named-license.ts'
import { hmac, isAmong, isFresh } from '../signature.ts'
import { ignored, incomplete, isPaused, momentFrom, parsedAs, type Translated } from '../translated.ts'

/** The headers of Standard Webhooks. */
export type PolarHeaders = { id: string; timestamp: string; signature: string }

/**
 * Standard Webhooks, except for the key: polar uses the secret's own bytes instead of decoding it from
 * base64.
 * @see https://polar.sh/docs/integrate/webhooks/delivery
 */
export function verifyPolar(raw: Buffer, headers: PolarHeaders, secret: string, now: Date): boolean {
  const { id, timestamp, signature } = headers
  const signatures = signature
    .split(' ')
    .flatMap((entry) => (entry.startsWith('v1,') ? [entry.slice(3)] : []))
  return isFresh(timestamp, now) && isAmong(hmac(secret, `${id}.${timestamp}.`, raw), signatures, 'base64')
}

const Id = z.string().min(1).max(255)
const Event = z.object({ type: z.string(), timestamp: z.string().nullish(), data: z.unknown() })
type Event = z.infer<typeof Event>
type Common = { provider: 'polar'; notificationId: string; test: boolean; at: string }

/**
 * @param notificationId the message's id, from its header
 * @param test whether the integration uses polar's sandbox, which notifications do not show
 * @param now the time of a notification without one
 * @see https://polar.sh/docs/integrate/webhooks/events
 */
export function translatePolar(raw: string, notificationId: string, test: boolean, now: Date): Translated {
  const event = parsedAs(Event, raw)
  if (!event) return incomplete
  const at = momentFrom(event.timestamp) ?? now.toISOString()
  return translate(event, { provider: 'polar', notificationId, test, at }) ?? incomplete
}

/** @returns undefined when a required field is missing */
function translate(event: Event, common: Common): Translated | undefined {
  switch (event.type) {
    case 'order.paid':
      return paidBy(event, common)
    case 'order.refunded':
      return refundedBy(event, common)
    case 'subscription.updated':
      return changedBy(event, common)
    case 'subscription.past_due':
      return failedBy(event, common)
    case 'subscription.revoked':
      return endedBy(event, common)
    default:
      return ignored
  }
}

const Order = z.object({
  id: Id,
  invoice_number: z.string().max(255).nullish().catch(null),
  billing_reason: z.string(),
  status: z.string(),
  total_amount: z.int(),
  refunded_amount: z.int().nullish(),
  refunded_tax_amount: z.int().nullish(),
  currency: z.string().length(3),
  product_id: Id.nullish(),
  subscription_id: Id.nullish(),
  checkout_id: Id.nullish(),
  seats: z.int().positive().nullish(),
  // A customer that is a team may have no address, and a deleted customer is not sent.
  customer: z.object({ email: z.string().nullish(), name: z.string().nullish() }).nullish(),
  product: z.object({ name: z.string() }).nullish(),
  subscription: z.object({ current_period_end: z.string().nullish() }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish().catch(null),
})

function paidBy({ data }: Event, common: Common): Translated | undefined {
  const order = Order.safeParse(data).data
  if (!order) return undefined
  const { id, subscription_id: subscriptionId, total_amount: amount } = order
  const currency = order.currency.toLowerCase()
  const paidUntil = momentFrom(order.subscription?.current_period_end)
  const isCycle = order.billing_reason === 'subscription_cycle'
  if (isCycle || (order.billing_reason === 'subscription_update' && subscriptionId && paidUntil)) {
    if (!subscriptionId || !paidUntil) return undefined
    const link = `subscription:${subscriptionId}`
    return {
      type: 'renewed',
      ...common,
      link,
      paymentId: id,
      links: [`order:${id}`],
      paidUntil,
      amount,
      currency,
    }
  }
  if (order.billing_reason !== 'purchase' && order.billing_reason !== 'subscription_create') return ignored
  if (!order.product_id) return undefined
  const { customer, product, seats } = order
  const name = customer?.name
  return {
    type: 'sold',
    ...common,
    saleId: id,
    sessionId: order.checkout_id ?? id,
    ...(order.invoice_number && { orderNumber: order.invoice_number }),
    links: [`order:${id}`, ...(subscriptionId ? [`subscription:${subscriptionId}`] : [])],
    sold: { providerProduct: order.product_id },
    quantity: seats ?? 1,
    ...namedLicense(order.metadata),
    customer: customer?.email ? { email: customer.email, ...(name && { name }) } : null,
    amount,
    currency,
    ...(product && { productName: product.name }),
    ...(subscriptionId && paidUntil && { paidUntil }),
  }
}

function refundedBy({ data }: Event, common: Common): Translated | undefined {
  const order = Order.safeParse(data).data
  if (!order) return undefined
  if (order.status !== 'refunded' && order.status !== 'partially_refunded') return ignored
  const amount = (order.refunded_amount ?? 0) + (order.refunded_tax_amount ?? 0)
  return {
    type: 'refunded',
    ...common,
    link: `order:${order.id}`,
    refundId: `${order.id}.${amount}`,
    amount,
    cumulative: true,
    currency: order.currency.toLowerCase(),
    full: order.status === 'refunded',
  }
}

const Subscription = z.object({
  id: Id,
  status: z.string().nullish(),
  product_id: Id.nullish(),
  seats: z.int().positive().nullish(),
  ended_at: z.string().nullish(),
  current_period_end: z.string().nullish(),
})

function changedBy({ data }: Event, common: Common): Translated | undefined {
  const subscription = Subscription.safeParse(data).data
  if (!subscription) return undefined
  const { id, status, product_id: product, seats } = subscription
  const paused = isPaused(status)
  return {
    type: 'subscription',
    ...common,
    link: `subscription:${id}`,
    ...(product && { sold: { providerProduct: product } }),
    ...(seats && { quantity: seats }),
    ...(paused !== undefined && { paused }),
  }
}

/**
 * The payment for the current period failed. Polar names no order: the period tells one failed payment from the next. One
 * that is paid for already, such as when the payment for a larger plan failed, is not to be paid again.
 */
function failedBy({ data }: Event, common: Common): Translated | undefined {
  const subscription = Subscription.safeParse(data).data
  const periodEnd = momentFrom(subscription?.current_period_end)
  if (!subscription || !periodEnd) return undefined
  const { id } = subscription
  return {
    type: 'renewal_failed',
    ...common,
    link: `subscription:${id}`,
    paymentId: `${id}.${periodEnd}`,
    periodEnd,
    attempt: null,
    nextAttemptAt: null,
  }
}

/** Access ends when polar sends it, for an unpaid subscription before the end of its period. */
function endedBy({ data }: Event, common: Common): Translated | undefined {
  const subscription = Subscription.safeParse(data).data
  if (!subscription) return undefined
  const paidUntil = momentFrom(subscription.ended_at) ?? momentFrom(subscription.current_period_end) ?? null
  return { type: 'ended', ...common, link: `subscription:${subscription.id}`, paidUntil }
}
