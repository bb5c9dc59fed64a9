/**
 * A key is found however it was typed. A mistyped key of keyledger's own format is recognized without a
 * look-up. A key of any other format always has the same hash.
 */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  endingsOf,
  foreignKey,
  isOwnKey,
  keyHashOf,
  newLicenseKey,
  normalized,
} from '../../src/credentials/license-key.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { anyText } from '../domain/any-text.ts'
import { cycling, sources } from './bytes.ts'

const ourForm = /^[A-Z0-9]{2,8}(-[0-9A-HJKMNP-TV-Z]{5}){5}-[0-9A-HJKMNP-TV-Z]$/
const prefixes = fc.stringMatching(/^[A-Z0-9]{2,8}$/)
const keys = fc.tuple(prefixes, sources).map(([prefix, source]) => newLicenseKey(prefix, source))

/** A character and its look-alikes. */
const readAlike: Record<string, string> = { O: '0', I: '1', L: '1' }
const read = (character: string) => readAlike[character] ?? character

/** The bytes 0–24, one per character of the body. */
const sample = newLicenseKey('KL', cycling([...Array(25).keys()]))

describe('a new key', () => {
  test('is the prefix, five groups of five and a check character', () =>
    expect(sample).toStrictEqual({
      licenseKey: 'KL-01234-56789-ABCDE-FGHJK-MNPQR-K',
      keyHash: 'c256a8346f4b3b32e4d039f57ad6145d07882f288f5eec413cef8a8350c6d9e6',
      displayKey: 'KL…NPQR',
    }))

  test('has a valid format, hash and display form for any bytes', () =>
    fc.assert(
      fc.property(prefixes, sources, (prefix, source) => {
        const { licenseKey, keyHash, displayKey } = newLicenseKey(prefix, source)
        expect(licenseKey).toMatch(ourForm)
        expect(licenseKey.startsWith(`${prefix}-`)).toBe(true)
        expect(keyHash).toBe(sha256(normalized(licenseKey)))
        expect(keyHash).toBe(keyHashOf(licenseKey))
        expect(displayKey).toBe(`${prefix}…${licenseKey.slice(-6, -2)}`)
      }),
    ))

  test('carries 125 random bits: each byte gives one character of 32', () => {
    const characters = Array.from(
      { length: 256 },
      (_, byte) => newLicenseKey('KL', cycling([byte])).licenseKey[3],
    )
    const perCharacter = Map.groupBy(characters, (character) => character)
    expect(perCharacter.size).toBe(32)
    expect(new Set([...perCharacter.values()].map((group) => group.length))).toStrictEqual(new Set([8]))
  })

  test('is different each time', () => {
    const made = Array.from({ length: 100 }, () => newLicenseKey('KL', randomBytes).keyHash)
    expect(new Set(made).size).toBe(100)
  })
})

