import { type BuiltInLanguage, builtInFor, type PortalLanguage } from './languages.ts'
import { de } from './texts/de.ts'
import { en, type PortalTextKey } from './texts/en.ts'

export type { PortalTextKey }

const catalogues: Record<BuiltInLanguage, Readonly<Record<PortalTextKey, string>>> = { en, de }

export const portalTextKeys = Object.keys(en) as readonly PortalTextKey[]

export const isPortalTextKey = (key: string): key is PortalTextKey => Object.hasOwn(en, key)

/** The text that keyledger comes with. */
export const builtInText = (language: BuiltInLanguage, key: PortalTextKey): string =>
  catalogues[language][key]

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

/** The vendor's own texts, by built-in language and key. */
export type OwnTexts = { [L in BuiltInLanguage]?: Readonly<Record<string, string>> | undefined }

/** Writes the texts of one language, the vendor's own ones first. */
export type Say = (key: PortalTextKey, values?: Readonly<Record<string, string | number>>) => string

/**
 * The texts of a language.
 * @param added those of a language that the vendor added; what they lack is in a built-in language
 */
export const sayIn =
  (language: PortalLanguage, own: OwnTexts, added: Readonly<Record<string, string>> = {}): Say =>
  (key, values = {}) =>
    (added[key] ?? textOf(builtInFor(language), own, key)).replace(placeholder, (written, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : written,
    )

/** A text of a built-in language: the vendor's own one, else the one that keyledger comes with. */
export const textOf = (language: BuiltInLanguage, own: OwnTexts, key: PortalTextKey): string =>
  own[language]?.[key] ?? builtInText(language, key)
