/** What a template of any kind of mail may contain. */
const common = {
  greeting: 'Hello and the name, or only Hello, in the language of the mail',
  customer_name: 'the name, or nothing if it is not known',
  customer_email: 'the email address of the customer',
  vendor_name: 'the name of the workspace',
  product_name: 'the name of the product',
  key_type_name: 'the name of the key type',
  portal_url: "the address of your customers' portal, or nothing while it is closed",
  footer: 'the footer of your mails; it is the last part of a text that does not contain it',
} as const satisfies Record<string, string>

/** The placeholders of a mail with a license key, and what each stands for. */
export const keyPlaceholders = {
  ...common,
  license_key: 'the license key; every template must contain it',
  quantity: 'the quantity bought',
  devices: 'the number of devices, or unlimited',
  expires_on: 'the expiry date, how long it is valid from the first activation, or never',
  sale_id: "the provider's id of the sale, or nothing for a license that was not sold",
  order_number: 'the id of the sale, only its last characters if it is long; for a subject',
} as const satisfies Record<string, string>

const ofLicense = { ...common, display_key: 'the beginning and end of the license key, which open nothing' }
const expired = { ...ofLicense, expires_on: 'the day on which the license ended' }

type Kind = {
  /** What the mail is called on pages. */
  title: string
  /** When it is sent. */
  when: string
  placeholders: Readonly<Record<string, string>>
  /** What the text, and an HTML of its own, cannot do without. */
  required: readonly string[]
}

/** The mails about a license that a vendor can word, and what may stand in each. */
export const mailKinds = {
  key: {
    title: 'License key after a sale',
    when: 'A sale became a license.',
    placeholders: keyPlaceholders,
    required: ['license_key'],
  },
  key_on_request: {
    title: 'License key on request',
    when: 'You or the customer asked to send the key.',
    placeholders: keyPlaceholders,
    required: ['license_key'],
  },
  expiring: {
    title: 'License expires soon',
    when: 'The expiry is as many days ahead as the product says.',
    placeholders: {
      ...ofLicense,
      expires_on: 'the day on which the license ends',
      works_until: 'the end of the grace period after that, or nothing without one',
    },
    required: ['expires_on'],
  },
  expired: {
    title: 'License expired',
    when: 'The license has ended.',
    placeholders: expired,
    required: [],
  },
  fell_back: {
    title: 'Paid period ended',
    when: 'The license goes on with fewer features.',
    placeholders: expired,
    required: [],
  },
  renewal_failed: {
    title: 'Payment failed',
    when: 'A payment that renews the license failed.',
    placeholders: {
      ...ofLicense,
      retry_on: 'the day on which the payment is tried again, or nothing when that is not known',
      works_until: 'the day until which the license works, or nothing when it has no end',
    },
    required: [],
  },
  usage: {
    title: 'Usage reached a threshold',
    when: 'So much of a meter is used as its key type says.',
    placeholders: {
      ...ofLicense,
      meter: 'the meter',
      unit: 'the unit of the meter',
      percent: 'how much is used, as a number without a sign',
      used: 'the amount that is used',
      remaining: 'the amount that is left',
      resets_on: 'the day on which counting starts over, or nothing when that is not known',
    },
    required: [],
  },
  new_device: {
    title: 'New device',
    when: 'A device was added to the license, and its product says so.',
    placeholders: {
      ...ofLicense,
      device: 'the name of the device',
      added_on: 'the day on which it was added',
    },
    required: [],
  },
  seats_full: {
    title: 'No seat left',
    when: 'The last seat was taken, or no floating seat is left; and the product says so.',
    placeholders: { ...ofLicense, seats: 'how many seats are taken' },
    required: [],
  },
  seat_given: {
    title: 'Seat given to a person',
    when: 'A person of an organization was given a seat.',
    placeholders: ofLicense,
    required: ['portal_url'],
  },
} as const satisfies Record<string, Kind>

export type MailKind = keyof typeof mailKinds

export const mailKindNames = Object.keys(mailKinds) as [MailKind, ...MailKind[]]

/** What a vendor writes: a subject, a text, and HTML of their own or null for the text in our frame. */
export type MailTemplate = { subject: string; text: string; html: string | null }

const place = /\{\{\s*([a-z_]+)\s*\}\}/g

/** The names between double braces. */
export const namesIn = (template: string): string[] =>
  [...template.matchAll(place)].map(([, name = '']) => name)

/** Replaces all placeholders in one pass, so that placeholders inside a value are not replaced. */
export const fill = (
  template: string,
  values: Readonly<Record<string, string>>,
  write: (value: string) => string = (value) => value,
): string =>
  template.replace(place, (whole, name: string) =>
    Object.hasOwn(values, name) ? write(values[name] ?? '') : whole,
  )

/** Whether a text can stand in a header. */
export const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)

const control = /[^\P{Cc}\t\n]/u

/** Whether a mail program could take a part of it for something else than text; tabs and line breaks are nothing of that kind. */
export const hasControl = (text: string): boolean => control.test(text)

/** What is wrong with a template, and what to do about it. */
export type TemplateProblem = { field: 'subject' | 'text' | 'html'; message: string }

/** Finds what a template cannot be saved with: placeholders that do not exist or are missing, open braces, control characters. */
export function templateProblems(kind: MailKind, template: MailTemplate): TemplateProblem[] {
  return (['subject', 'text', 'html'] as const).flatMap((field) => {
    const written = template[field]
    const message = written === null ? undefined : problemWith(kind, field, written)
    return message === undefined ? [] : [{ field, message }]
  })
}

/** What is wrong with one field of a template, and what to do about it; undefined if it can be saved. */
export function problemWith(
  kind: MailKind,
  field: TemplateProblem['field'],
  written: string,
): string | undefined {
  const { placeholders, required }: Kind = mailKinds[kind]
  if (field === 'subject' && !isOneLine(written))
    return 'must be one line; remove line breaks and control characters'
  if (hasControl(written)) return 'contains a control character; type the text again without it'
  const names = namesIn(written)
  const unknown = names.find((name) => !Object.hasOwn(placeholders, name))
  if (unknown !== undefined) return `{{${unknown}}} does not exist in this mail; use ${listOf(placeholders)}`
  if (written.replace(place, '').includes('{{'))
    return 'contains {{ without a name and }} after it; close the braces, or write a single brace'
  const missing = field === 'subject' ? undefined : required.find((name) => !names.includes(name))
  return missing === undefined ? undefined : `must contain {{${missing}}}; add it where customers look for it`
}

const listOf = (placeholders: Readonly<Record<string, string>>): string =>
  Object.keys(placeholders)
    .map((name) => `{{${name}}}`)
    .join(', ')