describe('the check character', () => {
  test('detects every single misread character', () =>
    fc.assert(
      fc.property(
        keys,
        fc.nat({ max: 30 }),
        fc.stringMatching(/^[A-Z0-9]$/),
        ({ licenseKey }, place, wrong) => {
          const index = licenseKey.length - 1 - place
          const right = licenseKey.charAt(index)
          fc.pre(right !== '-' && read(right) !== read(wrong))
          expect(keyHashOf(licenseKey.slice(0, index) + wrong + licenseKey.slice(index + 1))).toBeUndefined()
        },
      ),
      { numRuns: 2000 },
    ))

  test('detects every possible single wrong character of one key', () => {
    const { licenseKey } = sample
    const missed: string[] = []
    for (let index = 'KL-'.length; index < licenseKey.length; index++) {
      if (licenseKey[index] === '-') continue
      for (const wrong of '0123456789ABCDEFGHJKMNPQRSTUVWXYZ') {
        const typed = licenseKey.slice(0, index) + wrong + licenseKey.slice(index + 1)
        if (typed !== licenseKey && keyHashOf(typed) !== undefined) missed.push(typed)
      }
    }
    expect(missed).toStrictEqual([])
  })

  test('detects every swap of two neighbors, except 0 and Z', () => {
    const neighbors = (one: string, other: string) => {
      const body = [...sample.licenseKey]
      body[3] = one
      body[4] = other
      return body.slice(0, -1).join('')
    }
    const checkOf = (stem: string) =>
      [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'].filter((check) => keyHashOf(stem + check) !== undefined).join()
    const missed: string[] = []
    for (const one of '0123456789ABCDEFGHJKMNPQRSTVWXYZ') {
      for (const other of '0123456789ABCDEFGHJKMNPQRSTVWXYZ') {
        if (one < other && checkOf(neighbors(one, other)) === checkOf(neighbors(other, one)))
          missed.push(one + other)
      }
    }
    expect(missed).toStrictEqual(['0Z'])
  })
})

describe('a key of keyledger’s own format is found when typed', () => {
  test.each<[string, (key: string) => string]>([
    ['in lower case', (key) => key.toLowerCase()],
    ['without hyphens', (key) => key.replaceAll('-', '')],
    ['with spaces for hyphens', (key) => key.replaceAll('-', ' ')],
    ['with white space around it', (key) => ` \t${key}\r\n`],
    ['with no-break spaces in it', (key) => key.replaceAll('-', '-\u00a0')],
    ['with a space between all characters', (key) => [...key].join(' ')],
    ['in other groups', (key) => key.replaceAll('-', '').replace(/.{4}/g, '$&-')],
    ['with O for 0', (key) => key.replaceAll('0', 'O')],
    ['with I for 1', (key) => key.replaceAll('1', 'I')],
    ['with l for 1', (key) => key.replaceAll('1', 'l')],
    ['in full width', (key) => key.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))],
    [
      'with O for 0, in lower case, without hyphens',
      (key) => key.replaceAll('0', 'o').replaceAll('-', '').toLowerCase(),
    ],
  ])('%s', (_, typed) =>
    fc.assert(
      fc.property(keys, ({ licenseKey, keyHash }) => {
        expect(keyHashOf(typed(licenseKey))).toBe(keyHash)
      }),
    ),
  )
})

test('a wrong check character is detected in lower case, in full width and between spaces', () => {
  const wrong = 'KL-01234-56789-ABCDE-FGHJK-MNPQR-J'
  for (const typed of [wrong, wrong.toLowerCase(), ` ${wrong}\n`, wrong.replaceAll('-', '－')]) {
    expect(keyHashOf(typed)).toBeUndefined()
  }
})

test('a letter outside the alphabet is wrong', () =>
  expect(keyHashOf('KL-U1234-56789-ABCDE-FGHJK-MNPQR-K')).toBeUndefined())

