import { z } from 'zod'
import { callWithKey, contentOf } from '../call-with-key.ts'
import { CustomerPage, type NamedPayment } from '../invoice-page.ts'

const Invoice = z.object({ url: CustomerPage.nullable() })

/**
 * The invoice of an order. Polar makes one when the customer gives an address for it, on its own pages.
 * @see https://polar.sh/docs/api-reference/orders/get-invoice
 * @returns undefined when none was made
 * @throws ProviderRefused for a token that lacks `orders:read`, ProviderUnavailable
 */
export async function invoicePage(
  apiUrl: string,
  apiKey: string,
  { saleId, paymentId }: NamedPayment,
  timeLimitMs: number,
): Promise<string | undefined> {
  const url = `${apiUrl}/v1/orders/${encodeURIComponent(paymentId ?? saleId)}/invoice`
  const answer = await callWithKey('polar', url, { apiKey, accept: 'application/json', timeLimitMs })
  return answer.status === 404 ? undefined : (contentOf(Invoice, answer).url ?? undefined)
}
