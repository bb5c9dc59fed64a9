import { dayIn, type PortalLanguage } from '../portal/texts.ts'
import { asHtml, asText, type Part, paragraph } from './content.ts'
import { de } from './end-texts/de.ts'
import { type EndMailText, en } from './end-texts/en.ts'
import type { MailSettings } from './events.ts'
import { keyMailText } from './key-mail.ts'
import { type Correspondent, envelopeOf, oneLine, type WrittenMail } from './template.ts'

const catalogues: Record<PortalLanguage, Readonly<Record<EndMailText, string>>> = { en, de }

/** What is new: the end is ahead, has come, or leaves the license with fewer features; a payment that renews it failed; or so much is used. */
export type EndNews =
  | {
      what: 'expiring' | 'expired' | 'fellBack'
      expiresAt: string
      /** The end of the grace after that; null without one. */
      graceUntil: string | null
    }
  | {
      what: 'renewalFailed'
      /** When the provider tries again; null when that is not known. */
      nextAttemptAt: string | null
      /** When the license ends without the payment; null when it has ended, or has no end. */
      worksUntil: string | null
    }
  | {
      what: 'usage'
      meter: string
      unit: string
      percent: number
      used: string
      remaining: string
      /** When counting begins anew; null when that is not known. */
      resetsAt: string | null
    }

/** The contents of a mail about the end of a license, a renewal that failed, or what is used. */
export type EndMailFacts = {
  news: EndNews
  customer: { email: string; name: string | null }
  vendorName: string
  productName: string
  keyTypeName: string
  displayKey: string
  portalUrl: string | null
  /** Of the customer, as far as it is known. */
  language: PortalLanguage | null
}

/** The sentences of a mail, the moments in them, and what the customer can do. */
function textsOf(news: EndNews) {
  if (news.what === 'renewalFailed') {
    const { nextAttemptAt: retry, worksUntil: until } = news
    const more = [
      ...(retry === null ? [] : ['retry' as const]),
      ...(until === null ? [] : ['works' as const]),
    ]
    return { sentences: [news.what, ...more], moments: { retry, until }, values: {}, advice: 'pay' } as const
  }
  if (news.what === 'usage') {
    const { meter, unit, percent, used, remaining, resetsAt: resets } = news
    const more = resets === null ? [] : ['resets' as const]
    const values = { meter, unit, percent: String(percent), used, remaining }
    return { sentences: [news.what, ...more], moments: { resets }, values, advice: 'more' } as const
  }
  const { what, expiresAt: date, graceUntil: until } = news
  const hasGrace = what === 'expiring' && until !== null
  const sentences = hasGrace ? ([what, 'grace'] as const) : ([what] as const)
  return { sentences, moments: { date, until }, values: {}, advice: 'renew' } as const
}

/**
 * Writes the mail that tells the holder of a license of its end, of a renewal that failed, or of a threshold of a meter.
 * @param sender the installation's address
 */
export function writeEndMail(
  settings: MailSettings,
  facts: EndMailFacts,
  sender: Pick<Correspondent, 'email'>,
): WrittenMail {
  const { news, customer, productName, keyTypeName, portalUrl } = facts
  const language = facts.language ?? settings.language
  const { sentences, moments, values: own, advice } = textsOf(news)
  const values: Record<string, string> = { product: productName, plan: keyTypeName, ...own }
  for (const [name, moment] of Object.entries(moments)) if (moment) values[name] = dayIn(language, moment)
  const say = (text: EndMailText): string =>
    catalogues[language][text].replace(/\{(\w+)\}/g, (written, name: string) => values[name] ?? written)
  const name = (customer.name ?? '').trim()
  const hello = keyMailText(language, 'hello')
  const content: Part[] = [
    paragraph(name === '' ? `${hello},` : `${hello} ${name},`),
    ...sentences.map((text) => paragraph(say(text))),
    { kind: 'facts', facts: [[say('key'), facts.displayKey]] },
    paragraph(say(advice)),
    ...(portalUrl === null
      ? []
      : [{ kind: 'link', label: keyMailText(language, 'portalLink'), url: portalUrl } as const]),
    paragraph(facts.vendorName),
  ]
  const subject = oneLine(say(`${news.what}Subject`))
  return {
    ...envelopeOf(settings, facts, sender),
    subject,
    text: asText(content),
    html: asHtml(language, subject, content),
  }
}