describe('a key of another format', () => {
  /** Breaks a text into pieces with hyphens and spaces, anywhere. */
  const broken = (text: string, gaps: readonly string[]) =>
    [...text].map((character, index) => character + (gaps[index % gaps.length] ?? '')).join('')
  const gaps = fc.array(fc.constantFrom('', '', '', '-', ' ', '\t', ' - '), { minLength: 1, maxLength: 40 })
  const hexKeys = fc.stringMatching(/^[0-9a-f]{32}$/)
  const ownGroups = /^[A-Z0-9]{2,8}(?:-[A-Z0-9]{5}){5}-[A-Z0-9]$/

  test('a UUID has a hash, the same with and without its hyphens and in either case', () =>
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        const hash = sha256(uuid.replaceAll('-', '').toUpperCase())
        expect(keyHashOf(uuid)).toBe(hash)
        expect(keyHashOf(uuid.toUpperCase())).toBe(hash)
        expect(keyHashOf(uuid.replaceAll('-', ''))).toBe(hash)
      }),
    ))

  test('32 hexadecimal digits have a hash, whether or not the last one is a valid check character', () => {
    const stem = 'ABCDEF0123456789ABCDEF012345678'
    const hashes = [...'0123456789ABCDEF'].map((last) => keyHashOf(stem + last))
    expect(hashes).toStrictEqual([...'0123456789ABCDEF'].map((last) => sha256(stem + last)))
  })

  test('32 hexadecimal digits have one hash however they are grouped, except in keyledger’s own groups', () =>
    fc.assert(
      fc.property(hexKeys, gaps, (key, between) => {
        const typed = broken(key, between)
        fc.pre(!ownGroups.test(typed.toUpperCase().trim()))
        expect(keyHashOf(typed)).toBe(sha256(key.toUpperCase()))
      }),
    ))

  test('any text has a hash, unless it is in keyledger’s own groups', () =>
    fc.assert(
      fc.property(anyText, (key) => {
        fc.pre(!ownGroups.test(key.normalize('NFKC').toUpperCase().trim()))
        expect(keyHashOf(key)).toMatch(/^[0-9a-f]{64}$/)
      }),
    ))

  test('plain letters have one hash in either case and however they are grouped', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_.+/=]{1,60}$/), gaps, (key, between) => {
        const typed = broken(key, between)
        for (const text of [key, typed]) fc.pre(!ownGroups.test(text.toUpperCase().trim()))
        const hash = keyHashOf(key)
        expect(keyHashOf(typed)).toBe(hash)
        expect(keyHashOf(typed.toLowerCase())).toBe(hash)
        expect(keyHashOf(typed.toUpperCase())).toBe(hash)
      }),
    ))

  test('keeps its O, I and L distinct from 0 and 1', () => {
    expect(normalized('oil-01')).toBe('OIL01')
    expect(keyHashOf('oil-01')).not.toBe(keyHashOf('011-01'))
  })
})

describe('an imported key', () => {
  test('has the hash of its look-up, and shows at most its last quarter', () =>
    fc.assert(
      fc.property(anyText, (typed) => {
        const found = foreignKey(typed)
        const characters = [...normalized(typed)]
        if (found === 'unusable') expect(keyHashOf(typed)).toBeUndefined()
        if (found === 'too short') expect(characters.length).toBeLessThan(6)
        if (typeof found === 'string') return
        expect(found.keyHash).toBe(keyHashOf(typed))
        const shown = [...found.displayKey].length - 1
        expect(found.displayKey).toBe(`…${characters.slice(-shown).join('')}`)
        expect(shown).toBeLessThanOrEqual(Math.min(4, characters.length / 4))
      }),
    ))

  test('in keyledger’s own format is displayed like an issued one, however it was typed', () =>
    fc.assert(
      fc.property(keys, ({ licenseKey, keyHash, displayKey }) => {
        const typed = [
          licenseKey,
          licenseKey.toLowerCase(),
          licenseKey.replaceAll('-', ' '),
          ` ${licenseKey}`,
        ]
        for (const one of typed) expect(foreignKey(one)).toStrictEqual({ keyHash, displayKey, isOwn: true })
      }),
    ))
})

describe('a search text', () => {
  test('may be the end of a key, with its display prefix, and with misread characters', () => {
    for (const typed of ['npqr', '…NPQR', 'KL…NPQR', 'kl...npqr'])
      expect(endingsOf(typed)).toStrictEqual(['NPQR'])
    expect(endingsOf('OIL9')).toStrictEqual(['OIL9', '0119'])
    for (const typed of ['', 'NPQRS', '…', 'KL…NPQRS']) expect(endingsOf(typed)).toStrictEqual([])
  })

  test('is recognized as a key of keyledger’s own format, however it is typed', () =>
    fc.assert(
      fc.property(keys, ({ licenseKey }) => {
        const mistyped = `${licenseKey.slice(0, -1)}${licenseKey.endsWith('A') ? 'B' : 'A'}`
        for (const typed of [
          licenseKey,
          ` ${licenseKey.toLowerCase()}`,
          licenseKey.replaceAll('-', ''),
          mistyped,
        ]) {
          expect(isOwnKey(typed)).toBe(true)
        }
        expect(isOwnKey(licenseKey.slice(-7))).toBe(false)
      }),
    ))
})
