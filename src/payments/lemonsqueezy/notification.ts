import { hash } from 'node:crypto'
import { z } from 'zod'
import { maxItems } from '../../domain/sales/events.ts'
import { ProviderRefused } from '../errors.ts'
import { namedLicense } from '../named-license.ts'
import { hmac, isAmong } from '../signature.ts'
import { ignored, incomplete, momentFrom, parsedAs, type Translated } from '../translated.ts'
import { failedBy, paidBy, paymentRefundedBy } from './invoices.ts'
import type { OrderItem } from './order-items.ts'
import { Numeric, Payload, refundOf } from './payload.ts'
import type { LemonSqueezyReads } from './reads.ts'
import { changedBy, endedBy } from './subscriptions.ts'

/** @see https://docs.lemonsqueezy.com/help/webhooks/signing-requests */
export function verifyLemonSqueezy(raw: Buffer, signature: string, secret: string): boolean {
  return isAmong(hmac(secret, raw), [signature], 'hex')
}

/**
 * Of `custom_data` only the license that bought credits are for is read: buyers can write it into a URL, and could choose what they get.
 * @see https://docs.lemonsqueezy.com/help/webhooks/webhook-requests
 */
export async function translateLemonSqueezy(
  raw: string,
  reads: LemonSqueezyReads | undefined,
): Promise<Translated> {
  const payload = parsedAs(Payload, raw)
  if (!payload) return incomplete
  const notificationId = hash('sha256', raw, 'hex')
  return (await translate(payload, notificationId, reads)) ?? incomplete
}

/** @returns undefined when a required field is missing */
async function translate(
  payload: Payload,
  notificationId: string,
  reads: LemonSqueezyReads | undefined,
): Promise<Translated | undefined> {
  switch (payload.meta.event_name) {
    case 'order_created':
      return soldBy(payload, notificationId, reads)
    case 'order_refunded':
      return refundedBy(payload, notificationId)
    case 'subscription_payment_success':
      return paidBy(payload, notificationId, reads)
    case 'subscription_payment_failed':
      return failedBy(payload, notificationId)
    case 'subscription_payment_refunded':
      return paymentRefundedBy(payload, notificationId)
    case 'subscription_created':
    case 'subscription_updated':
    case 'subscription_plan_changed':
    case 'subscription_paused':
    case 'subscription_unpaused':
    case 'subscription_resumed':
    case 'subscription_cancelled':
      return changedBy(payload, notificationId)
    case 'subscription_expired':
      return endedBy(payload, notificationId)
    default:
      return ignored
  }
}

const Order = z.object({
  order_number: z.int().nullish().catch(null),
  user_name: z.string().nullish(),
  user_email: z.string().nullish(),
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

/** Statuses of orders without a payment. */
const unpaid = new Set(['pending', 'failed', 'fraudulent'])

async function soldBy(
  { data, meta }: Payload,
  notificationId: string,
  reads: LemonSqueezyReads | undefined,
): Promise<Translated | undefined> {
  const order = Order.safeParse(data.attributes).data
  const at = momentFrom(order?.created_at)
  if (!order || !at) return undefined
  if (unpaid.has(order.status)) return ignored
  const { first_order_item: first, user_email: email, user_name: name } = order
  const only = {
    variantId: first.variant_id,
    productName: first.product_name ?? null,
    quantity: first.quantity,
  }
  const items = await itemsOf(data.id, only, reads)
  if (items.length > maxItems) return undefined
  const [item = only, ...others] = items
  const productName = items.flatMap((one) => one.productName || []).join(', ')
  return {
    type: 'sold',
    provider: 'lemonsqueezy',
    notificationId,
    test: order.test_mode,
    at,
    saleId: data.id,
    sessionId: data.id,
    ...(typeof order.order_number === 'number' && { orderNumber: String(order.order_number) }),
    links: [`order:${data.id}`],
    ...soldAs(item),
    ...(others.length > 0 && { more: others.map(soldAs) }),
    ...namedLicense(meta.custom_data),
    customer: email ? { email, ...(name && { name }) } : null,
    amount: order.total,
    currency: order.currency.toLowerCase(),
    ...(productName && { productName }),
  }
}

const soldAs = ({ variantId, quantity }: OrderItem) => ({ sold: { providerProduct: variantId }, quantity })

/**
 * All items of an order, of which the notification holds the first one.
 * @returns that one alone without a key, or when the key has no access: asking again would give the same answer
 * @throws ProviderUnavailable
 */
async function itemsOf(
  orderId: string,
  first: OrderItem,
  reads: LemonSqueezyReads | undefined,
): Promise<OrderItem[]> {
  try {
    const items = (await reads?.orderItems(orderId)) ?? []
    return items.length > 0 ? items : [first]
  } catch (error) {
    if (error instanceof ProviderRefused) return [first]
    throw error
  }
}

function refundedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const order = Order.safeParse(data.attributes).data
  return order && refundOf(order, { id: data.id, link: `order:${data.id}` }, notificationId)
}
