import { z } from 'zod'
import { ask } from '../errors.ts'
import { CustomerPage, type NamedPayment } from '../invoice-page.ts'
import { connect } from './api.ts'

const Invoice = z.object({ url: CustomerPage })

/**
 * The invoice of a transaction, a PDF, at an address that works for an hour.
 * @see https://developer.paddle.com/api-reference/transactions/get-transaction-invoice
 * @returns undefined when there is none, as for a transaction of nothing
 * @throws ProviderRefused for a key that may not read transactions, ProviderUnavailable
 */
export async function invoicePage(
  apiUrl: string,
  apiKey: string,
  { saleId, paymentId }: NamedPayment,
  timeLimitMs: number,
): Promise<string | undefined> {
  const { paddle, errorOf, isMissing } = await connect(apiUrl, apiKey)
  const read = () =>
    paddle.transactions
      .getInvoicePDF(paymentId ?? saleId, { disposition: 'inline' })
      .catch((error: unknown) => {
        if (isMissing(error)) return undefined
        throw error
      })
  return ask('paddle', timeLimitMs, async () => Invoice.optional().parse(await read())?.url, errorOf)
}
