import { z } from 'zod'
import { fromStripe } from '../domain/currency.ts'
import { firstEndpointId } from '../domain/webhooks/endpoint.ts'

/** Converts an event's data from one schema number to the next. */
type Upcaster = (data: unknown) => unknown

/**
 * Converts old shapes to the current one, by event type. The first upcaster converts schema 1 to 2, the second
 * 2 to 3, and so on. So the current schema number of a type is the length of its list plus one. A recorded
 * shape is never edited: change the zod schema, add an upcaster here, and add the old shape's line to the
 * golden file (test/ledger/golden-events.jsonl), which holds every shape ever written.
 */
export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>

/** For a schema that accepts more than before: recorded data already fits it. */
const widened: Upcaster = (data) => data

/** Data that does not fit the old shape is left unchanged; the current schema then reports the problem. */
const from =
  <Old extends z.ZodType>(old: Old, upcast: (data: z.infer<Old>) => unknown): Upcaster =>
  (data) => {
    const known = old.safeParse(data)
    return known.success ? upcast(known.data) : data
  }

/**
 * Old refunds do not name the payment. Lemon Squeezy and Polar send the total refunded, after a dot in the
 * refund's id. Stripe's ids have the same form, but its amount is that of the single refund.
 */
const refundWithoutPayment = from(z.looseObject({ refundId: z.string(), amount: z.number() }), (refund) => {
  const total = Number(/\.(\d{1,15})$/.exec(refund.refundId)?.[1] ?? Number.NaN)
  const cumulative = total >= refund.amount
  return { ...refund, payment: null, amount: cumulative ? total : refund.amount, cumulative }
})

const disputeWithoutPayment = from(z.looseObject({}), (dispute) => ({ ...dispute, payment: null }))

/** Upcasts a fact as it was recorded in payment notifications of schema 1. */
const factUpcasters: Readonly<Record<string, Upcaster>> = {
  SaleRefunded: refundWithoutPayment,
  SaleDisputed: disputeWithoutPayment,
  DisputeWon: disputeWithoutPayment,
  DisputeLost: disputeWithoutPayment,
}

const notificationOfOldFact = from(
  z.looseObject({ fact: z.object({ type: z.string(), data: z.unknown() }) }),
  (notification) => {
    const { type, data } = notification.fact
    return { ...notification, fact: { type, data: factUpcasters[type]?.(data) ?? data } }
  },
)

/**
 * For the reason `refunded`, other events of the sale show whether the sale or a person caused the revocation.
 */
const revocationWithoutCause = from(z.looseObject({ reason: z.string().nullable() }), (revoked) => ({
  ...revoked,
  cause: revoked.reason === 'refunded' ? null : 'person',
}))

/** Old refunds always covered the whole sale. */
const refundOfWholeSale = from(z.looseObject({ amount: z.number() }), (refund) => ({
  ...refund,
  payment: null,
  cause: 'refund',
  totalRefunded: refund.amount,
  paidLeft: false,
}))

const reinstatedAsWhole = from(z.looseObject({}), (reinstated) => ({
  ...reinstated,
  payments: [],
  paidLeft: true,
}))

/** Before vendors could change a license, its own terms were those of its sale. */
const followedWithoutTerms = from(z.looseObject({}), (followed) => ({ ...followed, sold: null }))

/** Before products could keep the keys of their licenses, none did. */
const settingsWithoutRecovery = from(z.looseObject({ settings: z.looseObject({}) }), (product) => ({
  ...product,
  settings: { ...product.settings, keyRecovery: false },
}))

/** Before mails had languages, all were English; and before the receipt could be chosen, its file had no explanation. */
const mailInEnglish = from(z.looseObject({ settings: z.looseObject({}) }), (mail) => ({
  ...mail,
  settings: { ...mail.settings, language: 'en', receipt: false },
}))

/** Before there were several endpoints, every delivery to a webhook went to the first. */
const deliveryToFirstEndpoint = from(z.looseObject({ channel: z.string() }), (scheduled) => ({
  ...scheduled,
  endpointId: scheduled.channel === 'webhook' ? firstEndpointId : null,
}))

