import { hash } from 'node:crypto'
import { z } from 'zod'
import { hmac, isAmong } from '../signature.ts'
import { ignored, incomplete, momentFrom, parsedAs, type Translated } from '../translated.ts'

/** @see https://docs.lemonsqueezy.com/help/webhooks/signing-requests */
export function verifyLemonSqueezy(raw: Buffer, signature: string, secret: string): boolean {
  return isAmong(hmac(secret, raw), [signature], 'hex')
}

/** Reads a subscription at the provider; undefined when the connection has no key to ask with. */
export type ReadSubscription =
  | ((subscriptionId: string) => Promise<{ orderId: string; paidUntil: string } | undefined>)
  | undefined

const Numeric = z.union([z.int(), z.string().min(1).max(255)]).transform(String)
const Payload = z.object({
  meta: z.object({ event_name: z.string() }),
  data: z.object({ id: Numeric, attributes: z.unknown() }),
})
type Payload = z.infer<typeof Payload>

/**
 * What a buyer can write into an address, as `custom_data`, is not looked at: it would let them choose what they get.
 * @see https://docs.lemonsqueezy.com/help/webhooks/webhook-requests
 */
export async function translateLemonSqueezy(
  raw: string,
  readSubscription: ReadSubscription,
): Promise<Translated> {
  const payload = parsedAs(Payload, raw)
  if (!payload) return incomplete
  const notificationId = hash('sha256', raw, 'hex')
  return (await translate(payload, notificationId, readSubscription)) ?? incomplete
}

/** @returns undefined when the event lacks what it should have */
async function translate(
  payload: Payload,
  notificationId: string,
  readSubscription: ReadSubscription,
): Promise<Translated | undefined> {
  switch (payload.meta.event_name) {
    case 'order_created':
      return soldBy(payload, notificationId)
    case 'order_refunded':
      return refundedBy(payload, notificationId)
    case 'subscription_payment_success':
      return renewedBy(payload, notificationId, readSubscription)
    case 'subscription_created':
    case 'subscription_updated':
      return readSubscription ? ignored : prolongedBy(payload, notificationId)
    case 'subscription_expired':
      return endedBy(payload, notificationId)
    default:
      return ignored
  }
}

const Order = z.object({
  user_name: z.string().nullish(),
  user_email: z.string().min(1),
  currency: z.string().length(3),
  total: z.int(),
  status: z.string(),
  refunded_amount: z.int().nullish(),
  refunded_at: z.string().nullish(),
  first_order_item: z.object({
    variant_id: Numeric,
    product_name: z.string().nullish(),
    quantity: z.int().positive().default(1),
  }),
  created_at: z.string(),
  updated_at: z.string(),
  test_mode: z.boolean().default(false),
})

/** Statuses of orders that nothing was paid for. */
const unpaid = new Set(['pending', 'failed', 'fraudulent'])

function soldBy({ data }: Payload, notificationId: string): Translated | undefined {
  const order = Order.safeParse(data.attributes).data
  const at = momentFrom(order?.created_at)
  if (!order || !at) return undefined
  if (unpaid.has(order.status)) return ignored
  const { first_order_item: item, user_name: name } = order
  return {
    type: 'sold',
    provider: 'lemonsqueezy',
    notificationId,
    test: order.test_mode,
    at,
    saleId: data.id,
    sessionId: data.id,
    links: [`order:${data.id}`],
    sold: { providerProduct: item.variant_id },
    quantity: item.quantity,
    customer: { email: order.user_email, ...(name && { name }) },
    amount: order.total,
    currency: order.currency.toLowerCase(),
    ...(item.product_name && { productName: item.product_name }),
  }
}

function refundedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const order = Order.safeParse(data.attributes).data
  const at = momentFrom(order?.refunded_at ?? order?.updated_at)
  if (!order || !at) return undefined
  const full = order.status === 'refunded'
  const amount = order.refunded_amount ?? (full ? order.total : 0)
  return {
    type: 'refunded',
    provider: 'lemonsqueezy',
    notificationId,
    test: order.test_mode,
    at,
    link: `order:${data.id}`,
    refundId: `${data.id}.${amount}`,
    amount,
    currency: order.currency.toLowerCase(),
    full,
  }
}

const Invoice = z.object({
  subscription_id: Numeric,
  billing_reason: z.string(),
  currency: z.string().length(3),
  total: z.int(),
  created_at: z.string(),
  test_mode: z.boolean().default(false),
})

/** An invoice says neither which order began its subscription, nor how far it pays: the provider is asked. */
async function renewedBy(
  { data }: Payload,
  notificationId: string,
  readSubscription: ReadSubscription,
): Promise<Translated | undefined> {
  const invoice = Invoice.safeParse(data.attributes).data
  const at = momentFrom(invoice?.created_at)
  if (!invoice || !at) return undefined
  // The first payment is the order's; without a key, renewals are taken from the subscription's own events.
  if (invoice.billing_reason !== 'renewal' || !readSubscription) return ignored
  const subscription = await readSubscription(invoice.subscription_id)
  if (!subscription) return undefined
  return {
    type: 'renewed',
    provider: 'lemonsqueezy',
    notificationId,
    test: invoice.test_mode,
    at,
    link: `order:${subscription.orderId}`,
    paymentId: data.id,
    paidUntil: subscription.paidUntil,
    amount: invoice.total,
    currency: invoice.currency.toLowerCase(),
  }
}

const Subscription = z.object({
  order_id: Numeric,
  status: z.string(),
  renews_at: z.string().nullish(),
  ends_at: z.string().nullish(),
  updated_at: z.string(),
  test_mode: z.boolean().default(false),
})

/** A subscription that is paid says until when, though not how much was paid. */
function prolongedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const subscription = Subscription.safeParse(data.attributes).data
  const at = momentFrom(subscription?.updated_at)
  if (!subscription || !at) return undefined
  const paidUntil = momentFrom(subscription.renews_at)
  if (subscription.status !== 'active' || paidUntil === undefined) return ignored
  return {
    type: 'renewed',
    provider: 'lemonsqueezy',
    notificationId,
    test: subscription.test_mode,
    at,
    link: `order:${subscription.order_id}`,
    paymentId: `${data.id}.${paidUntil}`,
    paidUntil,
    amount: 0,
    currency: 'usd',
  }
}

function endedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const subscription = Subscription.safeParse(data.attributes).data
  const at = momentFrom(subscription?.updated_at)
  if (!subscription || !at) return undefined
  return {
    type: 'ended',
    provider: 'lemonsqueezy',
    notificationId,
    test: subscription.test_mode,
    at,
    link: `order:${subscription.order_id}`,
    paidUntil: momentFrom(subscription.ends_at) ?? null,
  }
}
