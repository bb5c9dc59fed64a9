import { z } from 'zod'
import type { Call } from './call.ts'

/** An amount that a buyer used, for a meter of the card provider. */
export type UseReport = {
  /** By which the provider's meter knows its events. */
  eventName: string
  /** The provider's id of the buyer. */
  buyer: string
  /** A decimal number with at most 15 significant digits. */
  value: string
  /** Under this name the provider counts it once, for at least 24 hours. At most 100 characters. */
  name: string
  /** Within the last 35 days. */
  at: string
}

type Account = [key: string | undefined, options: { stripeAccount?: string }]

const Subscription = z.object({ customer: z.string().min(1).max(255) })
const Accepted = z.object({ identifier: z.string() })

/** Who pays for a subscription. */
export async function readBuyer(
  call: Call,
  [key, options]: Account,
  subscriptionId: string,
): Promise<string> {
  const { customer } = await call(key, Subscription, (stripe) =>
    stripe.subscriptions.retrieve(subscriptionId, {}, options),
  )
  return customer
}

/**
 * A report that has arrived before is refused, which is as good as an answer.
 * https://docs.stripe.com/api/billing/meter-event/create
 */
export async function reportUse(
  call: Call,
  [key, options]: Account,
  { eventName, buyer, value, name, at }: UseReport,
): Promise<void> {
  await call(key, Accepted, (stripe) =>
    stripe.billing.meterEvents
      .create(
        {
          event_name: eventName,
          payload: { stripe_customer_id: buyer, value },
          identifier: name,
          timestamp: Math.floor(Date.parse(at) / 1000),
        },
        options,
      )
      .catch((error: unknown) => {
        if (hasArrivedBefore(error)) return { identifier: name }
        throw error
      }),
  )
}

/** The refusal has no code of its own, only this text. */
const hasArrivedBefore = (error: unknown): boolean =>
  error instanceof Error && /^An event already exists with identifier/.test(error.message)
