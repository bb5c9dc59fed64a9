import type { Stripe } from 'stripe'
import { z } from 'zod'
import { signatureLifetime } from '../signature.ts'
import { ignored, incomplete, momentOfSeconds as momentOf, parsedAs, type Translated } from '../translated.ts'

/**
 * Whether stripe has signed these bytes with the secret, and not long ago.
 * @see https://docs.stripe.com/webhooks#verify-official-libraries
 */
export async function verifyStripe(
  raw: Buffer,
  signature: string,
  secret: string,
  now: Date,
): Promise<boolean> {
  webhooks ??= import('stripe').then(({ Stripe: Client }) => Client.webhooks)
  const { signature: signatures } = await webhooks
  // The SDK takes whatever lies ahead for fresh.
  const sentAt = Number(/(?:^|,)t=(\d+)/.exec(signature)?.[1])
  if (!(sentAt - now.getTime() / 1000 <= signatureLifetime)) return false
  try {
    return (
      signatures?.verifyHeader(raw, signature, secret, signatureLifetime, undefined, now.getTime()) ?? false
    )
  } catch {
    return false
  }
}

/** Loading the SDK takes a while, which happens with the first notification. */
let webhooks: Promise<Stripe['webhooks']> | undefined

const Id = z.string().min(1).max(255)
const Event = z.object({
  id: Id,
  type: z.string(),
  account: Id.optional(),
  livemode: z.boolean(),
  created: z.int(),
  data: z.object({ object: z.unknown(), previous_attributes: z.unknown().optional() }),
})
type Event = z.infer<typeof Event>

export type StripeNotification = {
  /** The connected account that it is about; undefined for the platform's own. */
  accountId: string | undefined
  /** For a payment in test mode: the tenant that its metadata names. */
  testTenantId: string | undefined
  translated: Translated
}

const Metadata = z.record(z.string(), z.string()).nullish()
const Named = z.object({ metadata: Metadata })

/** @returns undefined for what is no event */
export function translateStripe(raw: string): StripeNotification | undefined {
  const event = parsedAs(Event, raw)
  if (!event) return undefined
  const named = Named.safeParse(event.data.object).data?.metadata?.tenant_id
  return {
    accountId: event.account,
    testTenantId: event.livemode ? undefined : named,
    translated: translate(event) ?? incomplete,
  }
}

/** @returns undefined when the event lacks what it should have */
function translate(event: Event): Translated | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return soldBy(event)
    case 'invoice.paid':
      return renewedBy(event)
    case 'charge.refunded':
      return refundedBy(event)
    case 'charge.dispute.created':
    case 'charge.dispute.closed':
      return disputedBy(event)
    case 'customer.subscription.deleted':
      return endedBy(event)
    default:
      return ignored
  }
}

const common = ({ id, livemode, created }: Event) =>
  ({ provider: 'stripe', notificationId: id, test: !livemode, at: momentOf(created) }) as const

const Session = z.object({
  id: Id,
  payment_status: z.enum(['paid', 'unpaid', 'no_payment_required']),
  amount_total: z.int().nullable(),
  currency: z.string().nullable(),
  customer_email: z.string().nullish(),
  customer_details: z.object({ email: z.string().nullish(), name: z.string().nullish() }).nullish(),
  metadata: Metadata,
  payment_intent: Id.nullish(),
  subscription: Id.nullish(),
  invoice: Id.nullish(),
  payment_link: Id.nullish(),
})

function soldBy(event: Event): Translated | undefined {
  const session = Session.safeParse(event.data.object).data
  if (!session) return undefined
  // A payment that takes days is told of by another event, once the money is there.
  if (session.payment_status === 'unpaid') return ignored
  const { id, metadata, customer_details: details } = session
  const email = details?.email ?? session.customer_email
  if (!email) return undefined
  const named = {
    payment: session.payment_intent,
    subscription: session.subscription,
    invoice: session.invoice,
  }
  const keyTypeId = metadata?.key_type_id
  const quantity = Number(metadata?.quantity ?? 1)
  return {
    type: 'sold',
    ...common(event),
    saleId: id,
    sessionId: id,
    links: Object.entries(named).flatMap(([kind, value]) => (value ? [`${kind}:${value}`] : [])),
    sold: metadata?.product_id
      ? { productId: metadata.product_id, ...(keyTypeId && { keyTypeId }) }
      : { providerProduct: session.payment_link ?? id },
    quantity: Number.isInteger(quantity) && quantity > 0 ? quantity : 1,
    customer: { email, ...(details?.name && { name: details.name }) },
    amount: session.amount_total ?? 0,
    currency: session.currency ?? 'usd',
  }
}

