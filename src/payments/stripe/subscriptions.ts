import { z } from 'zod'
import { sameJson } from '../../domain/equality.ts'
import { compare } from '../../domain/sales/order.ts'
import { ignored, momentOfSeconds as momentOf, type Translated } from '../translated.ts'

type Event = { data: { object?: unknown; previous_attributes?: unknown } }
type Common = { provider: 'stripe'; notificationId: string; test: boolean; at: string }

const Id = z.string().min(1).max(255)

const Items = z.object({
  data: z.array(
    z.object({
      price: z.object({ id: Id }).nullish(),
      quantity: z.int().nonnegative().nullish(),
      /** Since 2025 the period is in the items. */
      current_period_end: z.int().nullish(),
    }),
  ),
})

const Subscription = z.object({
  id: Id,
  status: z.string().nullish(),
  pause_collection: z.object({}).nullish(),
  ended_at: z.int().nullish(),
  current_period_end: z.int().nullish(),
  items: Items.nullish(),
  cancellation_details: z.object({ reason: z.string().nullish() }).nullish(),
})
type Subscription = z.infer<typeof Subscription>

/** The former values of the changed fields; absent for fields that did not change. */
const Before = z.object({
  status: z.string().optional(),
  pause_collection: z.unknown().optional(),
  items: Items.optional(),
})

/**
 * Another plan, another quantity, a pause or its end. Only changed fields are reported: a subscription is
 * updated for many other reasons, and the sale holds what it was sold as.
 * @returns undefined when a required field is missing
 */
export function changedBy(event: Event, common: Common): Translated | undefined {
  const subscription = Subscription.safeParse(event.data.object).data
  if (!subscription) return undefined
  const before = Before.safeParse(event.data.previous_attributes ?? {}).data ?? {}
  const changes = { ...itemChanges(subscription, before), ...pauseChange(subscription, before) }
  if (Object.keys(changes).length === 0) return ignored
  return { type: 'subscription', ...common, link: `subscription:${subscription.id}`, ...changes }
}

/**
 * Of a sale with one item, the first item is the one that was sold: items that a vendor adds manually come after it. A sale
 * with several items needs all of them.
 */
function itemChanges({ items }: Subscription, before: z.infer<typeof Before>) {
  const [now] = items?.data ?? []
  const [then] = before.items?.data ?? []
  if (!now || !then) return {}
  const [all, allBefore] = [unitsOf(items), unitsOf(before.items)]
  const isAnyOther = all.length > 0 && !sameJson(all, allBefore)
  const isPlanOther = now.price && now.price.id !== then.price?.id
  const isQuantityOther = now.quantity && now.quantity !== then.quantity
  return {
    ...(isPlanOther && { sold: { providerProduct: now.price?.id ?? '' } }),
    ...((isQuantityOther || isPlanOther) && now.quantity && { quantity: now.quantity }),
    ...(isAnyOther && { items: all }),
  }
}

/** What a subscription has of each price, in an order of its own: Stripe's may be another one each time. */
const unitsOf = (items: z.infer<typeof Items> | null | undefined) =>
  (items?.data ?? [])
    .flatMap(({ price, quantity }) =>
      price && quantity !== 0 ? [{ sold: { providerProduct: price.id }, quantity: quantity ?? 1 }] : [],
    )
    .sort((a, b) => compare([a.sold.providerProduct, a.quantity], [b.sold.providerProduct, b.quantity]))

/**
 * A pause stops the subscription's payments, or, if a trial ended without a payment method, the subscription
 * until it is resumed.
 */
function pauseChange(
  { status, pause_collection: pause }: Subscription,
  before: z.infer<typeof Before>,
): { paused?: boolean } {
  const isOther = 'pause_collection' in before || before.status === 'paused' || status === 'paused'
  return isOther ? { paused: (pause ?? null) !== null || status === 'paused' } : {}
}

/** @returns undefined when a required field is missing */
export function endedBy(event: Event, common: Common): Translated | undefined {
  const subscription = Subscription.safeParse(event.data.object).data
  if (!subscription) return undefined
  const { id, ended_at: endedAt, items, cancellation_details: cancellation } = subscription
  const ends = items?.data.flatMap(({ current_period_end: end }) => end ?? []) ?? []
  const periodEnd = subscription.current_period_end ?? (ends.length > 0 ? Math.max(...ends) : undefined)
  // A period whose payment failed has begun, but was not paid.
  const paidUntil = cancellation?.reason === 'payment_failed' ? endedAt : (periodEnd ?? endedAt)
  return {
    type: 'ended',
    ...common,
    link: `subscription:${id}`,
    paidUntil: paidUntil ? momentOf(paidUntil) : null,
  }
}
