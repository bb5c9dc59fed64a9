import { z } from 'zod'
import { ProviderRefused } from '../errors.ts'
import { CustomerPage, linked, type NamedPayment } from '../invoice-page.ts'
import type { Call } from './call.ts'

type Account = [key: string | undefined, options: { stripeAccount?: string }]

const Invoice = z.object({ hosted_invoice_url: CustomerPage.nullable() })
const Paid = z.object({ latest_charge: z.object({ receipt_url: CustomerPage.nullable() }).nullable() })

/**
 * The page of an invoice, or of the receipt of a payment without one.
 * @see https://docs.stripe.com/api/invoices/object#invoice_object-hosted_invoice_url
 * @see https://docs.stripe.com/api/charges/object#charge_object-receipt_url
 * @returns undefined when the account has neither
 */
export async function readInvoicePage(
  call: Call,
  [key, options]: Account,
  payment: NamedPayment,
): Promise<string | undefined> {
  // Payments after the first are known by their invoices.
  const invoice = payment.paymentId ?? linked(payment, 'invoice')
  const paid = linked(payment, 'payment')
  try {
    if (invoice !== undefined) {
      const read = await call(key, Invoice, (stripe) => stripe.invoices.retrieve(invoice, {}, options))
      return read.hosted_invoice_url ?? undefined
    }
    if (paid === undefined) return undefined
    const expand = { expand: ['latest_charge'] }
    const read = await call(key, Paid, (stripe) => stripe.paymentIntents.retrieve(paid, expand, options))
    return read.latest_charge?.receipt_url ?? undefined
  } catch (error) {
    if (error instanceof ProviderRefused && error.reason === 'missing') return undefined
    throw error
  }
}
