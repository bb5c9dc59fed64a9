import { z } from 'zod'
import { momentFrom, parsedAs } from '../translated.ts'
import { ask, ProviderUnavailable, troubleOfStatus } from '../trouble.ts'

/**
 * Asks whose key it is, which changes nothing.
 * @see https://docs.lemonsqueezy.com/api/users/retrieve-user
 * @throws ProviderRefused for a key that is not valid, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const status = await ask(
    'lemonsqueezy',
    timeLimitMs,
    async (signal) => {
      const response = await fetch(`${apiUrl}/v1/users/me`, {
        headers: { accept: 'application/vnd.api+json', authorization: `Bearer ${apiKey}` },
        redirect: 'error',
        signal,
      })
      await response.body?.cancel()
      return { code: response.status, retryAfter: response.headers.get('retry-after') }
    },
    () => new ProviderUnavailable('lemonsqueezy', 'no connection'),
  )
  if (status.code !== 200) throw troubleOfStatus('lemonsqueezy', status.code, status.retryAfter)
}

const Subscription = z.object({
  data: z.object({ attributes: z.object({ order_id: z.int(), renews_at: z.string().nullable() }) }),
})

/**
 * @returns undefined when there is no such subscription, or it is not renewed any more
 * @see https://docs.lemonsqueezy.com/api/subscriptions/retrieve-subscription
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function readSubscription(
  apiUrl: string,
  apiKey: string,
  subscriptionId: string,
  timeLimitMs: number,
): Promise<{ orderId: string; paidUntil: string } | undefined> {
  const answer = await ask(
    'lemonsqueezy',
    timeLimitMs,
    async (signal) => {
      const response = await fetch(`${apiUrl}/v1/subscriptions/${encodeURIComponent(subscriptionId)}`, {
        headers: { accept: 'application/vnd.api+json', authorization: `Bearer ${apiKey}` },
        redirect: 'error',
        signal,
      })
      const { status, headers } = response
      return { status, retryAfter: headers.get('retry-after'), body: await response.text() }
    },
    () => new ProviderUnavailable('lemonsqueezy', 'no connection'),
  )
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw troubleOfStatus('lemonsqueezy', answer.status, answer.retryAfter)
  const read = parsedAs(Subscription, answer.body)
  if (!read) throw new ProviderUnavailable('lemonsqueezy', 'an answer of an unknown shape')
  const { order_id: orderId, renews_at: renewsAt } = read.data.attributes
  const paidUntil = momentFrom(renewsAt)
  return paidUntil === undefined ? undefined : { orderId: String(orderId), paidUntil }
}
