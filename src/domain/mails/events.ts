import { z } from 'zod'
import { asciiEmail, Moment, Slug } from '../values.ts'

/** Addresses were taken by another rule before, and what was recorded by it still has to be read. */
const Address = z
  .string()
  .max(254)
  .refine(
    (email) => asciiEmail(email) !== undefined || z.regexes.email.test(email),
    'must be an email address',
  )
const Sender = z.strictObject({ name: z.string().max(200).nullable(), email: Address })

/** How the customers of one product are sent their keys; null stands for what the installation does by itself. */
export const MailSettings = z.strictObject({
  /** Off where the vendor tells customers their keys in another way. */
  enabled: z.boolean(),
  from: Sender.nullable(),
  replyTo: Address.nullable(),
  subject: z.string().min(1).max(300).nullable(),
  text: z.string().min(1).max(20_000).nullable(),
  html: z.string().min(1).max(100_000).nullable(),
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
