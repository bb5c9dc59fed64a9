import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

/** The public part of a signing key. The seed is sealed in the vault under `secretName`. */
export const SigningKey = z.strictObject({
  kid: z.string().regex(/^[0-9a-f]{16}$/),
  /** The raw public key, base64. */
  publicKey: z.base64().length(44),
  secretName: z.string().min(1).max(300),
  /**
   * It is published in the keyset before this, so that clients with a cached keyset know it when it begins to
   * sign.
   */
  signsFrom: Moment,
})
export type SigningKey = z.infer<typeof SigningKey>

/** A key that is published, and signs nothing until it is published again with the time from which it signs. */
const PreparedKey = SigningKey.omit({ signsFrom: true })
export type PreparedKey = z.infer<typeof PreparedKey>

/** Everything a `signing-<tenant>` stream may hold. A recorded shape is never edited: add a new type. */
export const SigningEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('SigningKeyPublished'),
    data: SigningKey.extend({
      tenantId: Slug,
      at: Moment,
      /** When the key was prepared; absent for one that was not. */
      preparedAt: Moment.optional(),
    }),
  }),
  z.object({
    type: z.literal('SigningKeyPrepared'),
    data: PreparedKey.extend({ tenantId: Slug, at: Moment }),
  }),
])
export type SigningEvent = z.infer<typeof SigningEvent>
