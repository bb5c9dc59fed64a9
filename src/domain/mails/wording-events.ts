import { z } from 'zod'
import { LanguageTag } from '../portal/languages.ts'
import { Moment, Slug } from '../values.ts'
import { mailKindNames } from './kinds.ts'
import { MailSender } from './senders.ts'

/** Which mails a template is for: those of one product or of all, in one language or in every. */
export const TemplatePlace = z.strictObject({
  kind: z.enum(mailKindNames).meta({ description: 'The mail', example: 'expiring' }),
  productId: Slug.nullable().meta({ description: 'The product; null for all products', example: 'editor' }),
  language: LanguageTag.nullable().meta({
    description: 'The tag of the language of the customer; null for every language',
    example: 'de',
  }),
})
export type TemplatePlace = z.infer<typeof TemplatePlace>

export const TemplateTexts = z.strictObject({
  subject: z.string().min(1).max(300).meta({
    description: 'One line, with placeholders',
    example: 'Your license for {{product_name}} ends on {{expires_on}}',
  }),
  text: z.string().min(1).max(20_000).meta({
    description: 'The plain text, with placeholders; paragraphs are separated by empty lines',
    example: '{{greeting}},\n\nyour license ends on {{expires_on}}.\n\n{{portal_url}}\n',
  }),
  html: z.string().min(1).max(50_000).nullable().meta({
    description: 'The whole HTML, with placeholders; null for the text in the frame of the built-in mails',
    example: null,
  }),
})

/** A template with what it is for. */
export const PlacedTemplate = z.strictObject({ ...TemplatePlace.shape, ...TemplateTexts.shape })
export type PlacedTemplate = z.infer<typeof PlacedTemplate>

/** What all mails to customers of a tenant have in common. */
export const MailStyle = z.strictObject({
  replyTo: z.string().max(254).nullable().meta({
    description: 'Where replies go, for products that name no address; null for none',
    example: 'support@acme.example',
  }),
  footer: z.string().min(1).max(2000).nullable().meta({
    description: 'The last lines of every mail, such as your address; plain text, null for none',
    example: 'Acme Software Ltd, 1 High Street, London',
  }),
  logo: z.boolean().meta({
    description: 'Whether mails show the logo of the customer portal at the top',
    example: true,
  }),
})
export type MailStyle = z.infer<typeof MailStyle>

/** Everything a `wording-<tenant>` stream may hold. A recorded shape is never edited: add a new type. */
export const WordingEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('MailTemplateSet'),
    data: z.strictObject({ tenantId: Slug, ...PlacedTemplate.shape, at: Moment }),
  }),
  z.object({
    type: z.literal('MailTemplateRemoved'),
    data: z.strictObject({ tenantId: Slug, ...TemplatePlace.shape, at: Moment }),
  }),
  z.object({
    type: z.literal('MailStyleChanged'),
    data: z.strictObject({ tenantId: Slug, style: MailStyle, at: Moment }),
  }),
  /** The vault keeps the secret of the address, and what notifications are verified with, under the operation. */
  z.object({
    type: z.literal('MailSenderConnected'),
    data: z.strictObject({ tenantId: Slug, sender: MailSender, operationId: z.string().min(1), at: Moment }),
  }),
  z.object({
    type: z.literal('MailSenderDisconnected'),
    data: z.strictObject({ tenantId: Slug, at: Moment }),
  }),
])
export type WordingEvent = z.infer<typeof WordingEvent>
