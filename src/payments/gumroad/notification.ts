import { hash } from 'node:crypto'
import type { PaymentNotification } from '../notification.ts'

/** What a form of gumroad's says, or why it says nothing that can be acted on. */
type Translated = PaymentNotification | { type: 'ignored' } | { type: 'incomplete' }

/**
 * Reads a ping: gumroad's form for a sale. Anything but a real sale is ignored.
 * @param at for a form that does not say when it happened
 * @see https://gumroad.com/ping
 */
export function translatePing(raw: string, at: string): Translated {
  const form = new URLSearchParams(raw)
  if (form.get('resource_name') !== 'sale' || form.get('test') === 'true') return { type: 'ignored' }
  const saleId = form.get('sale_id')
  const email = form.get('email')
  if (!saleId || !email) return { type: 'incomplete' }
  const name = form.get('full_name')
  const subscriptionId = form.get('subscription_id')
  return {
    type: 'sold',
    provider: 'gumroad',
    notificationId: hash('sha256', raw, 'hex'),
    test: false,
    at: momentOf(form.get('sale_timestamp')) ?? at,
    saleId,
    sessionId: `gr_${saleId}`,
    links: [`sale:${saleId}`, ...(subscriptionId ? [`subscription:${subscriptionId}`] : [])],
    sold: { providerProduct: form.get('product_permalink') ?? '' },
    quantity: countOf(form.get('quantity')) || 1,
    customer: { email, ...(name && { name }) },
    amount: countOf(form.get('price')) ?? 0,
    currency: (form.get('currency') || 'usd').toLowerCase(),
    productName: form.get('product_name') || 'Unknown product',
  }
}

function momentOf(text: string | null): string | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** Undefined for what is no whole number. */
function countOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
