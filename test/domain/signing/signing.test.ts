/**
 * A key is published before it signs, and as long as its signatures are valid; which key signs at a moment
 * follows from the events.
 */
import { describe, expect, test } from 'vitest'
import type { SigningEvent } from '../../../src/domain/signing/events.ts'
import {
  decideSigning,
  evolveSigning,
  keyStates,
  noSigningKeys,
  type SigningCommand,
  type SigningKeys,
  signerAt,
} from '../../../src/domain/signing/signing.ts'

const at = '2026-03-01T12:00:00.000Z'
const tenantId = 'acme'
const keyOf = (digit: string) => ({
  kid: digit.repeat(16),
  publicKey: `${digit.repeat(43)}=`,
  secretName: `signing-key.${digit}`,
})
const published = (digit: string, moment: string, signsFrom: string): SigningEvent => ({
  type: 'SigningKeyPublished',
  data: { ...keyOf(digit), tenantId, signsFrom, at: moment },
})
const first = published('1', at, at)
const second = published('2', '2026-03-02T12:00:00.000Z', '2026-03-02T12:05:00.000Z')
const keysAfter = (...events: SigningEvent[]): SigningKeys => events.reduce(evolveSigning, noSigningKeys)
const command = (type: SigningCommand['type'], digit: string, moment: string): SigningCommand => ({
  type,
  tenantId,
  key: keyOf(digit),
  at: moment,
})

describe('publishing', () => {
  test.each(['PublishFirstKey', 'RotateKey'] as const)('the first key, by %s, signs at once', (type) =>
    expect(decideSigning(noSigningKeys, command(type, '1', at))).toStrictEqual([first]),
  )

  test('there is one first key', () =>
    expect(decideSigning(keysAfter(first), command('PublishFirstKey', '2', at))).toStrictEqual([]))

  test('a rotated key signs when every kept keyset has it', () =>
    expect(
      decideSigning(keysAfter(first), command('RotateKey', '2', '2026-03-02T12:00:00.000Z')),
    ).toStrictEqual([second]))

  test('while a published key does not sign yet, a rotation changes nothing', () => {
    const keys = keysAfter(first, second)
    expect(decideSigning(keys, command('RotateKey', '3', '2026-03-02T12:04:59.999Z'))).toStrictEqual([])
    expect(decideSigning(keys, command('RotateKey', '3', '2026-03-02T12:05:00.000Z'))).toHaveLength(1)
  })
})

test.each([
  ['2026-03-01T11:00:00.000Z', '1'],
  [at, '1'],
  ['2026-03-02T12:04:59.999Z', '1'],
  ['2026-03-02T12:05:00.000Z', '2'],
])('at %s the key %s signs', (now, digit) =>
  expect(signerAt(keysAfter(first, second), now)?.kid).toBe(digit.repeat(16)),
)

describe('a key that was rotated out', () => {
  const keys = keysAfter(first, second)
  const until = (...leases: Parameters<typeof keyStates>[1]) => keyStates(keys, leases, at)[0]?.publishedUntil
  const week = 604_800

  test.each([
    ['settings alone: 24 hours', [], '2026-03-03T12:05:00.000Z'],
    ['leases of a week', [{ seconds: week, from: at, until: null }], '2026-03-09T12:05:00.000Z'],
    ['leases of a minute: 24 hours', [{ seconds: 60, from: at, until: null }], '2026-03-03T12:05:00.000Z'],
    [
      'leases that were longer for a day, and a minute more for what was on its way',
      [
        { seconds: week, from: at, until: '2026-03-02T00:00:00.000Z' },
        { seconds: 60, from: '2026-03-02T00:00:00.000Z', until: null },
      ],
      '2026-03-09T00:01:00.000Z',
    ],
    [
      'leases that grew after it had stopped',
      [
        { seconds: week, from: at, until: '2026-03-02T12:05:00.000Z' },
        { seconds: 10 * week, from: '2026-03-02T12:05:00.000Z', until: null },
      ],
      '2026-03-09T12:05:00.000Z',
    ],
    [
      'leases that were long before it signed',
      [{ seconds: 10 * week, from: '2026-01-01T00:00:00.000Z', until: '2026-02-01T00:00:00.000Z' }],
      '2026-03-03T12:05:00.000Z',
    ],
  ])('is published until its last signature ends: %s', (_, leases, expected) =>
    expect(until(...leases)).toBe(expected),
  )

  test('goes through its states', () => {
    const states = (now: string) => keyStates(keys, [], now).map(({ status }) => status)
    expect(states('2026-03-02T12:00:00.000Z')).toStrictEqual(['signing', 'next'])
    expect(states('2026-03-02T12:05:00.000Z')).toStrictEqual(['retiring', 'signing'])
    expect(states('2026-03-03T12:04:59.999Z')).toStrictEqual(['retiring', 'signing'])
    expect(states('2026-03-03T12:05:00.000Z')).toStrictEqual(['retired', 'signing'])
  })
})
