import { z } from 'zod'
import { isPaused, momentFrom, type Translated } from '../translated.ts'
import { Numeric, type Payload } from './payload.ts'

const Subscription = z.object({
  order_id: Numeric,
  variant_id: Numeric.nullish(),
  status: z.string(),
  first_subscription_item: z.object({ quantity: z.int().nonnegative().nullish() }).nullish(),
  renews_at: z.string().nullish(),
  ends_at: z.string().nullish(),
  updated_at: z.string(),
  test_mode: z.boolean().default(false),
})

/**
 * The present state of a subscription, and the end of the paid period while it is active.
 * @returns undefined when a required field is missing
 */
export function changedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const subscription = Subscription.safeParse(data.attributes).data
  const at = momentFrom(subscription?.updated_at)
  if (!subscription || !at) return undefined
  const { status, variant_id: variant, first_subscription_item: item, test_mode: test } = subscription
  const paused = isPaused(status)
  const paidUntil = status === 'active' ? momentFrom(subscription.renews_at) : undefined
  return {
    type: 'subscription',
    provider: 'lemonsqueezy',
    notificationId,
    test,
    at,
    link: `order:${subscription.order_id}`,
    links: [`subscription:${data.id}`],
    ...(variant && { sold: { providerProduct: variant } }),
    ...(item?.quantity && { quantity: item.quantity }),
    ...(paused !== undefined && { paused }),
    ...(paidUntil !== undefined && { paidUntil }),
  }
}

/** @returns undefined when a required field is missing */
export function endedBy({ data }: Payload, notificationId: string): Translated | undefined {
  const subscription = Subscription.safeParse(data.attributes).data
  const at = momentFrom(subscription?.updated_at)
  if (!subscription || !at) return undefined
  return {
    type: 'ended',
    provider: 'lemonsqueezy',
    notificationId,
    test: subscription.test_mode,
    at,
    link: `order:${subscription.order_id}`,
    paidUntil: momentFrom(subscription.ends_at) ?? null,
  }
}
