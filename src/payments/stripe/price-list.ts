import { z } from 'zod'
import { fromStripe } from '../../domain/currency.ts'
import { ask, ProviderUnavailable } from '../errors.ts'
import { intervalWords, joinedName, type Offered, type OfferedItem, offeredWithinMs } from '../offered.ts'
import type { Translated } from '../translated.ts'
import type { Call } from './call.ts'

export type CardPrice = {
  active: boolean
  /** Integer minor units; null for a price without a fixed amount. */
  unitAmount: number | null
  currency: string
  /** Such as `month` or `3 months`; null for a single payment. */
  interval: string | null
}

/** A price as Stripe returns it. */
export const Price = z.object({
  id: z.string(),
  object: z.literal('price'),
  active: z.boolean(),
  currency: z.string().length(3),
  unit_amount: z.int().nonnegative().nullable(),
  recurring: z.object({ interval: z.string(), interval_count: z.int().positive() }).nullable(),
})

/** A price in our words. */
export function priceOf({ active, unit_amount, currency, recurring }: z.infer<typeof Price>): CardPrice {
  const { interval, interval_count: count } = recurring ?? { interval: null, interval_count: 1 }
  return {
    active,
    unitAmount: unit_amount === null ? null : fromStripe(unit_amount, currency),
    currency,
    interval: interval === null ? null : intervalWords(interval, count),
  }
}

/** A translated notification of Stripe's, with its amount in the currency's own minor units. */
export function inMinorUnits(translated: Translated): Translated {
  if (!('amount' in translated)) return translated
  const { amount, currency } = translated
  if (amount === undefined || currency === undefined) return translated
  return { ...translated, amount: fromStripe(amount, currency) }
}

/** A price with its product, which was asked for. */
const NamedPrice = Price.extend({
  nickname: z.string().nullish(),
  product: z.object({ name: z.string().nullish(), active: z.boolean().nullish() }),
})

const NamedPrices = z.object({ data: z.array(NamedPrice), has_more: z.boolean() })

/** The most that Stripe lists in one response. */
const pricesInList = 100

/**
 * Lists the newest active prices of products that are not archived.
 * @param inNameOf the key, and the account that it is used for
 * @see https://docs.stripe.com/api/prices/list
 * @throws ProviderRefused for a key that may not read prices and products; what {@link Call} throws
 */
export async function listPrices(
  call: Call,
  timeLimitMs: number,
  [key, options]: readonly [string | undefined, { stripeAccount?: string }],
): Promise<Offered> {
  const params = { active: true, limit: pricesInList, expand: ['data.product'] }
  const { data, has_more: hasMore } = await ask(
    'stripe',
    Math.min(timeLimitMs, offeredWithinMs),
    () => call(key, NamedPrices, (stripe) => stripe.prices.list(params, options)),
    (error) => (error instanceof Error ? error : new ProviderUnavailable('stripe', 'no usable response')),
  )
  return { items: data.filter(({ product }) => product.active !== false).map(offeredOf), hasMore }
}

function offeredOf(price: z.infer<typeof NamedPrice>): OfferedItem {
  const { unitAmount, currency, interval } = priceOf(price)
  return {
    item: price.id,
    name: joinedName(price.product.name, price.nickname),
    unitAmount,
    currency,
    interval,
  }
}