/** Before the addresses of requests were sealed, they were recorded in clear. */
const requestFromAddress = from(z.looseObject({ client: z.looseObject({}) }), (request) => ({
  ...request,
  client: { ...request.client, from: null },
}))

const amounts = ['amount', 'unitAmount', 'totalRefunded']

type Fields = Record<string, unknown>
const isFields = (data: unknown): data is Fields =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

/**
 * Converts Stripe's amounts to minor units, at any depth next to a `currency` field. They used to be recorded
 * as Stripe writes them.
 */
function fromStripeThroughout(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(fromStripeThroughout)
  if (!isFields(data)) return data
  const fields: Fields = {}
  for (const [name, value] of Object.entries(data)) fields[name] = fromStripeThroughout(value)
  const { currency } = fields
  if (typeof currency !== 'string') return fields
  for (const name of amounts) {
    const amount = fields[name]
    if (typeof amount === 'number') fields[name] = fromStripe(amount, currency)
  }
  return fields
}

/** Converts amounts when Stripe is the provider, and leaves other providers' data unchanged. */
const saleInMinorUnits = (data: unknown): unknown =>
  isFields(data) && isOfStripe(data) ? fromStripeThroughout(data) : data

/**
 * Data without a provider is recognized by the vault name of its notification, or by the id of a checkout
 * session.
 */
function isOfStripe({ provider, source, payload, saleId }: Fields): boolean {
  const named = provider ?? source
  if (named !== undefined) return named === 'stripe'
  if (typeof payload === 'string') return payload.startsWith('notification.stripe.')
  return typeof saleId === 'string' && saleId.startsWith('cs_')
}

/** An event of a sale, or a fact within one: by its provider, or by the vault name of its notification. */
const OfGumroad = z.union([
  z.looseObject({ provider: z.literal('gumroad') }),
  z.looseObject({ source: z.literal('gumroad') }),
  z.looseObject({ payload: z.string().startsWith('notification.gumroad.') }),
])
const WithCurrency = z.looseObject({ currency: z.string() })
const WithFact = z.looseObject({ fact: z.looseObject({ data: WithCurrency }) })

/**
 * Gumroad's amounts are US cents. They used to be recorded with the currency that the seller had priced the product
 * in. Other providers' data is left unchanged.
 */
function gumroadInDollars(data: unknown): unknown {
  if (!OfGumroad.safeParse(data).success) return data
  const noticed = WithFact.safeParse(data).data
  if (noticed) {
    const { fact } = noticed
    return { ...noticed, fact: { ...fact, data: { ...fact.data, currency: 'usd' } } }
  }
  const own = WithCurrency.safeParse(data).data
  return own ? { ...own, currency: 'usd' } : data
}

export const upcasters: Upcasters = {
  ConfirmationRequested: [requestFromAddress],
  ProductCreated: [settingsWithoutRecovery],
  ProductSettingsChanged: [settingsWithoutRecovery],
  MailSettingsChanged: [mailInEnglish],
  // These prices are Stripe's.
  KeyTypeAdded: [fromStripeThroughout],
  KeyTypeChanged: [fromStripeThroughout],
  PricesVerified: [fromStripeThroughout],
  // The customer became nullable.
  SaleReceived: [widened, saleInMinorUnits, gumroadInDollars],
  SalePaymentRecorded: [widened, saleInMinorUnits, gumroadInDollars],
  // The end of the period became nullable.
  SaleRenewed: [widened, saleInMinorUnits, gumroadInDollars],
  SaleRefunded: [refundWithoutPayment, saleInMinorUnits, gumroadInDollars],
  SaleDisputed: [disputeWithoutPayment, saleInMinorUnits],
  DisputeWon: [disputeWithoutPayment, saleInMinorUnits],
  DisputeLost: [disputeWithoutPayment, saleInMinorUnits],
  NoticeKept: [notificationOfOldFact, saleInMinorUnits, gumroadInDollars],
  LicenseRevoked: [revocationWithoutCause],
  LicenseRefunded: [refundOfWholeSale, saleInMinorUnits],
  LicenseReinstated: [reinstatedAsWhole],
  SaleFollowed: [followedWithoutTerms],
  // A mail with only the key can be delivered too.
  DeliveryScheduled: [deliveryToFirstEndpoint, widened],
}
