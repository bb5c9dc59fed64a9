import {
  type AddedLanguages,
  type BuiltInLanguage,
  builtInFor,
  type PortalLanguage,
} from '../portal/languages.ts'
import { type Part, paragraph } from './content.ts'
import { de } from './texts/de.ts'
import { en, type KeyMailText } from './texts/en.ts'

/** The texts of the mail with a key that keyledger comes with. */
export const keyMailTexts: Record<BuiltInLanguage, Readonly<Record<KeyMailText, string>>> = { en, de }

/** Why a key is mailed: it was sold, or its vendor or holder asked to send it. */
export type MailOccasion = 'sale' | 'asked'

/** What decides which sentences the built-in mail has. */
export type KeyMailFacts = {
  /** Whether the license was sold, so that there is an order. */
  isOrder: boolean
  /** Whether the key can be sent again. */
  sentAgain: boolean
  /** The address of the vendor's portal; null while it is closed. */
  portalUrl: string | null
  /** Whether the proof of the license is attached. */
  receipt: boolean
}

/** A text of the built-in mail in one language. @param added the languages that the vendor added */
export const keyMailText = (language: PortalLanguage, text: KeyMailText, added: AddedLanguages): string =>
  added[language]?.texts[`mail.${text}`] ?? keyMailTexts[builtInFor(language)][text]

/** The subject of a product without one of its own. */
export const builtInSubject = (
  language: PortalLanguage,
  { isOrder }: Pick<KeyMailFacts, 'isOrder'>,
  added: AddedLanguages,
): string => keyMailText(language, isOrder ? 'subjectOfOrder' : 'subject', added)

/** The content of a product without a text of its own, with placeholders. */
export function builtInContent(
  language: PortalLanguage,
  occasion: MailOccasion,
  { isOrder, sentAgain, portalUrl, receipt }: KeyMailFacts,
  added: AddedLanguages,
): Part[] {
  const say = (text: KeyMailText) => keyMailText(language, text, added)
  const facts: (readonly [string, string])[] = [
    [say('devices'), '{{devices}}'],
    [say('expires'), '{{expires_on}}'],
  ]
  return [
    paragraph('{{greeting}},'),
    paragraph(say(occasion === 'sale' ? 'sold' : 'asked')),
    { kind: 'code', text: '{{license_key}}' },
    { kind: 'facts', facts: isOrder ? [[say('order'), '{{sale_id}}'], ...facts] : facts },
    ...keeping(say, sentAgain, portalUrl !== null),
    ...(receipt ? [paragraph(say('receipt'))] : []),
    paragraph('{{vendor_name}}'),
  ]
}

/** Whether the customer can have the key again, and where. */
function keeping(say: (text: KeyMailText) => string, sentAgain: boolean, portalIsOpen: boolean): Part[] {
  const advice = sentAgain ? 'sentAgain' : 'sentOnce'
  if (!portalIsOpen) return [paragraph(say(advice))]
  const link: Part = { kind: 'link', label: say('portalLink'), url: '{{portal_url}}' }
  return sentAgain
    ? [paragraph(say('portalWithKey')), link]
    : [paragraph(say('sentOnce')), paragraph(say('portal')), link]
}
