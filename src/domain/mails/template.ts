import { dayIn, durationIn, type PortalLanguage } from '../portal/texts.ts'
import type { Duration } from '../products/key-type.ts'
import { asHtml, asText, escapeHtml } from './content.ts'
import type { MailSettings } from './events.ts'
import {
  builtInContent,
  builtInSubject,
  type KeyMailFacts,
  keyMailText,
  type MailOccasion,
} from './key-mail.ts'

/** The placeholders of a template, and what each stands for. */
export const placeholders = {
  greeting: 'Hello and the name, or only Hello, in the language of the mail',
  customer_name: 'the name, or nothing if the provider sent none',
  customer_email: 'the email address of the customer',
  vendor_name: 'the name of the workspace',
  product_name: 'the name of the product',
  key_type_name: 'the name of the key type',
  license_key: 'the license key; every template must contain it',
  quantity: 'the quantity bought',
  devices: 'the number of devices, or unlimited',
  expires_on: 'the expiry date, how long it is valid from the first activation, or never',
  sale_id: "the provider's id of the sale, or nothing for a license that was not sold",
  order_number: 'the id of the sale, only its last characters if it is long; for a subject',
  portal_url: "the address of your customers' portal, or nothing while it is closed",
} as const satisfies Record<string, string>

type Placeholder = keyof typeof placeholders

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
}

const place = /\{\{\s*([a-z_]+)\s*\}\}/g

const isPlaceholder = (name: string): name is Placeholder => Object.hasOwn(placeholders, name)

/** The names between double braces that are no placeholders. */
export function unknownPlaceholders(template: string): string[] {
  return [...template.matchAll(place)].map(([, name = '']) => name).filter((name) => !isPlaceholder(name))
}

/** Whether the template contains the license key. */
export const holdsKey = (template: string): boolean =>
  [...template.matchAll(place)].some(([, name]) => name === 'license_key')

/** Whether a text can stand in a header. */
export const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)

/**
 * Writes the mail with a customer's key. Its address is always the installation's: the mail server is shared,
 * so a vendor could otherwise send from another's address. The vendor's name is the sender's name, and
 * replies go to the vendor's address.
 * @param sender the installation's address
 * @param occasion a vendor's own subject and text are those of a sale; another mail has the built-in ones
 */
export function writeMail(
  settings: MailSettings,
  facts: MailFacts,
  sender: Pick<Correspondent, 'email'>,
  occasion: MailOccasion = 'sale',
): WrittenMail {
  const language = languageOf(settings, facts, occasion)
  const values = valuesOf(facts, language)
  const { subject, text, html } = templatesOf(settings, facts, language, occasion)
  return {
    ...envelopeOf(settings, facts, sender),
    subject: oneLine(fill(subject, values, (value) => value)),
    text: fill(text, values, (value) => value),
    html: html === null ? null : fill(html, values, escapeHtml),
  }
}

/** Who a mail to a customer is from and to, the same for all of them. */
export const envelopeOf = (
  settings: MailSettings,
  { customer, vendorName }: Pick<MailFacts, 'customer' | 'vendorName'>,
  sender: Pick<Correspondent, 'email'>,
) => ({
  from: { name: senderName(settings.from?.name ?? null, vendorName), email: sender.email },
  replyTo: settings.replyTo ?? settings.from?.email ?? null,
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
function languageOf(settings: MailSettings, facts: MailFacts, occasion: MailOccasion): PortalLanguage {
  const isOwn = occasion === 'sale' && (settings.text !== null || settings.subject !== null)
  return (isOwn ? null : facts.language) ?? settings.language
}

/**
 * A vendor's text is never combined with the default HTML: without HTML of its own it is sent as plain text
 * only.
 */
function templatesOf(
  settings: MailSettings,
  facts: MailFacts,
  language: PortalLanguage,
  occasion: MailOccasion,
): { subject: string; text: string; html: string | null } {
  const shown = { ...facts, isOrder: facts.saleId !== null }
  const usualSubject = builtInSubject(language, shown)
  const { subject, text, html } = settings
  if (occasion === 'sale' && text !== null) return { subject: subject ?? usualSubject, text, html }
  const content = builtInContent(language, occasion, shown)
  return {
    subject: occasion === 'sale' ? (subject ?? usualSubject) : usualSubject,
    text: asText(content),
    html: asHtml(language, '{{product_name}}', content),
  }
}

function valuesOf(facts: MailFacts, language: PortalLanguage): Record<Placeholder, string> {
  const { customer, quantity, deviceLimit } = facts
  const name = oneLine(customer.name ?? '')
  const hello = keyMailText(language, 'hello')
  return {
    greeting: name === '' ? hello : `${hello} ${name}`,
    customer_name: name,
    customer_email: customer.email,
    vendor_name: facts.vendorName,
    product_name: facts.productName,
    key_type_name: facts.keyTypeName,
    license_key: facts.licenseKey,
    quantity: String(quantity),
    devices: deviceLimit === null ? keyMailText(language, 'unlimited') : String(deviceLimit),
    expires_on: expiryIn(language, facts),
    sale_id: facts.saleId ?? '',
    order_number: orderNumber(facts.saleId ?? ''),
    portal_url: facts.portalUrl ?? '',
  }
}

function expiryIn(language: PortalLanguage, { expiresAt, startsWith }: MailFacts): string {
  if (expiresAt !== null) return dayIn(language, expiresAt)
  return startsWith === null
    ? keyMailText(language, 'never')
    : `${durationIn(language, startsWith)} ${keyMailText(language, 'afterStart')}`
}

/** Longer ids, such as a payment session's, would fill a subject. */
const maxOrderNumber = 20

/** The last characters of a long id still find the sale. */
const orderNumber = (saleId: string): string =>
  saleId.length > maxOrderNumber ? `…${saleId.slice(-8)}` : saleId

/** Replaces all placeholders in one pass, so that placeholders inside a value are not replaced. */
function fill(
  template: string,
  values: Record<Placeholder, string>,
  write: (value: string) => string,
): string {
  return template.replace(place, (whole, name: string) => (isPlaceholder(name) ? write(values[name]) : whole))
}

/** A display name, without characters that reorder or hide the text after it. */
const headerText = (value: string): string => oneLine(value.replace(/\p{Cf}+/gu, ''))

/** Header text on one line, so that a customer's text cannot begin a header of its own. */
export const oneLine = (value: string): string => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
