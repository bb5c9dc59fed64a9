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
  noSigning,
  preparedState,
  type Signing,
  type SigningCommand,
  type SigningKeys,
  signerAt,
  spentKeys,
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
const signingAfter = (...events: SigningEvent[]): Signing => events.reduce(evolveSigning, noSigning)
const keysAfter = (...events: SigningEvent[]): SigningKeys => signingAfter(...events).keys
const command = (type: SigningCommand['type'], digit: string, moment: string): SigningCommand => ({
  type,
  tenantId,
  key: keyOf(digit),
  at: moment,
})

describe('publishing', () => {
  test.each(['PublishFirstKey', 'RotateKey'] as const)('the first key, by %s, signs at once', (type) =>
    expect(decideSigning(noSigning, command(type, '1', at))).toStrictEqual([first]),
  )

  test('there is one first key', () =>
    expect(decideSigning(signingAfter(first), command('PublishFirstKey', '2', at))).toStrictEqual([]))

  test('a rotated key signs when every kept keyset has it', () =>
    expect(
      decideSigning(signingAfter(first), command('RotateKey', '2', '2026-03-02T12:00:00.000Z')),
    ).toStrictEqual([second]))

  test('while a published key does not sign yet, a rotation changes nothing', () => {
    const keys = signingAfter(first, second)
    expect(decideSigning(keys, command('RotateKey', '3', '2026-03-02T12:04:59.999Z'))).toStrictEqual([])
    expect(decideSigning(keys, command('RotateKey', '3', '2026-03-02T12:05:00.000Z'))).toHaveLength(1)
  })
})

describe('a prepared key', () => {
  const preparedAt = '2026-03-01T18:00:00.000Z'
  const prepared: SigningEvent = {
    type: 'SigningKeyPrepared',
    data: { ...keyOf('2'), tenantId, at: preparedAt },
  }
  const rotated = (signsFrom: string, moment: string): SigningEvent => ({
    type: 'SigningKeyPublished',
    data: { ...keyOf('2'), tenantId, signsFrom, at: moment, preparedAt },
  })
  const rotate = (moment: string): SigningCommand => ({ type: 'RotateKey', tenantId, key: null, at: moment })

  test('is published and signs nothing', () => {
    expect(decideSigning(signingAfter(first), command('PrepareKey', '2', preparedAt))).toStrictEqual([
      prepared,
    ])
    expect(signerAt(signingAfter(first, prepared).keys, '2027-01-01T00:00:00.000Z')?.kid).toBe('1'.repeat(16))
    expect(preparedState(keyOf('2'))).toStrictEqual({
      ...keyOf('2'),
      status: 'next',
      signsFrom: null,
      signsUntil: null,
      publishedUntil: null,
    })
  })

  test('is one: preparing again changes nothing', () =>
    expect(
      decideSigning(signingAfter(first, prepared), command('PrepareKey', '3', preparedAt)),
    ).toStrictEqual([]))

  test('signs at once when it is rotated in, since every kept keyset has it', () =>
    expect(decideSigning(signingAfter(first, prepared), rotate('2026-03-02T12:00:00.000Z'))).toStrictEqual([
      rotated('2026-03-02T12:00:00.000Z', '2026-03-02T12:00:00.000Z'),
    ]))

  test('signs five minutes after it was published, when it is rotated in before', () =>
    expect(decideSigning(signingAfter(first, prepared), rotate('2026-03-01T18:01:00.000Z'))).toStrictEqual([
      rotated('2026-03-01T18:05:00.000Z', '2026-03-01T18:01:00.000Z'),
    ]))

  test('waits while the key before it does not sign yet, and then follows it', () => {
    const next = published('3', '2026-03-01T17:58:00.000Z', '2026-03-01T18:03:00.000Z')
    const signing = signingAfter(first, next, prepared)
    expect(decideSigning(signing, rotate('2026-03-01T18:02:59.999Z'))).toStrictEqual([])
    const late = signingAfter(first, published('3', preparedAt, '2026-03-01T18:05:00.000Z'), prepared)
    expect(decideSigning(late, rotate('2026-03-01T18:05:00.000Z'))).toStrictEqual([
      rotated('2026-03-01T18:05:00.001Z', '2026-03-01T18:05:00.000Z'),
    ])
  })

  test('is the first key where there is none, and signs at the first request', () => {
    const first: SigningCommand = { type: 'PublishFirstKey', tenantId, key: null, at: preparedAt }
    expect(decideSigning(signingAfter(prepared), first)).toStrictEqual([rotated(preparedAt, preparedAt)])
  })

  test('makes room for the next one when it is rotated in', () => {
    const signing = signingAfter(
      first,
      prepared,
      rotated('2026-03-02T12:00:00.000Z', '2026-03-02T12:00:00.000Z'),
    )
    expect(signing.prepared).toBeNull()
    expect(signing.keys.map(({ kid }) => kid)).toStrictEqual(['1'.repeat(16), '2'.repeat(16)])
    expect(decideSigning(signing, command('PrepareKey', '3', '2026-03-02T12:00:00.000Z'))).toHaveLength(1)
  })

  test('leaves the seed of the key before it for a minute, for what is on its way', () => {
    const keys = keysAfter(first, rotated('2026-03-02T12:00:00.000Z', '2026-03-02T12:00:00.000Z'))
    expect(spentKeys(keys, '2026-03-02T12:00:59.999Z')).toStrictEqual([])
    expect(spentKeys(keys, '2026-03-02T12:01:00.000Z').map(({ kid }) => kid)).toStrictEqual(['1'.repeat(16)])
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
