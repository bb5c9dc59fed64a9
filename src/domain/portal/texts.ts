import type { Duration } from '../products/key-type.ts'
import { de } from './texts/de.ts'
import { en, type PortalTextKey } from './texts/en.ts'

/** The languages of the portal; the first is used for people who ask for none of them. */
export const portalLanguages = ['en', 'de'] as const
export type PortalLanguage = (typeof portalLanguages)[number]

/** `de-AT` is German; undefined for a language that the portal does not have. */
export function languageOfTag(tag: string | null | undefined): PortalLanguage | undefined {
  const [primary] = (tag ?? '').toLowerCase().split(/[-_]/)
  return portalLanguages.find((language) => language === primary)
}

/** What each language is called in that language. */
export const languageNames: Record<PortalLanguage, string> = { en: 'English', de: 'Deutsch' }

export type { PortalTextKey }

const catalogues: Record<PortalLanguage, Readonly<Record<PortalTextKey, string>>> = { en, de }

export const portalTextKeys = Object.keys(en) as readonly PortalTextKey[]

export const isPortalTextKey = (key: string): key is PortalTextKey => Object.hasOwn(en, key)

/** The text that keyledger comes with. */
export const builtInText = (language: PortalLanguage, key: PortalTextKey): string => catalogues[language][key]

const placeholder = /\{([a-z]+)\}/g

/** The names in braces in a text, sorted, each once. */
export const placeholdersIn = (text: string): string[] =>
  [...new Set(Array.from(text.matchAll(placeholder), ([, name = '']) => name))].sort()

/** The texts that would make no sense without what is filled in. */
const needed: Partial<Record<PortalTextKey, readonly string[]>> = { mailText: ['link'], inviteText: ['link'] }

/**
 * What is wrong with a vendor's own text: a placeholder that is not filled in there, or one that is missing.
 * @returns one sentence; undefined if the text can be used
 */
export function problemWithText(key: PortalTextKey, text: string): string | undefined {
  const known = placeholdersIn(en[key])
  const used = placeholdersIn(text)
  const unknown = used.find((name) => !known.includes(name))
  if (unknown !== undefined) return `{${unknown}} is not filled in here`
  const missing = needed[key]?.find((name) => !used.includes(name))
  return missing === undefined ? undefined : `must contain {${missing}}`
}

/** The vendor's own texts, by language and key. */
export type OwnTexts = { [L in PortalLanguage]?: Readonly<Record<string, string>> | undefined }

/** Writes the texts of one language, the vendor's own ones first. */
export type Say = (key: PortalTextKey, values?: Readonly<Record<string, string | number>>) => string

export const sayIn =
  (language: PortalLanguage, own: OwnTexts): Say =>
  (key, values = {}) =>
    (own[language]?.[key] ?? builtInText(language, key)).replace(placeholder, (written, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : written,
    )

/** How numbers and days of a language are written. */
export const languageTags: Record<PortalLanguage, string> = { en: 'en-GB', de: 'de-DE' }

/** `12 November 2026`: a day in UTC, as people of the language write it. */
export const dayIn = (language: PortalLanguage, moment: string): string =>
  new Intl.DateTimeFormat(languageTags[language], { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(moment),
  )

/** `12 November 2026 at 14:05 UTC`, as people of the language write it. */
export const momentIn = (language: PortalLanguage, moment: string): string =>
  `${new Intl.DateTimeFormat(languageTags[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(moment))} UTC`

/** `30 days`: a duration, as people of the language write it. */
export const durationIn = (language: PortalLanguage, { count, unit }: Duration): string =>
  new Intl.NumberFormat(languageTags[language], { style: 'unit', unit, unitDisplay: 'long' }).format(count)

/** The language of the portal's that a browser prefers by its Accept-Language header: `de-AT;q=0.9, en;q=0.8` prefers German. */
export function acceptedLanguage(accepted: string): PortalLanguage | undefined {
  const ranked = accepted
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...options] = part.trim().toLowerCase().split(';')
      const quality = options.map((option) => /^\s*q=([\d.]+)\s*$/.exec(option)?.[1]).find(Boolean)
      return { language: languageOfTag(range), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
  return ranked.find(({ language }) => language !== undefined)?.language
}
