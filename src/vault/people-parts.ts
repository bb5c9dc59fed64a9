import { createCipheriv, createHmac, type KeyObject } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { asciiEmail } from '../domain/values.ts'
import type { MasterKey } from './master-key.ts'

/** What is known of a person in clear. */
type Known = { email: string | null; name: string | null }

/** Without case, accents and repeated white space: `Café  One` and `cafe one` are the same. */
export function normalized(text: string): string {
  const plain = (form: string) =>
    form
      .normalize('NFKD')
      .replaceAll(/[\u0300-\u036f]/g, '')
      .toLowerCase()
  // Lower case brings accents of its own, as that of the Turkish I.
  return plain(plain(text)).replaceAll(/\s+/g, ' ').trim()
}

/** The texts in which a person is searched: each spelling of the address, and the name. */
const textsOf = ({ email, name }: Known): string[] => [
  ...new Set(
    [...(email === null ? [] : spellingsOf(email)), ...(name === null ? [] : [name])].map(normalized),
  ),
]

/** Whether the address or the name of a person contains a text. */
export const containsPart = (person: Known, part: string): boolean =>
  textsOf(person).some((text) => text.includes(part))

/** Every three characters that stand beside one another in what is known of a person. */
export const trigramsOfPerson = (person: Known): string[] => trigramsIn(textsOf(person))

/** Every three characters that stand beside one another in one of the texts. */
export function trigramsIn(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) => {
    const characters = [...text]
    return characters.slice(2).map((last, at) => `${characters[at]}${characters[at + 1]}${last}`)
  })
  return [...new Set(found)]
}

/** Whether people can be found by a text: it has at least three characters. */
export const isSearchable = (text: string): boolean => trigramsIn([normalized(text)]).length > 0

/** The key of a tenant: equal trigrams of two tenants have different hashes. */
export const trigramKey = ({ searching }: MasterKey, tenantId: string): Buffer =>
  createHmac('sha256', searching).update(tenantId).digest()

/** The block of AES; three characters of UTF-8 are at most twelve bytes. */
const block = 16

/**
 * Keyed hashes of trigrams, of 32 bits each. Every trigram is one block of AES, so all of them together take about
 * 10 µs; an HMAC for each would take ten times as long, within every mint.
 */
export function hashesOf(key: Buffer | KeyObject, trigrams: readonly string[]): number[] {
  const plain = Buffer.alloc(block * trigrams.length)
  for (const [at, trigram] of trigrams.entries()) plain.write(trigram, at * block)
  const hashed = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(plain)
  return trigrams.map((_, at) => hashed.readInt32BE(at * block))
}

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
