import { z } from 'zod'
import { ask, ProviderUnavailable } from '../errors.ts'
import { joinedName, type Offered, type OfferedItem, offeredWithinMs } from '../offered.ts'
import type { Call } from './call.ts'
import { Price, priceOf } from './price.ts'

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
