/**
 * Passwords are hashed with argon2id and compared in normalized form; codes are valid only for their time step.
 */
import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { createFingerprint, sameMailbox } from '../../src/access/fingerprint.ts'
import { hashPassword, passwordFits, problemOfPassword } from '../../src/access/password.ts'
import { newTotpSecret, totpStep, totpUri } from '../../src/access/totp.ts'
import { newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'

describe('a password', () => {
  test('is stored as argon2id with OWASP’s parameters and a fresh salt', async () => {
    const one = await hashPassword('correct horse battery staple')
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await hashPassword('correct horse battery staple')).not.toBe(one)
    expect(await passwordFits(one, 'correct horse battery staple')).toBe(true)
    expect(await passwordFits(one, 'correct horse battery staple ')).toBe(false)
    expect(await passwordFits(one, '')).toBe(false)
  })

  test('matches however the keyboard composes it', async () => {
    const hash = await hashPassword('Caf\u00e9 Caf\u00e9 Caf\u00e9')
    expect(await passwordFits(hash, 'Cafe\u0301 Cafe\u0301 Cafe\u0301')).toBe(true)
  })

  test('is checked correctly under concurrency', async () => {
    const hash = await hashPassword('correct horse battery staple')
    const asked = Array.from({ length: 12 }, (_, n) =>
      passwordFits(hash, n % 3 ? 'wrong' : 'correct horse battery staple'),
    )
    expect(await Promise.all(asked)).toStrictEqual(Array.from({ length: 12 }, (_, n) => n % 3 === 0))
  })

  test('without a hash never matches', async () =>
    expect(await passwordFits(null, 'anything at all')).toBe(false))

  test.each([
    ['short', 'at least 12'],
    ['elevenchars', 'at least 12'],
    ['aaaaaaaaaaaaaaaa', 'different'],
    ['abababababababab', 'different'],
    ['ada.lovelace rules', 'email address'],
    ['x'.repeat(201), 'at most 200'],
  ])('%s may not be chosen', (password, why) =>
    expect(problemOfPassword(password, 'ada.lovelace@example.com')).toContain(why),
  )

  test.each(['correct horse battery', 'twelve chars', '🔑🔒🗝️ keys & 🚪s'])('%s is accepted', (password) =>
    expect(problemOfPassword(password, 'ada@example.com')).toBeUndefined(),
  )
})

describe('a code', () => {
  const secret = newTotpSecret()
  const now = new Date('2026-03-01T12:00:10.000Z')
  const step = Math.floor(now.getTime() / 30_000)
  const codeAt = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now.getTime() + steps * 30_000 })

  test.each([-1, 0, 1])('%i steps off returns its step', (off) =>
    expect(totpStep(secret, codeAt(off), now)).toBe(step + off),
  )
  test.each([-2, 2, 100])('%i steps off is rejected', (off) =>
    expect(totpStep(secret, codeAt(off), now)).toBeUndefined(),
  )
  test('may contain spaces, as apps show it', () =>
    expect(totpStep(secret, `${codeAt(0).slice(0, 3)} ${codeAt(0).slice(3)}`, now)).toBe(step))
  test.each(['', '12345', 'abcdef', '0000000000'])('%j is rejected', (code) =>
    expect(totpStep(secret, code, now)).toBeUndefined(),
  )
  test('without a secret is rejected', () => expect(totpStep(undefined, codeAt(0), now)).toBeUndefined())
  test('a secret has 160 random bits, and its URI names the account', () => {
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(newTotpSecret()).not.toBe(secret)
    const uri = new URL(totpUri(secret, 'ada@example.com', 'acme'))
    expect(uri.protocol).toBe('otpauth:')
    expect(decodeURIComponent(uri.pathname)).toContain('ada@example.com')
    expect(uri.searchParams.get('secret')).toBe(secret)
    expect(uri.searchParams.get('issuer')).toBe('keyledger (acme)')
  })
})

test('a fingerprint depends on the master key and on the kind', () => {
  const fingerprint = createFingerprint(parseMasterKey(newMasterKey()))
  const other = createFingerprint(parseMasterKey(newMasterKey()))
  const address = sameMailbox(' Ada@Example.com ')
  expect(address).toBe('ada@example.com')
  expect(fingerprint('email', address)).toBe(fingerprint('email', address))
  expect(fingerprint('email', address)).not.toBe(other('email', address))
  expect(fingerprint('email', address)).not.toBe(fingerprint('user code', address))
})
