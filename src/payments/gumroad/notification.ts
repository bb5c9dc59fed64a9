import { hash } from 'node:crypto'
import { unknownProduct } from '../../domain/sales/events.ts'
import { Currency } from '../../domain/sales/notifications.ts'
import { namedLicense } from '../named-license.ts'
import type { PaymentNotification } from '../notification.ts'
import { ignored, incomplete, momentFrom, type Translated } from '../translated.ts'

/**
 * Reads a ping: gumroad's form for a sale, or for a renewal of one. Anything but a paid sale is ignored.
 * @param now the time of a form without one
 * @see https://gumroad.com/ping
 */
export function translatePing(raw: string, now: Date): Translated {
  const form = new URLSearchParams(raw)
  if (form.get('test') === 'true') return ignoredTest(raw)
  if (form.get('resource_name') !== 'sale') return ignored
  // Nothing is paid yet. The later charge is a purchase of its own, with a ping of its own.
  if (form.get('is_preorder_authorization') === 'true') return ignored
  const saleId = form.get('sale_id')
  const email = form.get('email')
  if (!saleId || !email) return incomplete
  const at = momentFrom(form.get('sale_timestamp')) ?? now.toISOString()
  const subscriptionId = form.get('subscription_id')
  const paidUntil = subscriptionId ? endOfPeriod(at, form.get('recurrence')) : undefined
  const money = { amount: countOf(form.get('price')) ?? 0, currency: currencyOf(form) }
  const common = { ...sender, notificationId: hash('sha256', raw, 'hex'), at, ...money }
  if (form.get('is_recurring_charge') === 'true') {
    if (!subscriptionId || paidUntil === undefined) return incomplete
    return {
      type: 'renewed',
      ...common,
      link: `subscription:${subscriptionId}`,
      paymentId: saleId,
      links: [`sale:${saleId}`],
      paidUntil,
    }
  }
  const permalink = form.get('product_permalink')
  if (!permalink) return incomplete
  const name = form.get('full_name')
  const orderNumber = form.get('order_number')?.slice(0, 255)
  const isGift = form.get('is_gift_receiver_purchase') === 'true'
  const giver = isGift && form.get('gifter_email')
  return {
    type: 'sold',
    ...common,
    // The receiver's own purchase has no price.
    ...(isGift && { amount: countOf(form.get('gift_price')) ?? 0 }),
    saleId,
    sessionId: `gr_${saleId}`,
    ...(orderNumber && { orderNumber }),
    links: [
      `sale:${saleId}`,
      ...(subscriptionId ? [`subscription:${subscriptionId}`] : []),
      ...(isGift ? giftLinks(form) : []),
    ],
    sold: { providerProduct: permalink },
    quantity: countOf(form.get('quantity')) || 1,
    ...namedLicense({ license_id: form.get('url_params[license_id]') }),
    customer: { email, ...(name && { name }) },
    ...(giver && { giver: { email: giver } }),
    productName: form.get('product_name') || unknownProduct,
    ...(paidUntil !== undefined && { paidUntil }),
  }
}

const ignoredTest = (raw: string): Translated => ({ type: 'ignored', testId: hash('sha256', raw, 'hex') })

/**
 * Reads gumroad's requests to URLs that were subscribed through its API. Sales, renewals and announcements
 * are ignored: sales come as pings, and a cancelled subscription continues until it has ended.
 * @see https://gumroad.com/api#resource-subscriptions
 */
export function translateResource(raw: string, now: Date): Translated {
  const form = new URLSearchParams(raw)
  if (form.get('test') === 'true') return ignoredTest(raw)
  const notificationId = hash('sha256', raw, 'hex')
  const resource = form.get('resource_name')
  if (resource === 'subscription_ended') {
    const subscriptionId = form.get('subscription_id')
    if (!subscriptionId) return incomplete
    const endedAt = momentFrom(form.get('ended_at'))
    return {
      type: 'ended',
      ...sender,
      notificationId,
      at: endedAt ?? now.toISOString(),
      link: `subscription:${subscriptionId}`,
      paidUntil: endedAt ?? null,
      // The last installment was paid, or the last period of a membership of fixed length.
      ...(form.get('ended_reason') === 'fixed_subscription_period_ended' && { paidInFull: true }),
    }
  }
  if (resource !== 'refund' && resource !== 'dispute' && resource !== 'dispute_won') return ignored
  const saleId = form.get('sale_id')
  if (!saleId) return incomplete
  // The form repeats the sale with the time of the sale; the time of this change is not in it.
  const about = { ...sender, notificationId, at: now.toISOString(), link: `sale:${saleId}` }
  if (resource !== 'refund') {
    // A disputed amount is lost at once. A lost dispute has no notification of its own, only a won one.
    return { type: resource === 'dispute' ? 'dispute_lost' : 'dispute_won', ...about, disputeId: saleId }
  }
  const full = form.get('refunded') === 'true'
  return {
    type: 'refunded',
    ...about,
    refundId: full ? saleId : notificationId,
    // Gumroad does not send the amount of a partial refund.
    amount: full ? (countOf(form.get('price')) ?? 0) : 0,
    currency: currencyOf(form),
    full,
  }
}

