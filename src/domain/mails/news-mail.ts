import {
  type AddedLanguages,
  type BuiltInLanguage,
  builtInFor,
  dayIn,
  languageAmong,
  type PortalLanguage,
} from '../portal/languages.ts'
import { type Part, paragraph } from './content.ts'
import type { MailSettings } from './events.ts'
import { keyMailText } from './key-mail.ts'
import type { MailKind } from './kinds.ts'
import { de } from './news-texts/de.ts'
import { en, type NewsMailText } from './news-texts/en.ts'
import {
  bodyOf,
  builtInWording,
  oneLine,
  type Wording,
  type WrittenBody,
  writeTemplate,
} from './rendering.ts'
import { type Correspondent, envelopeOf, type WrittenMail } from './template.ts'

/** The texts of the mails that tell what is new that keyledger comes with. */
export const newsMailTexts: Record<BuiltInLanguage, Readonly<Record<NewsMailText, string>>> = { en, de }

/** What is new: the end is ahead, has come, or leaves the license with fewer features; a payment that renews it failed; so much is used; or a seat was taken or given. */
export type News =
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
  | { what: 'newDevice'; device: string; addedAt: string }
  | { what: 'seatsFull'; seats: number }
  | { what: 'seatGiven' }

/** The contents of a mail that tells what is new. */
export type NewsMailFacts = {
  news: News
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
function textsOf(news: News) {
  if (news.what === 'newDevice') {
    const { what, device, addedAt: date } = news
    return {
      sentences: [what],
      moments: { date },
      values: { device: oneLine(device) },
      advice: 'remove',
    } as const
  }
  if (news.what === 'seatsFull')
    return {
      sentences: [news.what],
      moments: {},
      values: { seats: String(news.seats) },
      advice: 'free',
    } as const
  if (news.what === 'seatGiven')
    return { sentences: [news.what], moments: {}, values: {}, advice: 'signIn' } as const
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

/** The kind of mail that tells of it. */
export const kindOfNews: Record<News['what'], MailKind> = {
  expiring: 'expiring',
  expired: 'expired',
  fellBack: 'fell_back',
  renewalFailed: 'renewal_failed',
  usage: 'usage',
  newDevice: 'new_device',
  seatsFull: 'seats_full',
  seatGiven: 'seat_given',
}

/**
 * Writes the mail that tells the holder of a license, or a person who has a seat of it, what is new.
 * @param sender the installation's address
 */
export function writeNewsMail(
  settings: MailSettings,
  facts: NewsMailFacts,
  sender: Pick<Correspondent, 'email'>,
  { template, look }: Wording = builtInWording,
): WrittenMail {
  const wanted = template ? template.language : facts.language
  const language = languageAmong(look.languages, [wanted, settings.language])
  const written: WrittenBody = template
    ? writeTemplate(template, { language, values: valuesOf(facts, language, look.languages) }, look)
    : bodyOf(...builtIn(facts, language, look.languages), { language, vendorName: facts.vendorName, look })
  return { ...envelopeOf(settings, facts, sender, look), ...written }
}

const nameOf = ({ customer }: NewsMailFacts): string => oneLine(customer.name ?? '')

function greetingIn(language: PortalLanguage, facts: NewsMailFacts, added: AddedLanguages): string {
  const name = nameOf(facts)
  const hello = keyMailText(language, 'hello', added)
  return name === '' ? hello : `${hello} ${name}`
}

/** The subject and the parts of the text that keyledger comes with. */
function builtIn(
  facts: NewsMailFacts,
  language: PortalLanguage,
  added: AddedLanguages,
): [subject: string, parts: Part[]] {
  const { news, productName, keyTypeName, portalUrl } = facts
  const { sentences, moments, values: own, advice } = textsOf(news)
  const values: Record<string, string> = { product: productName, plan: keyTypeName, ...own }
  for (const [name, moment] of Object.entries(moments)) if (moment) values[name] = dayIn(language, moment)
  const say = (text: NewsMailText): string =>
    (added[language]?.texts[`news.${text}`] ?? newsMailTexts[builtInFor(language)][text]).replace(
      /\{(\w+)\}/g,
      (written, name: string) => values[name] ?? written,
    )
  const content: Part[] = [
    paragraph(`${greetingIn(language, facts, added)},`),
    ...sentences.map((text) => paragraph(say(text))),
    { kind: 'facts', facts: [[say('key'), facts.displayKey]] },
    paragraph(say(advice)),
    ...(portalUrl === null
      ? []
      : [{ kind: 'link', label: keyMailText(language, 'portalLink', added), url: portalUrl } as const]),
    paragraph(facts.vendorName),
  ]
  return [oneLine(say(`${news.what}Subject`)), content]
}

/** The values of a vendor's template; what is not known is empty. */
function valuesOf(
  facts: NewsMailFacts,
  language: PortalLanguage,
  added: AddedLanguages,
): Record<string, string> {
  const { news } = facts
  const { moments, values } = textsOf(news)
  const {
    date = null,
    until = null,
    retry = null,
    resets = null,
  }: { [moment: string]: string | null } = moments
  const day = (moment: string | null) => (moment === null ? '' : dayIn(language, moment))
  return {
    ...values,
    greeting: greetingIn(language, facts, added),
    customer_name: nameOf(facts),
    customer_email: facts.customer.email,
    vendor_name: facts.vendorName,
    product_name: facts.productName,
    key_type_name: facts.keyTypeName,
    portal_url: facts.portalUrl ?? '',
    display_key: facts.displayKey,
    expires_on: day(date),
    added_on: day(date),
    works_until: day(until),
    retry_on: day(retry),
    resets_on: day(resets),
  }
}
