/** A mistyped or truncated token, or one of another kind, is refused without a look-up. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameDigest, sha256 } from '../../src/credentials/sha256.ts'
import { newToken, tokenHashOf } from '../../src/credentials/token.ts'
import { cycling, sources } from './bytes.ts'

const kinds = ['pat', 'sdk', 'chk'] as const
const anyKind = fc.constantFrom(...kinds)

describe('a new token', () => {
  test('is its kind, 32 characters and the CRC-32 of all before it in base62', () =>
    expect(newToken('pat', cycling([...Array(32).keys()]))).toStrictEqual({
      token: 'kl_pat_0123456789ABCDEFGHIJKLMNOPQRSTUV1vKGxb',
      tokenHash: '35a56d23ffd743139412d2ce07a31993213247f1e1944bb994106f44d8674fa8',
    }))

  test('has a valid format and hash for any bytes', () =>
    fc.assert(
      fc.property(anyKind, sources, (kind, source) => {
        const { token, tokenHash } = newToken(kind, source)
        expect(token).toMatch(/^kl_(pat|sdk|chk)_[0-9A-Za-z]{38}$/)
        expect(token.startsWith(`kl_${kind}_`)).toBe(true)
        expect(tokenHash).toBe(sha256(token))
        expect(tokenHashOf(token, kind)).toBe(tokenHash)
      }),
    ))
})

describe('a token is not recognized', () => {
  test('as another kind than its own', () =>
    fc.assert(
      fc.property(anyKind, anyKind, sources, (kind, other, source) => {
        fc.pre(kind !== other)
        expect(tokenHashOf(newToken(kind, source).token, other)).toBeUndefined()
      }),
    ))

  test('with the prefix of another kind, because the checksum covers it', () =>
    fc.assert(
      fc.property(anyKind, anyKind, sources, (kind, other, source) => {
        fc.pre(kind !== other)
        expect(tokenHashOf(newToken(kind, source).token.replace(kind, other), other)).toBeUndefined()
      }),
    ))

  test('with any single character changed', () =>
    fc.assert(
      fc.property(
        anyKind,
        sources,
        fc.nat({ max: 44 }),
        fc.string({ minLength: 1, maxLength: 1 }),
        (kind, source, index, wrong) => {
          const { token } = newToken(kind, source)
          fc.pre(token[index] !== wrong)
          expect(tokenHashOf(token.slice(0, index) + wrong + token.slice(index + 1), kind)).toBeUndefined()
        },
      ),
      { numRuns: 1000 },
    ))

  test('cut short, lengthened, or with white space around it', () => {
    const { token } = newToken('sdk', cycling([7, 77]))
    for (const typed of ['', token.slice(0, -1), token.slice(1), `${token}0`, ` ${token}`, `${token}\n`]) {
      expect(tokenHashOf(typed, 'sdk')).toBeUndefined()
    }
  })

  test('when it is any other text', () =>
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), anyKind, (text, kind) => {
        expect(tokenHashOf(text, kind)).toBeUndefined()
        expect(tokenHashOf(`kl_${kind}_${text}`, kind)).toBeUndefined()
      }),
    ))
})

test('two digests are equal only if every character is', () => {
  const digest = sha256('a')
  expect(digest).toBe('ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb')
  expect(sameDigest(digest, sha256('a'))).toBe(true)
  expect(sameDigest(digest, sha256('b'))).toBe(false)
  expect(sameDigest(digest, digest.slice(0, -1))).toBe(false)
  expect(sameDigest(digest, '')).toBe(false)
  for (let index = 0; index < digest.length; index++) {
    const changed = `${digest.slice(0, index)}${digest[index] === '0' ? '1' : '0'}${digest.slice(index + 1)}`
    expect(sameDigest(digest, changed)).toBe(false)
  }
})
