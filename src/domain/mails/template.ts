import type { PortalLogo } from '../portal/events.ts'
import {
  type AddedLanguages,
  dayIn,
  durationIn,
  languageAmong,
  type PortalLanguage,
} from '../portal/languages.ts'
import type { Duration } from '../products/key-type.ts'
import { asHtml, asText } from './content.ts'
import type { MailSettings } from './events.ts'
import {
  builtInContent,
  builtInSubject,
  type KeyMailFacts,
  keyMailText,
  type MailOccasion,
} from './key-mail.ts'
import { type keyPlaceholders, namesIn } from './kinds.ts'
import {
  builtInWording,
  dressed,
  filled,
  type MailLook,
  oneLine,
  plainLook,
  type Wording,
  type WrittenBody,
  withLogo,
  writeTemplate,
} from './rendering.ts'

/** The values of the placeholders, as known when the mail is written. */
export type MailFacts = {
  customer: { email: string; name: string | null }
  vendorName: string
  productName: string
  keyTypeName: string
  licenseKey: string
  quantity: number
  deviceLimit: number | null
  expiresAt: string | null
  /** The term that starts at the first activation; null if none waits for that. */
  startsWith: Duration | null
  /** Null for a license that was not sold. */
  saleId: string | null
  /** The customer's language, as far as it is known. */
  language: PortalLanguage | null
} & Omit<KeyMailFacts, 'isOrder'>

export type Correspondent = { name: string | null; email: string }

/** A mail that is written and not yet sent. */
export type WrittenMail = {
  from: Correspondent
  replyTo: string | null
  to: Correspondent
  subject: string
  text: string
  /** Null for a mail with plain text only. */
  html: string | null
  /** The picture that the HTML refers to as `cid:logo`. */
  logo?: PortalLogo
}

/**
 * Writes the mail with a customer's key. Its address is always the installation's: the mail server is shared,
 * so a vendor could otherwise send from another's address. The vendor's name is the sender's name, and
 * replies go to the vendor's address.
 * @param sender the installation's address
 * @param occasion the subject and text of a product's settings are those of a sale
 * @param wording the vendor's template for this customer, and the look of the mail
 */
export function writeMail(
  settings: MailSettings,
  facts: MailFacts,
  sender: Pick<Correspondent, 'email'>,
  occasion: MailOccasion = 'sale',
  wording: Wording = builtInWording,
): WrittenMail {
  return {
    ...envelopeOf(settings, facts, sender, wording.look),
    ...contentOf(settings, facts, occasion, wording),
  }
}

/** The most particular wording wins, but settings of a product do over a template for all products. */
function contentOf(
  settings: MailSettings,
  facts: MailFacts,
  occasion: MailOccasion,
  { template, look }: Wording,
): WrittenBody {
  const hasText = occasion === 'sale' && settings.text !== null
  if (template && (template.productId !== null || !hasText)) {
    const language = languageAmong(look.languages, [template.language, settings.language])
    return writeTemplate(template, { language, values: valuesOf(facts, language, look.languages) }, look)
  }
  const language = languageAmong(look.languages, languagesOf(settings, facts, occasion))
  const values = { ...valuesOf(facts, language, look.languages), footer: look.footer ?? '' }
  return withLogo(filled(builtInOrSet(settings, facts, { language, occasion, look }), values), look)
}

/** Who a mail to a customer is from and to, the same for all of them. */
export const envelopeOf = (
  settings: MailSettings,
  { customer, vendorName }: Pick<MailFacts, 'customer' | 'vendorName'>,
  sender: Pick<Correspondent, 'email'>,
  { replyTo }: MailLook = plainLook,
) => ({
  from: { name: senderName(settings.from?.name ?? null, vendorName), email: sender.email },
  replyTo: settings.replyTo ?? settings.from?.email ?? replyTo,
  to: { email: customer.email, name: customer.name && oneLine(customer.name) },
})

/** The vendor's name is always part of it, so that a vendor cannot write in another vendor's name. */
function senderName(chosen: string | null, vendorName: string): string {
  const name = headerText(chosen ?? '')
  const vendor = headerText(vendorName)
  return name === '' || name === vendor ? vendor : `${name} via ${vendor}`
}

/**
 * A vendor's own subject and text are in the language of the product; the built-in mail is in the customer's, where that is
 * known.
 */
function languagesOf(settings: MailSettings, facts: MailFacts, occasion: MailOccasion) {
  const isOwn = occasion === 'sale' && (settings.text !== null || settings.subject !== null)
  return [isOwn ? null : facts.language, settings.language]
}

/**
 * A vendor's text is never combined with the default HTML: without HTML of its own it is sent as plain text
 * only.
 */
function builtInOrSet(
  settings: MailSettings,
  facts: MailFacts,
  { language, occasion, look }: { language: PortalLanguage; occasion: MailOccasion; look: MailLook },
): WrittenBody {
  const shown = { ...facts, isOrder: facts.saleId !== null }
  const usualSubject = builtInSubject(language, shown, look.languages)
  const { text, html } = settings
  const subject = occasion === 'sale' ? (settings.subject ?? usualSubject) : usualSubject
  if (occasion === 'sale' && text !== null) {
    const hasFooter = look.footer === null || namesIn(text).includes('footer')
    return { subject, text: hasFooter ? text : `${text.trimEnd()}\n\n{{footer}}\n`, html }
  }
  const frame = { ...look, footer: look.footer === null ? null : '{{footer}}' }
  const content = dressed(builtInContent(language, occasion, shown, look.languages), frame, '{{vendor_name}}')
  return { subject, text: asText(content), html: asHtml(language, '{{product_name}}', content) }
}

function valuesOf(
  facts: MailFacts,
  language: PortalLanguage,
  added: AddedLanguages,
): Record<Exclude<keyof typeof keyPlaceholders, 'footer'>, string> {
  const { customer, quantity, deviceLimit } = facts
  const name = oneLine(customer.name ?? '')
  const hello = keyMailText(language, 'hello', added)
  return {
    greeting: name === '' ? hello : `${hello} ${name}`,
    customer_name: name,
    customer_email: customer.email,
    vendor_name: facts.vendorName,
    product_name: facts.productName,
    key_type_name: facts.keyTypeName,
    license_key: facts.licenseKey,
    quantity: String(quantity),
    devices: deviceLimit === null ? keyMailText(language, 'unlimited', added) : String(deviceLimit),
    expires_on: expiryIn(language, facts, added),
    sale_id: facts.saleId ?? '',
    order_number: orderNumber(facts.saleId ?? ''),
    portal_url: facts.portalUrl ?? '',
  }
}

function expiryIn(
  language: PortalLanguage,
  { expiresAt, startsWith }: MailFacts,
  added: AddedLanguages,
): string {
  if (expiresAt !== null) return dayIn(language, expiresAt)
  return startsWith === null
    ? keyMailText(language, 'never', added)
    : `${durationIn(language, startsWith)} ${keyMailText(language, 'afterStart', added)}`
}

/** Longer ids, such as a payment session's, would fill a subject. */
const maxOrderNumber = 20

/** The last characters of a long id still find the sale. */
const orderNumber = (saleId: string): string =>
  saleId.length > maxOrderNumber ? `…${saleId.slice(-8)}` : saleId

/** A display name, without characters that reorder or hide the text after it. */
const headerText = (value: string): string => oneLine(value.replace(/\p{Cf}+/gu, ''))
