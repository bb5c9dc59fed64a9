import { dayIn, type PortalLanguage } from '../portal/texts.ts'
import { asHtml, asText, type Part, paragraph } from './content.ts'
import { de } from './end-texts/de.ts'
import { type EndMailText, en } from './end-texts/en.ts'
import type { MailSettings } from './events.ts'
import { keyMailText } from './key-mail.ts'
import { type Correspondent, envelopeOf, oneLine, type WrittenMail } from './template.ts'

const catalogues: Record<PortalLanguage, Readonly<Record<EndMailText, string>>> = { en, de }

/** The contents of a mail about the end of a license. */
export type EndMailFacts = {
  /** Whether it is ahead, has come, or leaves the license with fewer features. */
  what: 'expiring' | 'expired' | 'fellBack'
  customer: { email: string; name: string | null }
  vendorName: string
  productName: string
  keyTypeName: string
  displayKey: string
  expiresAt: string
  /** The end of the grace after that; null without one. */
  graceUntil: string | null
  portalUrl: string | null
  /** Of the customer, as far as it is known. */
  language: PortalLanguage | null
}

/**
 * Writes the mail that tells the holder of a license of its end.
 * @param sender the installation's address
 */
export function writeEndMail(
  settings: MailSettings,
  facts: EndMailFacts,
  sender: Pick<Correspondent, 'email'>,
): WrittenMail {
  const { what, customer, productName, keyTypeName, graceUntil, portalUrl } = facts
  const language = facts.language ?? settings.language
  const values: Readonly<Record<string, string>> = {
    product: productName,
    plan: keyTypeName,
    date: dayIn(language, facts.expiresAt),
    until: graceUntil === null ? '' : dayIn(language, graceUntil),
  }
  const say = (text: EndMailText): string =>
    catalogues[language][text].replace(/\{(\w+)\}/g, (written, name: string) => values[name] ?? written)
  const name = (customer.name ?? '').trim()
  const hello = keyMailText(language, 'hello')
  const content: Part[] = [
    paragraph(name === '' ? `${hello},` : `${hello} ${name},`),
    paragraph(say(what)),
    ...(what === 'expiring' && graceUntil !== null ? [paragraph(say('grace'))] : []),
    { kind: 'facts', facts: [[say('key'), facts.displayKey]] },
    paragraph(say('renew')),
    ...(portalUrl === null
      ? []
      : [{ kind: 'link', label: keyMailText(language, 'portalLink'), url: portalUrl } as const]),
    paragraph(facts.vendorName),
  ]
  const subject = oneLine(say(`${what}Subject`))
  return {
    ...envelopeOf(settings, facts, sender),
    subject,
    text: asText(content),
    html: asHtml(language, subject, content),
  }
}
