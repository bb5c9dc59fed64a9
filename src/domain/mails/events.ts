import { z } from 'zod'
import { portalLanguages } from '../portal/texts.ts'
import { asciiEmail, Moment, Slug } from '../values.ts'

/**
 * Looser than the present rule for addresses, since addresses recorded under an earlier rule must still be
 * read.
 */
const Address = z
  .string()
  .max(254)
  .refine(
    (email) => asciiEmail(email) !== undefined || z.regexes.email.test(email),
    'must be an email address',
  )
const Sender = z.strictObject({ name: z.string().max(200).nullable(), email: Address })

/** How the customers of one product get their keys by mail; null stands for the installation's default. */
export const MailSettings = z.strictObject({
  /** Off when the vendor sends keys to customers in another way. */
  enabled: z.boolean(),
  from: Sender.nullable(),
  replyTo: Address.nullable(),
  subject: z.string().min(1).max(300).nullable(),
  text: z.string().min(1).max(20_000).nullable(),
  html: z.string().min(1).max(100_000).nullable(),
  /** Of customers whose language is not known, and of the vendor's own subject and text. */
  language: z.enum(portalLanguages),
  /** Whether the proof that the license is in the signed log is attached. */
  receipt: z.boolean(),
})
export type MailSettings = z.infer<typeof MailSettings>

/** Everything a `mail-<tenant>.<product>` stream may hold. A recorded shape is never edited: add a new type. */
export const MailEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('MailSettingsChanged'),
    data: z.strictObject({ tenantId: Slug, productId: Slug, settings: MailSettings, at: Moment }),
  }),
])
export type MailEvent = z.infer<typeof MailEvent>
