import type { MailSettings } from './events.ts'

/** The placeholders of a template, and what each stands for. */
export const placeholders = {
  greeting: 'Hello and the name, or only Hello',
  customer_name: 'the name, or nothing if the provider sent none',
  customer_email: 'the email address of the customer',
  vendor_name: 'the name of the workspace',
  product_name: 'the name of the product',
  key_type_name: 'the name of the key type',
  license_key: 'the license key; every template must contain it',
  quantity: 'the quantity bought',
  devices: 'the number of devices, or unlimited',
  expires_on: 'the expiry date, or never',
  sale_id: "the provider's id of the sale",
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
  saleId: string
}

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

/** The subject of a product without one of its own. */
export const usualSubject = 'Your license key for {{product_name}}'

/** The built-in mail: what comes before the key, in text and HTML, and the advice after it. */
const builtIn = {
  sale: {
    text: 'Thank you for buying {{product_name}} ({{key_type_name}}). Here is your license key:',
    html: 'Thank you for buying <strong>{{product_name}}</strong> ({{key_type_name}}). Here is your license key:',
    advice: 'Please keep this email. We send the key only once.',
  },
  asked: {
    text: 'Here is your license key for {{product_name}} ({{key_type_name}}):',
    html: 'Here is your license key for <strong>{{product_name}}</strong> ({{key_type_name}}):',
    advice: 'Please keep this email.',
  },
} as const

/** Why a key is mailed: it was sold, or its vendor asked to send it. */
export type MailOccasion = keyof typeof builtIn

/** The text of a product without one of its own; it is sent with HTML. */
export const builtInText = (occasion: MailOccasion): string => `{{greeting}},

${builtIn[occasion].text}

    {{license_key}}

Devices: {{devices}}
Expires: {{expires_on}}

${builtIn[occasion].advice}

{{vendor_name}}
`

const builtInHtml = (occasion: MailOccasion): string => `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>{{product_name}}</title></head>
  <body style="margin:0;padding:24px;background:#f4f4f1;color:#1d1d1b;font:16px/1.5 system-ui,sans-serif">
    <div style="max-width:560px;margin:0 auto;padding:32px;background:#fff;border-radius:8px">
      <p>{{greeting}},</p>
      <p>${builtIn[occasion].html}</p>
      <p style="padding:16px;background:#f4f4f1;border-radius:6px;font:600 17px/1.4 ui-monospace,monospace">{{license_key}}</p>
      <p>Devices: {{devices}}<br>Expires: {{expires_on}}</p>
      <p>${builtIn[occasion].advice}</p>
      <p>{{vendor_name}}</p>
    </div>
  </body>
</html>
`

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
  const values = valuesOf(facts)
  const { subject, text, html } = templatesOf(settings, occasion)
  return {
    from: { name: senderName(settings.from?.name ?? null, facts.vendorName), email: sender.email },
    replyTo: settings.replyTo ?? settings.from?.email ?? null,
    to: { email: facts.customer.email, name: facts.customer.name && oneLine(facts.customer.name) },
    subject: oneLine(fill(subject, values, (value) => value)),
    text: fill(text, values, (value) => value),
    html: html === null ? null : fill(html, values, escapeHtml),
  }
}

/** The vendor's name is always part of it, so that a vendor cannot write in another vendor's name. */
function senderName(chosen: string | null, vendorName: string): string {
  const name = headerText(chosen ?? '')
  const vendor = headerText(vendorName)
  return name === '' || name === vendor ? vendor : `${name} via ${vendor}`
}

/**
 * A vendor's text is never combined with the default HTML: without HTML of its own it is sent as plain text
 * only.
 */
function templatesOf(
  settings: MailSettings,
  occasion: MailOccasion,
): { subject: string; text: string; html: string | null } {
  const usual = { subject: usualSubject, text: builtInText(occasion), html: builtInHtml(occasion) }
  if (occasion !== 'sale') return usual
  const { subject, text, html } = settings
  return { ...(text === null ? usual : { text, html }), subject: subject ?? usualSubject }
}

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

function valuesOf(facts: MailFacts): Record<Placeholder, string> {
  const { customer, quantity, deviceLimit, expiresAt } = facts
  const name = oneLine(customer.name ?? '')
  return {
    greeting: name === '' ? 'Hello' : `Hello ${name}`,
    customer_name: name,
    customer_email: customer.email,
    vendor_name: facts.vendorName,
    product_name: facts.productName,
    key_type_name: facts.keyTypeName,
    license_key: facts.licenseKey,
    quantity: String(quantity),
    devices: deviceLimit === null ? 'unlimited' : String(deviceLimit),
    expires_on: expiresAt === null ? 'never' : day.format(new Date(expiresAt)),
    sale_id: facts.saleId,
  }
}

/** Replaces all placeholders in one pass, so that placeholders inside a value are not replaced. */
function fill(
  template: string,
  values: Record<Placeholder, string>,
  write: (value: string) => string,
): string {
  return template.replace(place, (whole, name: string) => (isPlaceholder(name) ? write(values[name]) : whole))
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (value: string): string => value.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)

/** A display name, without characters that reorder or hide the text after it. */
const headerText = (value: string): string => oneLine(value.replace(/\p{Cf}+/gu, ''))

/** Header text on one line, so that a customer's text cannot begin a header of its own. */
const oneLine = (value: string): string => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
