import { type RandomBytes, randomText } from './random.ts'
import { sha256 } from './sha256.ts'

/** Crockford's base32: no I, L, O or U, so that nothing in a key is read wrongly. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const groupedKey = /^[A-Z0-9]{2,8}(?:-[A-Z0-9]{5}){5}-[A-Z0-9]$/
const ungroupedKey = /^[A-Z0-9]{2,8}[0-9A-HJKMNP-TV-Z]{26}$/

export type LicenseKey = { licenseKey: string; keyHash: string; displayKey: string }

/**
 * A new key, `PREFIX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-C`: 125 random bits and a check character.
 * @param prefix the product's key prefix, 2–8 of A–Z and 0–9
 */
export function newLicenseKey(prefix: string, randomBytes: RandomBytes): LicenseKey {
  const body = randomText(alphabet, 25, randomBytes)
  const groups = body.match(/.{5}/g) ?? []
  const licenseKey = [prefix, ...groups, checkCharacter(body)].join('-')
  return { licenseKey, keyHash: sha256(normalised(licenseKey)), displayKey: `${prefix}…${body.slice(-4)}` }
}

/**
 * The hash by which a key that somebody typed is looked up, or undefined for a key of our own form whose check
 * character is wrong: it was never issued, which needs no look-up. A key in any other form may have been imported.
 */
export function keyHashOf(typed: string): string | undefined {
  const upper = typed.normalize('NFKC').toUpperCase()
  const text = plain(upper)
  if (isOwnFormat(text)) return sha256(withoutLookalikes(text))
  return groupedKey.test(upper.trim()) ? undefined : sha256(text)
}

/** Whether a text can be nothing but a key of our own form, if perhaps a mistyped one: it is never shown or asked in clear. */
export function isOwnKey(typed: string): boolean {
  const upper = typed.normalize('NFKC').toUpperCase()
  return groupedKey.test(upper.trim()) || isOwnFormat(plain(upper))
}

/**
 * How the end of a key that somebody reads out may be written where keys are shown, as O for 0; empty for what is none.
 * The prefix may stand before it, as in `ACME…HJ6C`.
 */
export function endingsOf(typed: string): string[] {
  const shown = plain(typed.normalize('NFC').toUpperCase())
  const ending = /^(?:[A-Z0-9]{0,8}(?:…|\.{3}))?([^\s…]{1,4})$/.exec(shown)?.[1]
  return ending === undefined ? [] : [...new Set([ending, withoutLookalikes(ending)])]
}

/** Shorter ones could be guessed. */
const minForeignLength = 6

/**
 * What is kept of a key that comes from elsewhere. Of one in no form of ours at most its last quarter is shown.
 * @returns `unusable` for one that {@link keyHashOf} would never look up, `too short` for one that could be guessed
 */
export function foreignKey(typed: string): Omit<LicenseKey, 'licenseKey'> | 'unusable' | 'too short' {
  const keyHash = keyHashOf(typed)
  if (keyHash === undefined) return 'unusable'
  const text = plain(typed.normalize('NFKC').toUpperCase())
  if (isOwnFormat(text)) {
    return { keyHash, displayKey: `${text.slice(0, -26)}…${withoutLookalikes(text).slice(-5, -1)}` }
  }
  const characters = [...text]
  if (characters.length < minForeignLength) return 'too short'
  const shown = Math.min(4, Math.floor(characters.length / 4))
  return { keyHash, displayKey: `…${characters.slice(-shown).join('')}` }
}

/**
 * What is hashed: NFKC, upper case, no white space or hyphens; in a key of our own form also O read as 0, I and L
 * as 1. Without its hyphens a key counts as ours only if its check character fits, since 32 hexadecimal digits
 * of somebody else's would look the same.
 */
export function normalised(typed: string): string {
  const text = plain(typed.normalize('NFKC').toUpperCase())
  return isOwnFormat(text) ? withoutLookalikes(text) : text
}

const plain = (text: string): string => text.replace(/[\s-]/g, '')
const withoutLookalikes = (text: string): string => text.replace(/O/g, '0').replace(/[IL]/g, '1')

function isOwnFormat(text: string): boolean {
  const read = withoutLookalikes(text)
  return ungroupedKey.test(read) && checkCharacter(read.slice(-26, -1)) === read.slice(-1)
}

/**
 * Luhn mod 32: finds every single wrong character and nearly every swap of two neighbours.
 * @see https://en.wikipedia.org/wiki/Luhn_mod_N_algorithm
 */
function checkCharacter(body: string): string {
  let sum = 0
  for (let index = body.length - 1, factor = 2; index >= 0; index--, factor = 3 - factor) {
    const addend = factor * alphabet.indexOf(body.charAt(index))
    sum += Math.floor(addend / 32) + (addend % 32)
  }
  return alphabet.charAt((32 - (sum % 32)) % 32)
}