/** Since 2025 the subscription stands in `parent`. */
const Invoice = z.object({
  id: Id,
  billing_reason: z.string().nullable(),
  amount_paid: z.int(),
  currency: z.string(),
  subscription: Id.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: Id }).nullish() }).nullish(),
  lines: z.object({ data: z.array(z.object({ period: z.object({ end: z.int() }) })).min(1) }),
})

function renewedBy(event: Event): Translated | undefined {
  const invoice = Invoice.safeParse(event.data.object).data
  if (!invoice) return undefined
  if (invoice.billing_reason !== 'subscription_cycle') return ignored
  const subscription = invoice.subscription ?? invoice.parent?.subscription_details?.subscription
  if (!subscription) return undefined
  return {
    type: 'renewed',
    ...common(event),
    link: `subscription:${subscription}`,
    paymentId: invoice.id,
    links: [`invoice:${invoice.id}`],
    paidUntil: momentOf(Math.max(...invoice.lines.data.map(({ period }) => period.end))),
    amount: invoice.amount_paid,
    currency: invoice.currency,
  }
}

const Charge = z.object({
  id: Id,
  amount_refunded: z.int(),
  currency: z.string(),
  refunded: z.boolean(),
  payment_intent: Id.nullish(),
  invoice: Id.nullish(),
})
const Before = z.object({ amount_refunded: z.int() })

function refundedBy(event: Event): Translated | undefined {
  const charge = Charge.safeParse(event.data.object).data
  const link = charge && linkOf(charge)
  if (!charge || !link) return undefined
  // A charge sums up all its refunds; this one is the difference.
  const before = Before.safeParse(event.data.previous_attributes).data?.amount_refunded ?? 0
  return {
    type: 'refunded',
    ...common(event),
    link,
    refundId: `${charge.id}.${charge.amount_refunded}`,
    amount: charge.amount_refunded - before,
    currency: charge.currency,
    full: charge.refunded,
  }
}

/** Charges say nothing of their session: the payment leads to it, or in older versions of the API the invoice. */
function linkOf({
  invoice,
  payment_intent,
}: {
  invoice?: unknown
  payment_intent?: unknown
}): string | undefined {
  if (typeof invoice === 'string') return `invoice:${invoice}`
  return typeof payment_intent === 'string' ? `payment:${payment_intent}` : undefined
}

const Dispute = z.object({
  id: Id,
  status: z.string(),
  amount: z.int(),
  currency: z.string(),
  payment_intent: Id.nullish(),
})

/** How a dispute ends, which of an early warning is that nothing came of it. */
const endOf = new Map<string, 'dispute_won' | 'dispute_lost'>([
  ['won', 'dispute_won'],
  ['warning_closed', 'dispute_won'],
  ['lost', 'dispute_lost'],
])

function disputedBy(event: Event): Translated | undefined {
  const dispute = Dispute.safeParse(event.data.object).data
  const link = dispute && linkOf(dispute)
  if (!dispute || !link) return undefined
  const type = event.type === 'charge.dispute.created' ? 'disputed' : endOf.get(dispute.status)
  if (type === undefined) return ignored
  const { id, amount, currency } = dispute
  return { type, ...common(event), link, disputeId: id, amount, currency }
}

/** Since 2025 the period stands with the items. */
const Subscription = z.object({
  id: Id,
  ended_at: z.int().nullish(),
  current_period_end: z.int().nullish(),
  items: z.object({ data: z.array(z.object({ current_period_end: z.int().nullish() })) }).nullish(),
  cancellation_details: z.object({ reason: z.string().nullish() }).nullish(),
})

function endedBy(event: Event): Translated | undefined {
  const subscription = Subscription.safeParse(event.data.object).data
  if (!subscription) return undefined
  const { id, ended_at: endedAt, items, cancellation_details: cancellation } = subscription
  const ends = items?.data.flatMap(({ current_period_end: end }) => end ?? []) ?? []
  const periodEnd = subscription.current_period_end ?? (ends.length > 0 ? Math.max(...ends) : undefined)
  // A period that could not be charged has begun, and was not paid.
  const paidUntil = cancellation?.reason === 'payment_failed' ? endedAt : (periodEnd ?? endedAt)
  return {
    type: 'ended',
    ...common(event),
    link: `subscription:${id}`,
    paidUntil: paidUntil ? momentOf(paidUntil) : null,
  }
}
