import type { Stripe } from 'stripe'
import { toStripe } from '../../domain/currency.ts'

/** What a customer pays for, and the URLs afterwards. */
export type CheckoutInput = {
  priceId: string
  /** Whether the price is paid repeatedly. */
  recurring: boolean
  /** For one unit, in minor units; null for a price without a fixed amount. */
  unitAmount: number | null
  currency: string | null
  quantity: number
  successUrl: string
  cancelUrl: string
  customerEmail: string | undefined
  /** Tells the notification of the sale what was bought. */
  metadata: Record<string, string>
}

/**
 * The session in Stripe's shape. The fee goes to the platform, out of the account's share.
 * @param feeBasisPoints hundredths of a percent; 0 without a platform
 * @see https://docs.stripe.com/api/checkout/sessions/create
 */
export function sessionFor(
  input: CheckoutInput,
  feeBasisPoints: number,
): Stripe.Checkout.SessionCreateParams {
  const { priceId, quantity, metadata, customerEmail, unitAmount, currency } = input
  const share = Math.round(((unitAmount ?? 0) * quantity * feeBasisPoints) / 10_000)
  const fee = currency === null ? 0 : toStripe(share, currency)
  return {
    line_items: [{ price: priceId, quantity }],
    success_url: input.successUrl,
    cancel_url: input.cancelUrl,
    metadata,
    ...(customerEmail !== undefined && { customer_email: customerEmail }),
    ...(input.recurring
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
