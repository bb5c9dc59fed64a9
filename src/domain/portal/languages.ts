import { z } from 'zod'
import type { Duration } from '../products/key-type.ts'

/** The languages that keyledger comes with; the first has the text that another language lacks. */
export const builtInLanguages = ['en', 'de'] as const
export type BuiltInLanguage = (typeof builtInLanguages)[number]

/** A language by its tag: `fr`, or `pt-BR` with a region. A vendor may have added it, or have removed it since. */
export type PortalLanguage = string

/** A tag of BCP 47 in its canonical form, without a script or variants. */
export const LanguageTag = z.string().regex(/^[a-z]{2,3}(-([A-Z]{2}|[0-9]{3}))?$/)

/** A language that a vendor added: what it is called in that language, and its texts by their keys. */
export type AddedLanguage = { name: string; texts: Readonly<Record<string, string>> }

/** The languages that a vendor added, by their tags. */
export type AddedLanguages = Readonly<Record<string, AddedLanguage>>

/** What languages are called, each in itself, by their tags. */
export type LanguageNames = Readonly<Record<string, string>>

export const builtInNames: Readonly<Record<BuiltInLanguage, string>> = { en: 'English', de: 'Deutsch' }

/** The languages of a portal, by their tags: those that are built in, then those that its vendor added. */
export const languageNames = (added: LanguageNames): LanguageNames => ({ ...builtInNames, ...added })

/** The tag as it is recorded: `pt-br` is `pt-BR`; undefined for what is no tag of a language, or has more than a region. */
export function canonicalTag(written: string): PortalLanguage | undefined {
  try {
    return LanguageTag.safeParse(Intl.getCanonicalLocales(written)[0]).data
  } catch {
    return undefined
  }
}

export const isBuiltIn = (tag: string): tag is BuiltInLanguage => Object.hasOwn(builtInNames, tag)

const primaryOf = (tag: string): string => tag.split('-')[0] ?? tag

/** The built-in language whose texts a language has where it has none of its own. */
export function builtInFor(tag: PortalLanguage): BuiltInLanguage {
  const primary = primaryOf(tag)
  return isBuiltIn(primary) ? primary : builtInLanguages[0]
}

/** Whether days and numbers can be written in a language. */
export const isWritable = (tag: string): boolean =>
  LanguageTag.safeParse(tag).success && Intl.DateTimeFormat.supportedLocalesOf(tag).length === 1

/** `zh-Hant-tw` and `zh_TW` are `zh-TW`; undefined for what is no language. */
export function tagOf(locale: string | null | undefined): PortalLanguage | undefined {
  try {
    const { language, region } = new Intl.Locale((locale ?? '').replaceAll('_', '-'))
    const tag = region ? `${language}-${region}` : language
    return isWritable(tag) ? tag : undefined
  } catch {
    return undefined
  }
}

/** `de-AT` is German where there is no German of Austria; undefined for a language that the portal does not have. */
function nearest(tag: PortalLanguage, added: object): PortalLanguage | undefined {
  const known = [...builtInLanguages, ...Object.keys(added)]
  const primary = primaryOf(tag)
  return (
    known.find((one) => one === tag) ??
    known.find((one) => one === primary) ??
    known.find((one) => primaryOf(one) === primary)
  )
}

/**
 * The language of a page or a mail.
 * @param wanted the most wanted first; those that are not known, and that the portal does not have, are passed over
 * @param added the languages that the vendor added, by their tags
 */
export function languageAmong(
  added: object,
  wanted: readonly (PortalLanguage | null | undefined)[],
): PortalLanguage {
  for (const tag of wanted) {
    const found = tag && nearest(tag, added)
    if (found) return found
  }
  return builtInLanguages[0]
}

/**
 * The language of the portal's that a browser prefers by its Accept-Language header: `de-AT;q=0.9, en;q=0.8` prefers German.
 * @param added the languages that the vendor added, by their tags
 */
export function acceptedLanguage(accepted: string, added: object): PortalLanguage | undefined {
  const ranked = accepted
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...options] = part.trim().split(';')
      const quality = options.map((option) => /^\s*q=([\d.]+)\s*$/i.exec(option)?.[1]).find(Boolean)
      const tag = tagOf(range.trim())
      return { language: tag && nearest(tag, added), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
  return ranked.find(({ language }) => language !== undefined)?.language
}

const ownForms: Readonly<Record<BuiltInLanguage, string>> = { en: 'en-GB', de: 'de-DE' }

/** How numbers and days of a language are written. */
export const formsOf = (language: PortalLanguage): string =>
  isBuiltIn(language) ? ownForms[language] : language

/** The `dir` of a page in a language that is written from right to left; undefined for others. */
export function directionOf(language: PortalLanguage): 'rtl' | undefined {
  const locale: Intl.Locale & { getTextInfo?: () => { direction: string } } = new Intl.Locale(language)
  return locale.getTextInfo?.().direction === 'rtl' ? 'rtl' : undefined
}

/** `12 November 2026`: a day in UTC, as people of the language write it. */
export const dayIn = (language: PortalLanguage, moment: string): string =>
  new Intl.DateTimeFormat(formsOf(language), { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(moment))

/** `12 November 2026 at 14:05 UTC`, as people of the language write it. */
export const momentIn = (language: PortalLanguage, moment: string): string =>
  `${new Intl.DateTimeFormat(formsOf(language), { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(moment))} UTC`

/** `30 days`: a duration, as people of the language write it. */
export const durationIn = (language: PortalLanguage, { count, unit }: Duration): string =>
  new Intl.NumberFormat(formsOf(language), { style: 'unit', unit, unitDisplay: 'long' }).format(count)
