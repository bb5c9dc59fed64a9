import { z } from 'zod'
import { callWithKey, contentOf } from '../call-with-key.ts'
import { CustomerPage, type NamedPayment } from '../invoice-page.ts'

const Order = z.object({
  data: z.object({ attributes: z.object({ urls: z.object({ receipt: CustomerPage.nullish() }) }) }),
})
const Invoice = z.object({
  data: z.object({ attributes: z.object({ urls: z.object({ invoice_url: CustomerPage.nullish() }) }) }),
})

/**
 * The page of an order, or of an invoice of its subscription.
 * @see https://docs.lemonsqueezy.com/api/orders/the-order-object
 * @see https://docs.lemonsqueezy.com/api/subscription-invoices/the-subscription-invoice-object
 * @returns undefined when there is none
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function invoicePage(
  apiUrl: string,
  apiKey: string,
  { saleId, paymentId }: NamedPayment,
  timeLimitMs: number,
): Promise<string | undefined> {
  const what = paymentId === null ? `orders/${saleId}` : `subscription-invoices/${paymentId}`
  const input = { apiKey, accept: 'application/vnd.api+json', timeLimitMs }
  const answer = await callWithKey('lemonsqueezy', new URL(`/v1/${what}`, apiUrl).href, input)
  if (answer.status === 404) return undefined
  const found =
    paymentId === null
      ? contentOf(Order, answer).data.attributes.urls.receipt
      : contentOf(Invoice, answer).data.attributes.urls.invoice_url
  return found ?? undefined
}
