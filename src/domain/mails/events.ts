import { z } from 'zod'
import { LanguageTag } from '../portal/languages.ts'
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
const Sender = z.strictObject({
  name: z.string().max(200).nullable().meta({
    description: "Precedes the name of the workspace in the sender's name; null for none",
    example: 'Acme Software',
  }),
  email: Address.meta({
    description: 'Where replies go while `replyTo` is null',
    example: 'licenses@acme.example',
  }),
})

/** How the customers of one product get their keys by mail; null stands for the installation's default. */
export const MailSettings = z.strictObject({
  enabled: z.boolean().meta({
    description: 'Whether keyledger mails keys to customers. Off where you send them in another way',
    example: true,
  }),
  from: Sender.nullable().meta({
    description: 'Who the mail is from; null for the name of the workspace alone',
  }),
  replyTo: Address.nullable().meta({
    description: 'Where replies go; null for the address of `from`',
    example: 'support@acme.example',
  }),
  subject: z.string().min(1).max(300).nullable().meta({
    description: 'One line, with placeholders; null for the default subject',
    example: 'Your key for {{product_name}}',
  }),
  text: z.string().min(1).max(20_000).nullable().meta({
    description:
      'The plain text, with placeholders; it contains `{{license_key}}`. null uses the default template',
    example: '{{greeting}},\n\nyour key: {{license_key}}\n',
  }),
  html: z.string().min(1).max(100_000).nullable().meta({
    description: 'The same in HTML; null with a text sends plain text only',
    example: null,
  }),
  language: LanguageTag.meta({
    description:
      'Of your own subject and text, and of the default template for customers whose language is not known',
    example: 'en',
  }),
  receipt: z.boolean().meta({
    description:
      'Whether to attach the receipt, a JSON file that proves that the license is in the signed log',
    example: false,
  }),
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
