import { z } from 'zod'
import { callWithKey, contentOf } from '../call-with-key.ts'
import type { Offered, OfferedItem } from '../offered.ts'

const accept = 'application/json'

const Organizations = z.object({ items: z.array(z.unknown()) })

/**
 * Lists the token's organizations, to test it without a change.
 * @see https://polar.sh/docs/api-reference/organizations/list
 * @throws ProviderRefused for a token that is not valid or lacks `organizations:read`, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const url = `${apiUrl}/v1/organizations/?limit=1`
  contentOf(Organizations, await callWithKey('polar', url, { apiKey, accept, timeLimitMs }))
}

const Price = z.object({
  amount_type: z.string().nullish(),
  price_amount: z.int().nonnegative().nullish(),
  price_currency: z.string().length(3).nullish(),
})

const Product = z.object({
  id: z.string().min(1),
  name: z.string(),
  recurring_interval: z.string().nullish(),
  prices: z.array(Price),
})

const Products = z.object({ items: z.array(Product), pagination: z.object({ max_page: z.int() }) })

/** The most that Polar lists in one response. */
const productsInList = 100

/**
 * Lists the products that are not archived.
 * @see https://polar.sh/docs/api-reference/products/list
 * @throws ProviderRefused for a token that lacks `products:read`, ProviderUnavailable
 */
export async function listProducts(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<Offered> {
  const url = `${apiUrl}/v1/products/?is_archived=false&limit=${productsInList}`
  const answer = await callWithKey('polar', url, { apiKey, accept, timeLimitMs })
  const { items, pagination } = contentOf(Products, answer)
  return { items: items.map(offeredOf), hasMore: pagination.max_page > 1 }
}

function offeredOf({ id, name, recurring_interval: interval, prices }: z.infer<typeof Product>): OfferedItem {
  const [price, ...others] = prices
  const fixed = price?.amount_type === 'fixed' && others.length === 0 ? price : undefined
  return {
    item: id,
    name,
    unitAmount: fixed?.price_amount ?? null,
    currency: fixed?.price_currency?.toLowerCase() ?? null,
    interval: interval ?? null,
  }
}
