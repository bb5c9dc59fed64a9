import { z } from 'zod'
import { misleads } from './plain-text.ts'

/** A moment as in the log: ISO 8601, UTC, milliseconds. */
export const Moment = z.iso.datetime({ precision: 3 })

const slug = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * An id that people choose for a tenant, a product or a key type. It contains no `|`, since ids are part of
 * signed strings, and no `.`, since stream names join ids with dots.
 */
export const Slug = z
  .string()
  .regex(slug, 'must be 1 to 63 lowercase letters, digits and hyphens, with no hyphen at either end')

export const isSlug = (text: string): boolean => slug.test(text)

/** An id of that form in the path of a request. A malformed one becomes '', an id that nothing has. */
export const SlugInPath = z.string().transform((id) => (isSlug(id) ? id : ''))

/** Text that the vault sealed with its subject's key; unreadable once the subject is erased. */
export const Sealed = z.string().startsWith('sealed.')

/** From where a request came: its network address, sealed under the key of a person of the tenant. */
export const SealedSource = z.strictObject({ subjectId: z.string().min(1), address: z.string().min(1) })
export type SealedSource = z.infer<typeof SealedSource>

const longestEmail = 254

/** The characters of a domain name besides ASCII; the joiners are letters of some scripts. */
const internationalDomain = /^[\p{L}\p{M}\p{N}\p{Join_Control}.-]+$/u

/**
 * An email address in the form that mail servers know, by the rule of HTML's `input type=email`. An
 * internationalized domain becomes ASCII; everything else is unchanged.
 * @returns undefined for text that is not an email address
 */
export function asciiEmail(email: string): string | undefined {
  if (email.length > longestEmail) return undefined
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const isInternational = /\P{ASCII}/u.test(domain) && internationalDomain.test(domain)
  const written = isInternational
    ? `${email.slice(0, -domain.length)}${URL.parse(`http://${domain}`)?.hostname ?? domain}`
    : email
  return written.length <= longestEmail && z.regexes.html5Email.test(written) ? written : undefined
}

/** The one rule for email addresses from any source. The parsed value is that of {@link asciiEmail}. */
export const EmailAddress = z
  .string()
  .max(longestEmail)
  .refine((email) => asciiEmail(email) !== undefined, 'must be an email address')
  .meta({ format: 'idn-email' })
  .transform((email) => asciiEmail(email) ?? email)

/** Whether every store can hold it: no NUL and no lone surrogate. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0')

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\x00-\x1f\x7f-\x9f]/

/** Whether it may be a name, an id or a reason: storable, and without characters that control how text is shown. */
export const isPlain = (value: string): boolean =>
  value.isWellFormed() && !control.test(value) && !misleads(value)

/** What is wrong with other text. */
export const notPlain =
  'must be well-formed text without control characters and without characters that change the direction of text or do not show'

/** A name, an id or a reason. */
export const text = (most: number) => z.string().min(1).max(most).refine(isPlain, notPlain)

/** A license key as a person copied it, perhaps with white space around it. */
export const keyText = z.string().min(1).max(512).refine(isStorable, 'must be well-formed text without NUL')

export const Metadata = z
  .record(z.string().min(1).max(64), z.string().max(1024))
  .refine((pairs) => Object.keys(pairs).length <= 50, 'must have at most 50 pairs')

/** Makes a slug from a display name: `My App 2!` becomes `my-app-2`; empty when no character is usable. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
}
