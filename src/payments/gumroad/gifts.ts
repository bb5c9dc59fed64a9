import { hash } from 'node:crypto'
import type { PaymentNotification } from '../notification.ts'
import { momentFrom } from '../translated.ts'

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
export function giftLinks(form: URLSearchParams): string[] {
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
