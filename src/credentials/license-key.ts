import { type RandomBytes, randomText } from './random.ts'
import { sha256 } from './sha256.ts'

/** Crockford's base32, without I, L, O and U, which are easily misread. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const groupedKey = /^[A-Z0-9]{2,8}(?:-[A-Z0-9]{5}){5}-[A-Z0-9]$/
const ungroupedKey = /^[A-Z0-9]{2,8}[0-9A-HJKMNP-TV-Z]{26}$/

export type LicenseKey = { licenseKey: string; keyHash: string; displayKey: string }

/**
 * Makes a key, `PREFIX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-C`: 125 random bits and a check character.
 * @param prefix the product's key prefix, 2–8 of A–Z and 0–9
 */
export function newLicenseKey(prefix: string, randomBytes: RandomBytes): LicenseKey {
  const body = randomText(alphabet, 25, randomBytes)
  const groups = body.match(/.{5}/g) ?? []
  const licenseKey = [prefix, ...groups, checkCharacter(body)].join('-')
  return { licenseKey, keyHash: sha256(normalized(licenseKey)), displayKey: `${prefix}…${body.slice(-4)}` }
}

/** A typed key: its hash, and whether it is of keyledger's own format. */
export type TypedKey = {
  /** Lower-case hex SHA-256 of the normalized key, as leases have it. */
  keyHash: string
  /** If not, the key may be short enough to be guessed from its hash. */
  isOwn: boolean
}

/**
 * Reads a typed key. Undefined for a key of keyledger's own format with a wrong check character: it was never issued
 * and needs no look-up. A key in another format may have been imported.
 */
export function readKey(typed: string): TypedKey | undefined {
  const upper = typed.normalize('NFKC').toUpperCase()
  const text = plain(upper)
  if (isOwnFormat(text)) return { keyHash: sha256(withoutLookalikes(text)), isOwn: true }
  return groupedKey.test(upper.trim()) ? undefined : { keyHash: sha256(text), isOwn: false }
}

/** The hash of a typed key; undefined as of {@link readKey}. */
export const keyHashOf = (typed: string): string | undefined => readKey(typed)?.keyHash

/**
 * Whether a text is a key of keyledger's own format, possibly mistyped. Such a text is never shown or logged.
 */
export function isOwnKey(typed: string): boolean {
  const upper = typed.normalize('NFKC').toUpperCase()
  return groupedKey.test(upper.trim()) || isOwnFormat(plain(upper))
}

/**
 * The spellings of a key's end as shown in lists, such as 0 for a typed O; empty for other text. The prefix may
 * precede it, as in `ACME…HJ6C`. Read from a whole key, the end has the check character behind it, as in `4HJ6C-M`.
 */
export function endingsOf(typed: string): string[] {
  const upper = typed.normalize('NFC').toUpperCase().trim()
  const read = /([A-Z0-9]{4})-[A-Z0-9]$/.exec(upper)?.[1]
  if (read !== undefined) return [withoutLookalikes(read)]
  const ending = /^(?:[A-Z0-9]{0,8}(?:…|\.{3}))?([^\s…]{1,4})$/.exec(plain(upper))?.[1]
  return ending === undefined ? [] : [...new Set([ending, withoutLookalikes(ending)])]
}

/** Shorter keys could be guessed. */
const minForeignLength = 6

/**
 * The hash and display form of an imported key. For a foreign format at most the last quarter is shown.
 * @returns `unusable` for a key that {@link readKey} never looks up, `too short` for one that could be guessed
 */
export function foreignKey(typed: string): (TypedKey & { displayKey: string }) | 'unusable' | 'too short' {
  const key = readKey(typed)
  if (key === undefined) return 'unusable'
  const text = plain(typed.normalize('NFKC').toUpperCase())
  if (key.isOwn) {
    return { ...key, displayKey: `${text.slice(0, -26)}…${withoutLookalikes(text).slice(-5, -1)}` }
  }
  if ([...text].length < minForeignLength) return 'too short'
  return { ...key, displayKey: endOf(text) }
}

/** The last quarter of a text, at most four characters. */
function endOf(text: string): string {
  const characters = [...text]
  const shown = Math.min(4, Math.floor(characters.length / 4))
  return `…${characters.slice(characters.length - shown).join('')}`
}

/**
 * What may be shown of a text that was sent as a key, whether or not such a key exists: the prefix and four of 25
 * characters of a key of keyledger's own format, and at most the last quarter of any other text.
 */
export function maskedKey(typed: string): string {
  const text = plain(typed.normalize('NFKC').toUpperCase())
  return isOwnKey(typed) ? `${text.slice(0, -26)}…${withoutLookalikes(text).slice(-5, -1)}` : endOf(text)
}

/**
 * The text to hash: NFKC, upper case, without white space and hyphens. In a key of keyledger's own format, O is
 * read as 0, and I and L as 1. Without hyphens a key counts as own format only if its check character fits,
 * because 32 hexadecimal digits of another vendor's key look the same.
 */
export function normalized(typed: string): string {
  const text = plain(typed.normalize('NFKC').toUpperCase())
  return isOwnFormat(text) ? withoutLookalikes(text) : text
}

const plain = (text: string): string => text.replace(/[\s-]/g, '')
const withoutLookalikes = (text: string): string => text.replace(/O/g, '0').replace(/[IL]/g, '1')

/**
 * Whether a text has the form of keys that {@link newLicenseKey} makes, and their check character. One in 32 keys of
 * another vendor with 28 to 34 letters and digits has it by chance.
 */
function isOwnFormat(text: string): boolean {
  const read = withoutLookalikes(text)
  return ungroupedKey.test(read) && checkCharacter(read.slice(-26, -1)) === read.slice(-1)
}

/**
 * Luhn mod 32: detects every single wrong character and nearly every swap of neighbors.
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
