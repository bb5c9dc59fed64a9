import { z } from 'zod'
import { maxItems } from '../../domain/sales/events.ts'
import { ProviderRefused } from '../errors.ts'
import { namedLicense } from '../named-license.ts'
import type { Buyer } from '../notification.ts'
import { hmac, isAmong, isFresh } from '../signature.ts'
import { ignored, incomplete, isPaused, momentFrom, parsedAs, type Translated } from '../translated.ts'
import { failedBy } from './failed-payments.ts'

/**
 * The signature is `ts=…;h1=…`, with more than one `h1` while a secret is replaced.
 * @see https://developer.paddle.com/webhooks/signature-verification
 */
export function verifyPaddle(raw: Buffer, signature: string, secret: string, now: Date): boolean {
  const parts = signature.split(';').map((part) => part.split('=', 2))
  const valuesOf = (name: string) => parts.flatMap(([key, value = '']) => (key === name ? [value] : []))
  const [seconds = ''] = valuesOf('ts')
  return isFresh(seconds, now) && isAmong(hmac(secret, `${seconds}:`, raw), valuesOf('h1'), 'hex')
}

export type PaddleContext = {
  /** Whether the integration uses paddle's sandbox, which notifications do not show. */
  test: boolean
  /** Whether a price's id is mapped. */
  isMapped(priceId: string): boolean
  /** Reads the buyer, who is not part of a transaction; undefined when the integration has no API key. */
  readCustomer: ((customerId: string) => Promise<Buyer | null>) | undefined
}

const Id = z.string().min(1).max(255)
const Event = z.object({
  notification_id: Id.optional(),
  event_id: Id,
  event_type: z.string(),
  occurred_at: z.string(),
  data: z.unknown(),
})
type Event = z.infer<typeof Event>

/** Amounts are strings with a whole number of minor units. */
const Amount = z
  .string()
  .regex(/^-?\d{1,15}$/)
  .transform(Number)

/** @see https://developer.paddle.com/webhooks/overview */
export async function translatePaddle(raw: string, context: PaddleContext): Promise<Translated> {
  const event = parsedAs(Event, raw)
  const at = momentFrom(event?.occurred_at)
  if (!event || !at) return incomplete
  const common = { provider: 'paddle', notificationId: event.event_id, test: context.test, at } as const
  return (await translate(event, common, context)) ?? incomplete
}

type Common = { provider: 'paddle'; notificationId: string; test: boolean; at: string }

/** @returns undefined when a required field is missing */
async function translate(
  event: Event,
  common: Common,
  context: PaddleContext,
): Promise<Translated | undefined> {
  switch (event.event_type) {
    case 'transaction.completed':
      return paidBy(event, common, context)
    case 'transaction.payment_failed':
    case 'transaction.past_due':
      return failedBy(event, common)
    case 'adjustment.created':
    case 'adjustment.updated':
      return adjustedBy(event, common)
    case 'subscription.updated':
    case 'subscription.paused':
    case 'subscription.resumed':
      return changedBy(event, common, context)
    case 'subscription.canceled':
      return endedBy(event, common)
    default:
      return ignored
  }
}

const Transaction = z.object({
  id: Id,
  invoice_number: z.string().max(255).nullish().catch(null),
  customer_id: Id.nullish(),
  origin: z.string(),
  subscription_id: Id.nullish(),
  currency_code: z.string().length(3),
  custom_data: z.record(z.string(), z.unknown()).nullish(),
  billing_period: z.object({ ends_at: z.string() }).nullish(),
  items: z
    .array(
      z.object({
        price: z.object({ id: Id, name: z.string().nullish(), description: z.string().nullish() }),
        quantity: z.int().positive(),
      }),
    )
    .min(1)
    .max(maxItems),
  details: z.object({
    totals: z.object({ grand_total: Amount, total: Amount.nullish() }),
    line_items: z.array(z.object({ id: Id, price_id: Id, totals: z.object({ total: Amount }) })).nullish(),
  }),
})
type Transaction = z.infer<typeof Transaction>

async function paidBy(event: Event, common: Common, context: PaddleContext): Promise<Translated | undefined> {
  const transaction = Transaction.safeParse(event.data).data
  if (!transaction) return undefined
  const { id, subscription_id: subscriptionId, billing_period: period } = transaction
  const paidUntil = momentFrom(period?.ends_at)
  const { total, grand_total: charged } = transaction.details.totals
  // The part that was paid from the customer's credit is refunded with the rest.
  const amount = Math.max(total ?? 0, charged)
  const currency = transaction.currency_code.toLowerCase()
  const isRecurring = transaction.origin === 'subscription_recurring'
  if (isRecurring || (transaction.origin === 'subscription_update' && subscriptionId && paidUntil)) {
    if (!subscriptionId || !paidUntil) return undefined
    const link = `subscription:${subscriptionId}`
    return {
      type: 'renewed',
      ...common,
      link,
      paymentId: id,
      links: [`transaction:${id}`],
      paidUntil,
      amount,
      currency,
    }
  }
  // Other charges on a subscription do not pay for a period.
  if (transaction.origin.startsWith('subscription_')) return ignored
  const [item, ...more] = transaction.items.map(({ price, quantity }) => ({
    sold: { providerProduct: price.id },
    quantity,
    ...lineOf(transaction, price.id),
  }))
  if (!item) return undefined
  const names = transaction.items.flatMap(({ price }) => price.name ?? price.description ?? [])
  const productName = names.join(', ')
  return {
    type: 'sold',
    ...common,
    saleId: id,
    sessionId: id,
    ...(transaction.invoice_number && { orderNumber: transaction.invoice_number }),
    links: [`transaction:${id}`, ...(subscriptionId ? [`subscription:${subscriptionId}`] : [])],
    ...item,
    ...(more.length > 0 && { more }),
    ...namedLicense(transaction.custom_data),
    customer: await customerOf(transaction, context),
    amount,
    currency,
    ...(productName && { productName }),
    ...(subscriptionId && paidUntil && { paidUntil }),
  }
}

