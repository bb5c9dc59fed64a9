import type { Stripe } from 'stripe'
import { z } from 'zod'
import { tagOf } from '../../domain/portal/languages.ts'
import { namedLicense } from '../named-license.ts'
import { signatureLifetime } from '../signature.ts'
import { ignored, incomplete, momentOfSeconds as momentOf, parsedAs, type Translated } from '../translated.ts'
import { failedBy, namedBy, paidBy } from './invoices.ts'
import { inMinorUnits } from './price-list.ts'
import { changedBy, endedBy } from './subscriptions.ts'

/**
 * Whether Stripe has signed these bytes with the secret, and recently.
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
  // The SDK accepts any time in the future.
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

/** Loaded with the first notification, since it takes a while. */
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
  /** The connected account of the event; undefined for the platform's own. */
  accountId: string | undefined
  /** For a payment in test mode: the tenant in its metadata. */
  testTenantId: string | undefined
  translated: Translated
  /** The session of a sale whose line items have to be read: its metadata alone do not say what was bought. */
  sessionToRead: string | undefined
}

const Metadata = z.record(z.string(), z.string()).nullish()
const Named = z.object({ metadata: Metadata })

/** @returns undefined for a body that is not an event */
export function translateStripe(raw: string): StripeNotification | undefined {
  const event = parsedAs(Event, raw)
  if (!event) return undefined
  const named = Named.safeParse(event.data.object).data?.metadata?.tenant_id
  const translated = inMinorUnits(translate(event) ?? incomplete)
  return {
    accountId: event.account,
    testTenantId: event.livemode ? undefined : named,
    translated,
    sessionToRead: translated.type === 'sold' ? sessionToRead(event, translated.saleId) : undefined,
  }
}

/** A session with `product_id` sells that alone; the buyer of a payment link may have chosen a quantity and more items. */
function sessionToRead({ data }: Event, sessionId: string): string | undefined {
  const { metadata, payment_link: link } = Session.safeParse(data.object).data ?? {}
  return metadata?.product_id && !link ? undefined : sessionId
}

/** @returns undefined when a required field is missing */
function translate(event: Event): Translated | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return soldBy(event)
    case 'invoice.paid':
      return paidBy(event, common(event))
    case 'invoice.payment_failed':
      return failedBy(event, common(event))
    case 'invoice_payment.paid':
      return namedBy(event, common(event))
    case 'charge.refunded':
      return refundedBy(event)
    case 'charge.dispute.created':
    case 'charge.dispute.closed':
      return disputedBy(event)
    case 'customer.subscription.updated':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
      return changedBy(event, common(event))
    case 'customer.subscription.deleted':
      return endedBy(event, common(event))
    default:
      return ignored
  }
}

const common = ({ id, livemode, created }: Event) =>
  ({ provider: 'stripe', notificationId: id, test: !livemode, at: momentOf(created) }) as const

const Session = z.object({
  id: Id,
  mode: z.string().nullish(),
  payment_status: z.enum(['paid', 'unpaid', 'no_payment_required']),
  amount_total: z.int().nullable(),
  currency: z.string().nullable(),
  customer_email: z.string().nullish(),
  customer_details: z.object({ email: z.string().nullish(), name: z.string().nullish() }).nullish(),
  metadata: Metadata,
  /** `auto`, unless the session was made for one language. */
  locale: z.string().nullish(),
  payment_intent: Id.nullish(),
  subscription: Id.nullish(),
  invoice: Id.nullish(),
  payment_link: Id.nullish(),
})

function soldBy(event: Event): Translated | undefined {
  const session = Session.safeParse(event.data.object).data
  if (!session) return undefined
  // Saving a card for later is no purchase.
  if (session.mode === 'setup') return ignored
  // For a payment that takes days, another event follows once it has succeeded.
  if (session.payment_status === 'unpaid') return ignored
  const { id, metadata, customer_details: details } = session
  const email = details?.email || session.customer_email
  const named = {
    payment: session.payment_intent,
    subscription: session.subscription,
    invoice: session.invoice,
  }
  const { key_type_id: keyTypeId, pack_id: packId } = metadata ?? {}
  const language = tagOf(session.locale) ?? tagOf(metadata?.language)
  const quantity = Number(metadata?.quantity ?? 1)
  return {
    type: 'sold',
    ...common(event),
    saleId: id,
    sessionId: id,
    links: Object.entries(named).flatMap(([kind, value]) => (value ? [`${kind}:${value}`] : [])),
    sold:
      metadata?.product_id && !packId
        ? { productId: metadata.product_id, ...(keyTypeId && { keyTypeId }) }
        : { providerProduct: packId || session.payment_link || id },
    quantity: Number.isInteger(quantity) && quantity > 0 ? quantity : 1,
    ...namedLicense(metadata),
    customer: email
      ? { email, ...(details?.name && { name: details.name }), ...(language && { language }) }
      : null,
    amount: session.amount_total ?? 0,
    currency: session.currency ?? 'usd',
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

/** A charge holds the total refunded of it. */
function refundedBy(event: Event): Translated | undefined {
  const charge = Charge.safeParse(event.data.object).data
  const link = charge && linkOf(charge)
  if (!charge || !link) return undefined
  return {
    type: 'refunded',
    ...common(event),
    link,
    refundId: `${charge.id}.${charge.amount_refunded}`,
    amount: charge.amount_refunded,
    cumulative: true,
    currency: charge.currency,
    full: charge.refunded,
  }
}

/**
 * Charges do not name their session: the payment leads to it, or in older versions of the API the invoice.
 */
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

/** The outcomes of a dispute; an early warning can end without a dispute. */
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
