import { domainToUnicode } from 'node:url'
import { asciiEmail } from '../domain/values.ts'

/**
 * The spellings under which a person may be stored: with the ASCII form of the domain, and with the Unicode
 * form that older versions used. Nearly all domains have only one form.
 */
export function spellingsOf(email: string): string[] {
  const written = (asciiEmail(email) ?? email).toLowerCase()
  const domain = written.slice(written.lastIndexOf('@') + 1)
  const unicode = domainToUnicode(domain)
  if (unicode === domain || unicode === '') return [written]
  return [...new Set([written, email.toLowerCase(), `${written.slice(0, -domain.length)}${unicode}`])]
}