/** Adjustments name the lines of the transaction. */
function lineOf({ details }: Transaction, priceId: string) {
  const line = details.line_items?.find(({ price_id: id }) => id === priceId)
  return line ? { line: { lineId: line.id, amount: Math.max(0, line.totals.total) } } : {}
}

/**
 * An address in the vendor's custom data makes the request unnecessary.
 * @returns null when the buyer is unknown, also because the key has no access; the sale is paid all the same
 * @throws ProviderUnavailable
 */
async function customerOf(
  { custom_data: data, customer_id: customerId }: Transaction,
  { readCustomer }: PaddleContext,
): Promise<Buyer | null> {
  const given = data?.customer_email ?? data?.email
  if (typeof given === 'string' && given !== '') return { email: given }
  if (!customerId || !readCustomer) return null
  try {
    return await readCustomer(customerId)
  } catch (error) {
    if (error instanceof ProviderRefused) return null
    throw error
  }
}

const Adjustment = z.object({
  id: Id,
  action: z.string(),
  type: z.string().nullish(),
  transaction_id: Id,
  status: z.string(),
  currency_code: z.string().length(3),
  totals: z.object({ total: Amount }),
  items: z
    .array(
      z.object({
        item_id: Id,
        amount: Amount.nullish(),
        totals: z.object({ total: Amount }).nullish(),
      }),
    )
    .nullish(),
})

/** Paddle handles chargebacks itself: when it sends one, the amount is already lost. */
function adjustedBy(event: Event, common: Common): Translated | undefined {
  const adjustment = Adjustment.safeParse(event.data).data
  if (!adjustment) return undefined
  // Paddle marks a chargeback as reversed when it is given back, beside the adjustment that gives it back.
  const isReversed = adjustment.status === 'reversed' && adjustment.action === 'chargeback'
  if (adjustment.status !== 'approved' && !isReversed) return ignored
  const { id, action, transaction_id: transactionId, totals, items } = adjustment
  const about = { ...common, link: `transaction:${transactionId}` }
  const money = { amount: Math.abs(totals.total), currency: adjustment.currency_code.toLowerCase() }
  // A transaction that was given back can be charged back again.
  const dispute = { disputeId: transactionId, caseId: id, ...money }
  switch (action) {
    case 'refund': {
      // A refund of every item has the type `partial` too; its amount shows that it is full.
      const lines = items?.map((item) => ({
        lineId: item.item_id,
        amount: Math.abs(item.totals?.total ?? item.amount ?? 0),
      }))
      return {
        type: 'refunded',
        ...about,
        refundId: id,
        ...money,
        full: adjustment.type === 'full',
        ...(lines && lines.length > 0 && { lines }),
      }
    }
    case 'chargeback':
      return { type: isReversed ? 'dispute_won' : 'dispute_lost', ...about, ...dispute }
    case 'chargeback_reverse':
      return { type: 'dispute_won', ...about, ...dispute }
    case 'chargeback_warning':
      return { type: 'disputed', ...about, ...dispute }
    default:
      return ignored
  }
}

const Subscription = z.object({
  id: Id,
  status: z.string().nullish(),
  current_billing_period: z.object({ ends_at: z.string() }).nullish(),
  items: z.array(z.object({ price: z.object({ id: Id }), quantity: z.int().positive() })).nullish(),
})

function changedBy(event: Event, common: Common, { isMapped }: PaddleContext): Translated | undefined {
  const subscription = Subscription.safeParse(event.data).data
  if (!subscription) return undefined
  const { id, status, items } = subscription
  const item = items?.find(({ price }) => isMapped(price.id)) ?? items?.[0]
  const paused = isPaused(status)
  return {
    type: 'subscription',
    ...common,
    link: `subscription:${id}`,
    ...(item && { sold: { providerProduct: item.price.id }, quantity: item.quantity }),
    ...(items &&
      items.length > 0 && {
        items: items.map(({ price, quantity }) => ({ sold: { providerProduct: price.id }, quantity })),
      }),
    ...(paused !== undefined && { paused }),
  }
}

function endedBy(event: Event, common: Common): Translated | undefined {
  const subscription = Subscription.safeParse(event.data).data
  if (!subscription) return undefined
  const paidUntil = momentFrom(subscription.current_billing_period?.ends_at) ?? null
  return { type: 'ended', ...common, link: `subscription:${subscription.id}`, paidUntil }
}
