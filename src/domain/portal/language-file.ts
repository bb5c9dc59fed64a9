import { z } from 'zod'
import { keyMailTexts } from '../mails/key-mail.ts'
import { hasControl } from '../mails/kinds.ts'
import { newsMailTexts } from '../mails/news-mail.ts'
import { text } from '../values.ts'
import {
  type AddedLanguage,
  type AddedLanguages,
  type BuiltInLanguage,
  builtInLanguages,
  builtInNames,
  isBuiltIn,
} from './languages.ts'
import { isPortalTextKey, type OwnTexts, portalTextKeys, problemWithText, textOf } from './texts.ts'

const prefixed = (prefix: string, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([key, written]): [string, string] => [`${prefix}.${key}`, written])

/** Every text of the portal and of the built-in mails in a built-in language, with the vendor's own ones. */
const textsOf = (language: BuiltInLanguage, own: OwnTexts): Record<string, string> =>
  Object.fromEntries([
    ...portalTextKeys.map((key): [string, string] => [key, textOf(language, own, key)]),
    ...prefixed('mail', keyMailTexts[language]),
    ...prefixed('news', newsMailTexts[language]),
  ])

const english = textsOf('en', {})

/** The longest text, and the longest of all texts of a language together (characters). */
const longest = { text: 2000, all: 100_000 } as const

const placeholdersIn = (written: string): string[] => written.match(/\{+[^{}]*\}+/g) ?? []

/** @returns what is wrong with a text of a language, and what to do; undefined if it can be used */
function problemWith(key: string, written: string): string | undefined {
  const original = Object.hasOwn(english, key) ? english[key] : undefined
  if (original === undefined) return 'no text has this name; take the names from GET /v1/portal/languages/en'
  if (written.trim() === '') return 'must not be empty; leave it out, and it is in English'
  if (!written.isWellFormed() || hasControl(written))
    return 'must be well-formed text without control characters other than line breaks and tabs'
  const known = placeholdersIn(original)
  const wrong = placeholdersIn(written).find((name) => !known.includes(name))
  if (wrong === undefined) return isPortalTextKey(key) ? problemWithText(key, written) : undefined
  const has = known.length === 0 ? 'this text has no placeholders' : `this text has ${known.join(', ')}`
  return `${wrong} is not filled in here: ${has}, which are not translated`
}

const tooLong = `all texts together must be at most ${longest.all.toLocaleString('en')} characters`

/** A language as a vendor adds it: what it is called in that language, and its texts. Those that it lacks are in English. */
export const LanguageFile = z.strictObject({
  name: text(60).meta({ description: 'What the language is called in that language', example: 'Français' }),
  texts: z
    .record(z.string().min(1).max(64), z.string().max(longest.text))
    .superRefine((texts, context) => {
      for (const [key, written] of Object.entries(texts)) {
        const message = problemWith(key, written)
        if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message })
      }
      const length = Object.values(texts).reduce((sum, { length: own }) => sum + own, 0)
      if (length > longest.all) context.addIssue({ code: 'custom', message: tooLong })
    })
    .meta({
      description:
        'Its texts by name: those of the portal, and those of the built-in mails, which begin with `mail.` and `news.`. A text that is ' +
        'left out is in English',
      example: { signOut: 'Se déconnecter', 'mail.hello': 'Bonjour' },
    }),
})
export type LanguageFile = z.infer<typeof LanguageFile>

/** A language of a portal, with how many texts it lacks. */
export type PresentLanguage = LanguageFile & { tag: string; builtIn: boolean; missing: number }

/**
 * What a language lacks is in English, or in the built-in language that its tag begins with. A text that this version no longer has is
 * left out.
 */
export function presentLanguage(tag: string, { name, texts: recorded }: AddedLanguage): PresentLanguage {
  const keys = Object.keys(english).filter((key) => Object.hasOwn(recorded, key))
  const texts = Object.fromEntries(keys.map((key) => [key, recorded[key] ?? '']))
  return { tag, name, builtIn: isBuiltIn(tag), missing: Object.keys(english).length - keys.length, texts }
}

/** The languages of a portal with their texts: first those that are built in, which have all texts, then those that were added. */
export const languagesOf = (own: OwnTexts, added: AddedLanguages): PresentLanguage[] => [
  ...builtInLanguages.map((tag) =>
    presentLanguage(tag, { name: builtInNames[tag], texts: textsOf(tag, own) }),
  ),
  ...Object.entries(added).map(([tag, language]) => presentLanguage(tag, language)),
]
