import { fromStripe } from '../domain/currency.ts'

const amounts = ['amount', 'unitAmount', 'totalRefunded']

type Fields = Record<string, unknown>
const isFields = (data: unknown): data is Fields =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

/**
 * Converts Stripe's amounts to minor units, at any depth next to a `currency` field. They used to be recorded
 * as Stripe writes them.
 */
export function fromStripeThroughout(data: unknown): unknown {
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
export const saleInMinorUnits = (data: unknown): unknown =>
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
