import type { Stripe } from 'stripe'
import { toStripe } from '../../domain/currency.ts'

/** What a customer is to pay for, and where they go afterwards. */
export type CheckoutAsked = {
  priceId: string
  /** Whether the price is paid again and again. */
  recurring: boolean
  /** For one unit, in minor units; null where the price is no fixed amount. */
  unitAmount: number | null
  currency: string | null
  quantity: number
  successUrl: string
  cancelUrl: string
  customerEmail: string | undefined
  /** By which the notification of the sale says what was bought. */
  metadata: Record<string, string>
}

/**
 * The session as stripe wants it. The fee goes to the platform, out of what the account gets.
 * @param feeBasisPoints hundredths of a percent; 0 where there is no platform in between
 * @see https://docs.stripe.com/api/checkout/sessions/create
 */
export function sessionFor(
  asked: CheckoutAsked,
  feeBasisPoints: number,
): Stripe.Checkout.SessionCreateParams {
  const { priceId, quantity, metadata, customerEmail, unitAmount, currency } = asked
  const share = Math.round(((unitAmount ?? 0) * quantity * feeBasisPoints) / 10_000)
  const fee = currency === null ? 0 : toStripe(share, currency)
  return {
    line_items: [{ price: priceId, quantity }],
    success_url: asked.successUrl,
    cancel_url: asked.cancelUrl,
    metadata,
    ...(customerEmail !== undefined && { customer_email: customerEmail }),
    ...(asked.recurring
      ? {
          mode: 'subscription',
          subscription_data: {
            metadata,
            ...(feeBasisPoints > 0 && { application_fee_percent: feeBasisPoints / 100 }),
          },
        }
      : {
          mode: 'payment',
          payment_intent_data: { metadata, ...(fee > 0 && { application_fee_amount: fee }) },
        }),
  }
}
