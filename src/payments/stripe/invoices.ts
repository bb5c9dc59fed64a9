import { z } from 'zod'
import { ignored, momentOfSeconds as momentOf, type Translated } from '../translated.ts'

type Event = { data: { object?: unknown } }
type Common = { provider: 'stripe'; notificationId: string; test: boolean; at: string }

const Id = z.string().min(1).max(255)

/** Since 2025 the subscription stands in `parent`, and the payment is told by `invoice_payment.paid` alone. */
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
 * An invoice of a subscription. The first one is paid by the checkout: it says under which other names that payment is
 * known, since neither the checkout nor a charge says so, and how far it reaches.
 * @returns undefined when it lacks what it should have
 */
export function paidBy(event: Event, common: Common): Translated | undefined {
  const invoice = Invoice.safeParse(event.data.object).data
  if (!invoice) return undefined
  const { id, billing_reason: reason, payment_intent: payment } = invoice
  const isFirst = reason === 'subscription_create'
  if (!isFirst && reason !== 'subscription_cycle' && reason !== 'subscription_update') return ignored
  const subscription = invoice.subscription ?? invoice.parent?.subscription_details?.subscription
  if (!subscription) return undefined
  const about = { ...common, link: `subscription:${subscription}` }
  const names = [`invoice:${id}`, ...(payment ? [`payment:${payment}`] : [])]
  const paidUntil = momentOf(Math.max(...invoice.lines.data.map(({ period }) => period.end)))
  if (isFirst) return { type: 'payment named', ...about, names, isFirst, paidUntil }
  const { amount_paid: amount, currency } = invoice
  return { type: 'renewed', ...about, paymentId: id, links: names, paidUntil, amount, currency }
}

const InvoicePayment = z.object({
  invoice: Id,
  payment: z.object({ type: z.string(), payment_intent: Id.nullish() }),
})

/** By which payment an invoice was paid. @returns undefined when it lacks what it should have */
export function namedBy(event: Event, common: Common): Translated | undefined {
  const paid = InvoicePayment.safeParse(event.data.object).data
  if (!paid) return undefined
  const { invoice, payment } = paid
  return payment.payment_intent ? namesOf(invoice, payment.payment_intent, common) : ignored
}

/** That an invoice and a payment are the same payment, for whoever knows one of them. */
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
