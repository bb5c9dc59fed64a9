import type { RandomBytes } from './random.ts'

/** Makes a signing secret as Standard Webhooks specifies: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (randomBytes: RandomBytes): string =>
  `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`

/** A secret's display form: its last four characters without the padding. */
export const displayOfWebhookSecret = (secret: string): string =>
  `whsec_…${secret.replace(/=+$/, '').slice(-4)}`