const sender = { provider: 'gumroad', test: false } as const

const monthsOf = new Map([
  ['monthly', 1],
  ['quarterly', 3],
  ['biannually', 6],
  ['yearly', 12],
  ['every_two_years', 24],
])

/** The end of the period that a payment covers; undefined for an unknown recurrence. */
function endOfPeriod(from: string, recurrence: string | null): string | undefined {
  const months = monthsOf.get(recurrence ?? '')
  if (months === undefined) return undefined
  const end = new Date(from)
  const day = end.getUTCDate()
  end.setUTCMonth(end.getUTCMonth() + months)
  // A period that begins on the 31st ends on the last day of a shorter month, not in the month after it.
  if (end.getUTCDate() !== day) end.setUTCDate(0)
  return end.toISOString()
}

/**
 * Prices are in US cents, whatever currency the seller has priced the product in: that is the one which the form names.
 * @returns the form's own text if it is no currency, to be refused with everything else that cannot be recorded
 */
function currencyOf(form: URLSearchParams): string {
  const listed = form.get('currency') || 'usd'
  return Currency.safeParse(listed.toLowerCase()).success ? 'usd' : listed
}

/** Undefined for text that is not a whole number. */
function countOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** A giver's purchase and the receiver's are made by the same request, and their times have whole seconds. */
const apartMs = 5000
const bucketMs = 2 * apartMs

/**
 * A gift is two purchases at gumroad. Only the receiver's is pinged, as a sale without a price; refunds and disputes are
 * sent of the giver's, whose id no ping holds. Both forms hold the product, what was paid, the giver's address and
 * nearly the same time, which make a link. Of the address it has only so much that it cannot be guessed from the link.
 */
const giftLink = (product: string, price: string, email: string, bucket: number): string =>
  `gift:${product}.${price}.${bucket}.${hash('sha256', email.trim().toLowerCase(), 'hex').slice(0, 4)}`

/** The links of a receiver's purchase: one or two, so that the giver's time may be a little earlier or later. */
function giftLinks(form: URLSearchParams): string[] {
  const given = partsOf(form, 'gift_price', 'gifter_email')
  if (!given) return []
  const { product, price, email, time } = given
  const buckets = new Set([time - apartMs, time + apartMs].map((edge) => Math.floor(edge / bucketMs)))
  return [...buckets].map((bucket) => giftLink(product, price, email, bucket))
}

/**
 * Names the first payment of a gift by the giver's purchase, so that the notification about that purchase finds the
 * receiver's sale.
 * @param notification the refund or dispute of a purchase that is not known as a sale
 * @returns undefined when it cannot be that of a giver
 */
export function giverNamed(raw: string, notification: PaymentNotification): PaymentNotification | undefined {
  const form = new URLSearchParams(raw)
  const saleId = form.get('sale_id')
  const paid = partsOf(form, 'price', 'email')
  if (!paid || !saleId || form.get('is_gift_receiver_purchase') === 'true') return undefined
  const { provider, notificationId, test, at } = notification
  const link = giftLink(paid.product, paid.price, paid.email, Math.floor(paid.time / bucketMs))
  const common = { provider, notificationId: `${notificationId}.gift`, test, at }
  return { type: 'payment named', ...common, link, names: [`sale:${saleId}`], isFirst: true }
}

function partsOf(form: URLSearchParams, priceField: string, emailField: string) {
  const [product, price, email] = [form.get('product_id'), form.get(priceField), form.get(emailField)]
  const at = momentFrom(form.get('sale_timestamp'))
  if (!product || !price || !email || at === undefined || !/^\d{1,15}$/.test(price)) return undefined
  return { product, price, email, time: Date.parse(at) }
}
