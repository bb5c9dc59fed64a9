import type { Fields } from './descriptions.ts'

/** Payment providers, their sales and their amounts. */
export const paymentFields: Fields = {
  provider: { description: 'The payment provider', example: 'stripe' },
  amount: {
    description: 'The amount in minor units, such as cents',
    orNull: 'where the provider reports none',
    example: 4900,
  },
  currency: {
    description: 'The currency of the amounts: ISO 4217 in lower case',
    orNull: 'where the provider reports none',
    example: 'usd',
  },
  sessionId: {
    description: "The provider's id of the checkout, or of the order where it has no checkouts",
    orNull: 'if it is not known',
    example: 'cs_live_a1b2c3',
  },
  productName: {
    description: 'The name of what was bought, as the provider reports it',
    example: 'Editor Pro',
  },
  notificationId: {
    description: "The provider's id of the notification",
    orNull: 'if no notification caused it',
    example: 'evt_1QwGk2LkdIwHu7ixR8vXn0Sd',
  },
  occurredAt: {
    description: 'When it happened, by the time of the provider',
    orNull: 'where the provider reports no time',
    example: '2026-11-21T09:29:58.000Z',
  },
  receivedAt: {
    description: 'When the first notification of it arrived',
    example: '2026-11-21T09:29:59.000Z',
  },
  licensedAt: {
    description: 'When its license was issued',
    orNull: 'while it has none',
    example: '2026-11-21T09:30:00.000Z',
  },
  connectedAt: {
    description: 'When the provider was connected',
    orNull: 'while it is not',
    example: '2026-11-02T10:12:00.000Z',
  },
  verifiedAt: {
    description: 'When Stripe last reported the price',
    orNull: 'if it never did',
    example: '2026-11-02T10:20:00.000Z',
  },
  connected: { description: 'Whether the provider is connected', example: true },
}
