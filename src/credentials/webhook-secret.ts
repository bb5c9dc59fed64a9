import type { RandomBytes } from './random.ts'

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks writes a signing secret. */
export const newWebhookSecret = (randomBytes: RandomBytes): string =>
  `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`

/** A secret as it may be shown again: the padding says nothing, so the last four characters before it. */
export const displayOfWebhookSecret = (secret: string): string =>
  `whsec_…${secret.replace(/=+$/, '').slice(-4)}`
