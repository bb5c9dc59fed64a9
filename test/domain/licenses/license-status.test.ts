/**
 * A license's status follows from its events and the clock: at the second of its expiry it has expired. A
 * suspension takes precedence over that, and a revocation over everything.
 */
import { describe, expect, test } from 'vitest'
import { type LicenseStatus, statusAt } from '../../../src/domain/licenses/status.ts'

const end = '2026-04-01T12:00:00.000Z'
const before = '2026-04-01T11:59:59.999Z'
const after = '2026-04-01T12:00:00.001Z'

const timed = {
  revokedAt: null,
  suspendedAt: null,
  expiresAt: end,
  graceSeconds: null,
  onExpiry: 'expire',
} as const
const fallsBack = { ...timed, onExpiry: 'fallback' } as const

describe('a license until a moment', () => {
  test.each<[string, LicenseStatus, LicenseStatus]>([
    [before, 'active', 'active'],
    [end, 'expired', 'fallback'],
    [after, 'expired', 'fallback'],
    ['2126-04-01T12:00:00.000Z', 'expired', 'fallback'],
  ])('at %s is %s, or %s where it falls back', (now, expiring, fallingBack) => {
    expect(statusAt(timed, now)).toBe(expiring)
    expect(statusAt(fallsBack, now)).toBe(fallingBack)
  })
})

test('a perpetual license is active for ever', () => {
  expect(statusAt({ ...timed, expiresAt: null }, '9999-12-31T23:59:59.999Z')).toBe('active')
  expect(statusAt({ ...fallsBack, expiresAt: null }, '9999-12-31T23:59:59.999Z')).toBe('active')
})

test('a revoked license is revoked, whether its time has run out or not', () => {
  for (const license of [timed, fallsBack, { ...timed, expiresAt: null }]) {
    const revoked = { ...license, revokedAt: '2026-03-01T12:00:00.000Z' }
    for (const now of [before, end, after]) expect(statusAt(revoked, now)).toBe('revoked')
  }
})

test('a revocation after the expiry takes precedence too', () =>
  expect(statusAt({ ...timed, revokedAt: after }, '2026-05-01T12:00:00.000Z')).toBe('revoked'))

test('a suspended license is suspended before and after its expiry, unless it is revoked', () => {
  for (const license of [timed, fallsBack, { ...timed, expiresAt: null }]) {
    const suspended = { ...license, suspendedAt: '2026-03-01T12:00:00.000Z' }
    for (const now of [before, end, after]) {
      expect(statusAt(suspended, now)).toBe('suspended')
      expect(statusAt({ ...suspended, revokedAt: end }, now)).toBe('revoked')
    }
  }
})
