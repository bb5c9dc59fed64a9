import { z } from 'zod'
import { contentOf, readWithKey } from '../read-with-key.ts'
import { momentFrom } from '../translated.ts'

const accept = 'application/vnd.api+json'

const User = z.object({ data: z.object({ type: z.literal('users') }) })

/**
 * Reads the owner of the key, to test it without a change.
 * @see https://docs.lemonsqueezy.com/api/users/retrieve-user
 * @throws ProviderRefused for a key that is not valid, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const asked = { apiKey, accept, timeLimitMs }
  contentOf(User, await readWithKey('lemonsqueezy', `${apiUrl}/v1/users/me`, asked))
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
  const answer = await readWithKey('lemonsqueezy', url, { apiKey, accept, timeLimitMs })
  if (answer.status === 404) return undefined
  const { order_id: orderId, renews_at: renewsAt } = contentOf(Subscription, answer).data.attributes
  const paidUntil = momentFrom(renewsAt)
  return paidUntil === undefined ? undefined : { orderId: String(orderId), paidUntil }
}
