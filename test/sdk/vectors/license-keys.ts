import { licenseKey, sha256 } from './keys.ts'

const normalized = 'ACME7KQ2M9XW4DR1T8V0ZB5N3HJ6C7'
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const of = (name: string, why: string, typed: string, text: string, isWellFormed: boolean) => ({
  name,
  why,
  typed,
  normalized: text,
  hash: sha256(text),
  valid: isWellFormed,
})

/** Each digit that can be mistyped at a place: one character of the key is another, so its check character is wrong. */
const mistyped = [...normalized.slice(4)].map((character, index) => {
  const other =
    alphabet[(alphabet.indexOf(character) + 1 + index) % 32] === character
      ? '9'
      : alphabet[(alphabet.indexOf(character) + 1 + index) % 32]
  const text = `${normalized.slice(0, 4 + index)}${other ?? ''}${normalized.slice(5 + index)}`
  return of(`character ${index + 1} mistyped`, 'the check character shows it', text, text, false)
})

const spellings: [string, string, string][] = [
  ['as printed', 'the last character is the check character', licenseKey],
  [
    'lower case with spaces',
    'case, white space and hyphens do not count',
    ' acme 7kq2m-9xw4d r1t8v 0zb5n 3hj6c 7 ',
  ],
  ['letters for digits', 'O is 0, I and L are 1', 'ACME-7KQ2M-9XW4D-RLT8V-OZB5N-3HJ6C-7'],
  ['small letters for digits', 'o is 0, i and l are 1', 'acme-7kq2m-9xw4d-rit8v-ozb5n-3hj6c-7'],
  [
    'full width',
    'NFKC makes these the usual characters',
    '\uFF21\uFF23\uFF2D\uFF25-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
  ],
  ['circled digits', 'NFKC makes these digits', 'ACME-\u2466KQ\u2461M-9XW4D-R1T8V-0ZB5N-3HJ6C-7'],
  ['with lines', 'copied from a mail', 'ACME-7KQ2M-9XW4D\r\n-R1T8V-0ZB5N\n-3HJ6C-7\n'],
  [
    'with tabs and no-break spaces',
    'these are white space too',
    '\tACME\u00A07KQ2M\u00A09XW4D\u2003R1T8V\u30000ZB5N 3HJ6C 7',
  ],
  ['without hyphens', 'they are for the eye', normalized],
  ['with a hyphen after each character', 'they do not count', [...normalized].join('-')],
  ['with a byte order mark', 'it is white space to a program', `\uFEFF${licenseKey}`],
]

const foreign: [string, string, string, string][] = [
  [
    'letters kept when the check fails',
    'a key of another system keeps its letters',
    'OLD-KEY-1L',
    'OLDKEY1L',
  ],
  ['a dash that is no hyphen', 'only the hyphen is taken out', 'ACME\u20131', 'ACME\u20131'],
  ['letters with accents', 'they are of a key of another system', 'clé-42', 'CLÉ42'],
  ['accents that are characters of their own', 'NFKC joins them', 'cle\u0301-42', 'CLÉ42'],
  ['a sharp s', 'it has two letters in upper case', 'straße', 'STRASSE'],
  ['a ligature', 'NFKC takes it apart', '\uFB01x-1', 'FIX1'],
  ['another writing', 'it has no upper case', '許可-１', '許可1'],
  ['empty', 'nothing was typed', '', ''],
  ['white space alone', 'nothing was typed', ' \t\n', ''],
  ['a UUID', 'of another system', '0fc7e1d2-95a4-4b0e-8f3e-1d2c3b4a5968', '0FC7E1D295A44B0E8F3E1D2C3B4A5968'],
  [
    'too short a prefix',
    'a prefix has two characters or more',
    `A${normalized.slice(4)}`,
    `A${normalized.slice(4)}`,
  ],
  [
    'too long a prefix',
    'a prefix has eight characters or fewer',
    `ACMEACMEA${normalized.slice(4)}`,
    `ACMEACMEA${normalized.slice(4)}`,
  ],
]

/** What a person types, and the normalized form that is hashed. */
export const licenseKeys = () => ({
  cases: [
    ...spellings.map(([name, why, typed]) => of(name, why, typed, normalized, true)),
    of(
      'wrong check character',
      'one character was mistyped',
      'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6D-7',
      'ACME7KQ2M9XW4DR1T8V0ZB5N3HJ6D7',
      false,
    ),
    ...mistyped,
    ...foreign.map(([name, why, typed, text]) => of(name, why, typed, text, false)),
  ],
})
