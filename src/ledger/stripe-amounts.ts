import { fromStripe } from '../domain/currency.ts'

const amounts = ['amount', 'unitAmount', 'totalRefunded']

type Fields = Record<string, unknown>
const isFields = (data: unknown): data is Fields =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

/**
 * Amounts of Stripe's were recorded as Stripe writes them, until they were recorded in minor units. Each one stands beside
 * its currency, however deep.
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

/** The same where Stripe is the provider, and what another one told as it is. */
export const saleInMinorUnits = (data: unknown): unknown =>
  isFields(data) && isOfStripe(data) ? fromStripeThroughout(data) : data

/** What names no provider is known by the name of its notification in the vault, or by the id of a checkout session. */
function isOfStripe({ provider, source, payload, saleId }: Fields): boolean {
  const named = provider ?? source
  if (named !== undefined) return named === 'stripe'
  if (typeof payload === 'string') return payload.startsWith('notification.stripe.')
  return typeof saleId === 'string' && saleId.startsWith('cs_')
}
