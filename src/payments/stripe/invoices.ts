import { z } from 'zod'
import { ignored, momentOfSeconds as momentOf, type Translated } from '../translated.ts'

type Event = { data: { object?: unknown } }
type Common = { provider: 'stripe'; notificationId: string; test: boolean; at: string }

const Id = z.string().min(1).max(255)

/** Since 2025 the subscription is in `parent`, and only `invoice_payment.paid` names the payment. */
const Invoice = z.object({
  id: Id,
  billing_reason: z.string().nullable(),
  amount_paid: z.int(),
  currency: z.string(),
  payment_intent: Id.nullish(),
  subscription: Id.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: Id }).nullish() }).nullish(),
  lines: z.object({ data: z.array(z.object({ period: z.object({ end: z.int() }) })).min(1) }),
})

/**
 * An invoice of a subscription. The first one is paid by the checkout: it holds the other names of that
 * payment, which neither the checkout nor a charge holds, and the end of the period.
 * @returns undefined when a required field is missing
 */
export function paidBy(event: Event, common: Common): Translated | undefined {
  const invoice = Invoice.safeParse(event.data.object).data
  if (!invoice) return undefined
  const { id, billing_reason: reason, payment_intent: payment } = invoice
  const isFirst = reason === 'subscription_create'
  if (!isFirst && reason !== 'subscription_cycle' && reason !== 'subscription_update') return ignored
  const subscription = subscriptionOf(invoice)
  if (!subscription) return undefined
  const about = { ...common, link: `subscription:${subscription}` }
  const names = [`invoice:${id}`, ...(payment ? [`payment:${payment}`] : [])]
  const paidUntil = periodEndOf(invoice)
  if (isFirst) return { type: 'payment named', ...about, names, isFirst, paidUntil }
  const { amount_paid: amount, currency } = invoice
  return { type: 'renewed', ...about, paymentId: id, links: names, paidUntil, amount, currency }
}

const FailedInvoice = Invoice.extend({
  attempt_count: z.int().nonnegative().nullish(),
  next_payment_attempt: z.int().nullish(),
})

/**
 * An invoice for another period whose payment failed. One whose subscription begins with it, or was changed, renews nothing.
 * @returns undefined when a required field is missing
 */
export function failedBy(event: Event, common: Common): Translated | undefined {
  const invoice = FailedInvoice.safeParse(event.data.object).data
  if (!invoice) return undefined
  if (invoice.billing_reason !== 'subscription_cycle') return ignored
  const subscription = subscriptionOf(invoice)
  if (!subscription) return undefined
  const { id: paymentId, attempt_count: attempt, next_payment_attempt: next } = invoice
  return {
    type: 'renewal_failed',
    ...common,
    link: `subscription:${subscription}`,
    paymentId,
    periodEnd: periodEndOf(invoice),
    attempt: attempt || null,
    nextAttemptAt: next ? momentOf(next) : null,
  }
}

const subscriptionOf = ({ subscription, parent }: z.infer<typeof Invoice>) =>
  subscription ?? parent?.subscription_details?.subscription

const periodEndOf = ({ lines }: z.infer<typeof Invoice>): string =>
  momentOf(Math.max(...lines.data.map(({ period }) => period.end)))

const InvoicePayment = z.object({
  invoice: Id,
  payment: z.object({ type: z.string(), payment_intent: Id.nullish() }),
})

/** The payment that paid an invoice. @returns undefined when a required field is missing */
export function namedBy(event: Event, common: Common): Translated | undefined {
  const paid = InvoicePayment.safeParse(event.data.object).data
  if (!paid) return undefined
  const { invoice, payment } = paid
  return payment.payment_intent ? namesOf(invoice, payment.payment_intent, common) : ignored
}

/** Records that an invoice and a payment are names of the same payment. */
export function namesOf(invoice: string, payment: string, common: Common) {
  const link = `invoice:${invoice}`
  return {
    type: 'payment named' as const,
    ...common,
    link,
    names: [link, `payment:${payment}`],
    isFirst: false,
  }
}
