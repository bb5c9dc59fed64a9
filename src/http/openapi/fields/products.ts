import type { Fields } from './descriptions.ts'

/** Products and their key types. */
export const productFields: Fields = {
  keyPrefix: {
    description: 'What the keys of the product begin with: 2 to 8 uppercase letters and digits',
    example: 'ACME',
  },
  duration: {
    description: 'How long a license lasts, from its issue or from what `startsAt` says',
    orNull: 'is perpetual',
    example: { count: 1, unit: 'year' },
  },
  onExpiry: {
    description:
      'What the end of a license does: `expire` ends it, `fallback` leaves it with the `fallbackEntitlements`',
    example: 'fallback',
  },
  startsAt: {
    description:
      'From when on the duration counts: `issue`, or `first_activation`, which sets the expiry of a license when its first ' +
      'device is activated. Paid periods of a subscription count from their payment. Absent means `issue`',
    example: 'first_activation',
  },
  graceSeconds: {
    description:
      'How long a license stays active after its expiry, in seconds, at most 366 days. 0, or absent, means not at all',
    example: 1_209_600,
  },
  fallbackEntitlements: {
    description: 'What a license still unlocks after a fallback; order and duplicates do not matter',
    example: ['export'],
  },
  priceId: { description: "Stripe's id of the price", example: 'price_1QwGk2LkdIwHu7ixVbTq3aYz' },
  sellInMultiples: {
    description: 'Whether one purchase may have several units',
    example: true,
  },
  maxQuantity: {
    description: 'The most units of one purchase',
    orNull: 'is unlimited',
    example: 50,
  },
}
