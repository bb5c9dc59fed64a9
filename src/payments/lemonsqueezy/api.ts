import { z } from 'zod'
import { callWithKey, contentOf } from '../call-with-key.ts'
import { joinedName, type Offered } from '../offered.ts'
import { momentFrom } from '../translated.ts'

const accept = 'application/vnd.api+json'

const User = z.object({ data: z.object({ type: z.literal('users') }) })

/**
 * Reads the owner of the key, to test it without a change.
 * @see https://docs.lemonsqueezy.com/api/users/retrieve-user
 * @throws ProviderRefused for a key that is not valid, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const input = { apiKey, accept, timeLimitMs }
  contentOf(User, await callWithKey('lemonsqueezy', `${apiUrl}/v1/users/me`, input))
}

const Subscription = z.object({
  data: z.object({ attributes: z.object({ order_id: z.int(), renews_at: z.string().nullable() }) }),
})

/**
 * @returns undefined when there is no such subscription, or it no longer renews
 * @see https://docs.lemonsqueezy.com/api/subscriptions/retrieve-subscription
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function readSubscription(
  apiUrl: string,
  apiKey: string,
  subscriptionId: string,
  timeLimitMs: number,
): Promise<{ orderId: string; paidUntil: string } | undefined> {
  const url = `${apiUrl}/v1/subscriptions/${encodeURIComponent(subscriptionId)}`
  const answer = await callWithKey('lemonsqueezy', url, { apiKey, accept, timeLimitMs })
  if (answer.status === 404) return undefined
  const { order_id: orderId, renews_at: renewsAt } = contentOf(Subscription, answer).data.attributes
  const paidUntil = momentFrom(renewsAt)
  return paidUntil === undefined ? undefined : { orderId: String(orderId), paidUntil }
}

const Variant = z.object({
  id: z.string().min(1),
  attributes: z.object({ product_id: z.int(), name: z.string(), status: z.string() }),
})

const Variants = z.object({
  data: z.array(Variant),
  included: z
    .array(
      z.object({ type: z.string(), id: z.string(), attributes: z.object({ name: z.string().nullish() }) }),
    )
    .optional()
    .default([]),
  meta: z.object({ page: z.object({ lastPage: z.int() }) }),
})

/** The most that Lemon Squeezy lists in one response. */
const variantsInList = 100

/**
 * Lists the variants that can be bought, with the names of their products. A variant that is `pending` is the only one
 * of its product, or hidden behind the published ones. Prices are not listed: they are objects of their own.
 * @see https://docs.lemonsqueezy.com/api/variants/list-all-variants
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function listVariants(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<Offered> {
  const url = `${apiUrl}/v1/variants?include=product&page%5Bsize%5D=${variantsInList}`
  const answer = await callWithKey('lemonsqueezy', url, { apiKey, accept, timeLimitMs })
  const { data, included, meta } = contentOf(Variants, answer)
  const products = included.filter(({ type }) => type === 'products')
  const names = new Map(products.map(({ id, attributes: { name } }) => [id, name]))
  const published = data.filter(({ attributes: { status } }) => status === 'published')
  const withPublished = new Set(published.map(({ attributes }) => attributes.product_id))
  const isBuyable = ({ attributes: { status, product_id: product } }: z.infer<typeof Variant>) =>
    status === 'published' || (status === 'pending' && !withPublished.has(product))
  const items = data.filter(isBuyable).map(({ id, attributes: { product_id: product, name, status } }) => ({
    item: id,
    name: joinedName(names.get(String(product)), status === 'pending' ? undefined : name) || name,
    unitAmount: null,
    currency: null,
    interval: null,
  }))
  return { items, hasMore: meta.page.lastPage > 1 }
}
