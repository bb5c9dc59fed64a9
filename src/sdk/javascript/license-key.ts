import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ownForm = /^[A-Z0-9]{2,8}[0-9A-HJKMNP-TV-Z]{26}$/

/**
 * Normalizes a typed license key: NFKC, upper case, without white space and hyphens. In a key that keyledger
 * minted, which its check character shows, O becomes 0, and I and L become 1.
 */
export function normaliseLicenseKey(typed: string): string {
  const text = plainKey(typed)
  return asMinted(text) ?? text
}

/**
 * Whether a typed key is one that keyledger has minted, complete and without a typing error: to say so before a call. Keys that were
 * imported have other forms, so another one may be good too.
 */
export const isMintedKey = (typed: string): boolean => asMinted(plainKey(typed)) !== undefined

const plainKey = (typed: string): string => typed.normalize('NFKC').toUpperCase().replace(/[\s-]/g, '')

function asMinted(text: string): string | undefined {
  const read = text.replace(/O/g, '0').replace(/[IL]/g, '1')
  return ownForm.test(read) && hasCheckCharacter(read.slice(-26)) ? read : undefined
}

/** The `licenseKeyHash` of a lease: lower-case hex SHA-256 of the normalized key. */
export const licenseKeyHash = (typed: string): string =>
  bytesToHex(sha256(utf8ToBytes(normaliseLicenseKey(typed))))

/** The Luhn mod 32 sum over all characters, the check character included, is zero. */
function hasCheckCharacter(text: string): boolean {
  const sum = [...text].reverse().reduce((total, character, index) => {
    const value = alphabet.indexOf(character) * (index % 2 === 0 ? 1 : 2)
    return total + Math.floor(value / 32) + (value % 32)
  }, 0)
  return sum % 32 === 0
}

/**
 * A value as one segment of a path, such that the server sees exactly this value.
 * @throws TypeError for a value that no path can contain: URL parsers take dots for a step in the path even when they are
 *   encoded, and unpaired surrogates have no encoding
 */
export function segment(name: string, value: string): string {
  if (value === '') throw new TypeError(`${name} is missing`)
  if (/^\.\.?$|\p{Surrogate}/u.test(value))
    throw new TypeError(`${name} ${JSON.stringify(value)} is not an id`)
  return encodeURIComponent(value)
}
