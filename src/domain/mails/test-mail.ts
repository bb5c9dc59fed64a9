import type { PortalLanguage } from '../portal/languages.ts'
import type { KeyType } from '../products/key-type.ts'
import type { MailSettings } from './events.ts'
import type { MailKind } from './kinds.ts'
import { type News, writeNewsMail } from './news-mail.ts'
import type { Wording } from './rendering.ts'
import { type Correspondent, type MailFacts, type WrittenMail, writeMail } from './template.ts'

/** What a product gives to its test mails. */
export type ProductOfTest = {
  name: string
  keyPrefix: string
  keyTypes: readonly KeyType[]
  settings: { keyRecovery: boolean }
}

/** What a test mail is written from, beside the settings of the product. */
export type TestMailInput = {
  kind: MailKind
  /** The address of the member who asked for it. */
  email: string
  vendorName: string
  /** Null while the portal is closed. */
  portalUrl: string | null
  product: ProductOfTest
  /** Of the customer; null where it is not known. */
  language: PortalLanguage | null
  now: string
}

/** For a template of all products, of which there may be none yet. */
export const sampleProduct: ProductOfTest = {
  name: 'Example Editor',
  keyPrefix: 'KEY',
  keyTypes: [],
  settings: { keyRecovery: false },
}

/** Writes a mail as a customer would get it, with made-up values. Its key has the form of the product's keys, and no license ever has it. */
export function writeTestMail(
  input: TestMailInput,
  settings: MailSettings,
  sender: Pick<Correspondent, 'email'>,
  wording: Wording,
): WrittenMail {
  const { kind, email, vendorName, portalUrl, product, language } = input
  const [keyType] = product.keyTypes
  const about = {
    customer: { email, name: 'Ada Example' },
    vendorName,
    productName: product.name,
    keyTypeName: keyType?.name ?? 'Standard',
    portalUrl,
    language,
  }
  if (kind !== 'key' && kind !== 'key_on_request') {
    const facts = { ...about, displayKey: `${product.keyPrefix}-…TEST`, news: sampleNews(kind, input.now) }
    return writeNewsMail(settings, facts, sender, wording)
  }
  const facts: MailFacts = {
    ...about,
    licenseKey: `${product.keyPrefix}-TEST-MAIL-NOT-A-REAL-KEY`,
    quantity: 1,
    deviceLimit: keyType?.deviceLimit ?? null,
    expiresAt: null,
    startsWith: null,
    saleId: kind === 'key' ? 'test-mail' : null,
    sentAgain: product.settings.keyRecovery,
    receipt: false,
  }
  return writeMail(settings, facts, sender, kind === 'key' ? 'sale' : 'asked', wording)
}

const dayMs = 86_400_000

function sampleNews(kind: Exclude<MailKind, 'key' | 'key_on_request'>, now: string): News {
  const inDays = (days: number) => new Date(Date.parse(now) + days * dayMs).toISOString()
  switch (kind) {
    case 'expiring':
      return { what: 'expiring', expiresAt: inDays(14), graceUntil: inDays(21) }
    case 'expired':
      return { what: 'expired', expiresAt: now, graceUntil: null }
    case 'fell_back':
      return { what: 'fellBack', expiresAt: now, graceUntil: null }
    case 'renewal_failed':
      return { what: 'renewalFailed', nextAttemptAt: inDays(3), worksUntil: inDays(14) }
    case 'usage':
      return {
        what: 'usage',
        meter: 'exports',
        unit: 'exports',
        percent: 80,
        used: '800',
        remaining: '200',
        resetsAt: inDays(10),
      }
    case 'new_device':
      return { what: 'newDevice', device: 'Example laptop', addedAt: now }
    case 'seats_full':
      return { what: 'seatsFull', seats: 5 }
    case 'seat_given':
      return { what: 'seatGiven' }
  }
}
