import { z } from 'zod'
import { ask } from '../errors.ts'
import { CustomerPage, type NamedPayment } from '../invoice-page.ts'
import { connect } from './api.ts'

const Invoice = z.object({ url: CustomerPage })

/**
 * The invoice of a transaction, a PDF, at an address that works for an hour.
 * @see https://developer.paddle.com/api-reference/transactions/get-transaction-invoice
 * @throws ProviderRefused for a key that may not read transactions, and where there is none, as for a transaction of nothing; ProviderUnavailable
 */
export async function invoicePage(
  apiUrl: string,
  apiKey: string,
  { saleId, paymentId }: NamedPayment,
  timeLimitMs: number,
): Promise<string> {
  const { paddle, errorOf } = await connect(apiUrl, apiKey)
  const read = () => paddle.transactions.getInvoicePDF(paymentId ?? saleId, { disposition: 'inline' })
  return ask('paddle', timeLimitMs, async () => Invoice.parse(await read()).url, errorOf)
}
