/** A new key is sent to the holder when the vendor asks for that with the mint or the remint. */
import { describe, expect, test } from 'vitest'
import { keyKeptUntil } from '../../../src/domain/deliveries/delivery.ts'
import { mailNameOf, publicNameOf } from '../../../src/domain/deliveries/outbox.ts'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import { at, later, minted, revoked, terms } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const holder = { subjectId: 'sub_1', email: 'sealed.1.ZW1haWw', name: null }
const newKey = { keyHash: 'b'.repeat(64), displayKey: 'ACME…8888', keepDevices: true, at: later }
const remint: LicenseCommand = { type: 'RemintLicense', ...newKey, sendKey: true, reason: 'lost' }
const asked = (keyHash: string, moment: string): LicenseEvent => ({
  type: 'KeyMailAsked',
  data: { keyHash, at: moment },
})

test('a mint asks for the mail of its key', () =>
  given()
    .when({ type: 'MintLicense', terms: { ...terms, holder }, sendKey: true })
    .expectEvents([minted({ holder }), asked(terms.keyHash, at)]))

test('a remint asks for the mail of the new key', () =>
  given(minted({ holder }))
    .when(remint)
    .expectEvents([
      { type: 'LicenseReminted', data: newKey },
      { type: 'ReasonGiven', data: { reason: 'lost', at: later } },
      asked(newKey.keyHash, later),
    ]))

describe('refused', () => {
  test('without a person', () =>
    given().when({ type: 'MintLicense', terms, sendKey: true }).expectRefusal('license_without_address'))

  test('when the person was erased', () =>
    given(minted({ holder }), { type: 'HolderErased', data: { at } })
      .when(remint)
      .expectRefusal('license_without_address'))

  test('when the license is revoked', () =>
    given(minted({ holder }), revoked).when(remint).expectRefusal('license_revoked'))
})

describe('the key is sent again', () => {
  const send: LicenseCommand = { type: 'SendKey', reason: 'the mail was lost', at: later }
  const justBefore = new Date(Date.parse(later) - 60_000).toISOString()
  const longBefore = new Date(Date.parse(later) - 300_000).toISOString()

  test('with the reason', () =>
    given(minted({ holder }))
      .when(send)
      .expectEvents([
        asked(terms.keyHash, later),
        { type: 'ReasonGiven', data: { reason: 'the mail was lost', at: later } },
      ]))

  test('the newest key, after a remint', () =>
    given(minted({ holder }), { type: 'LicenseReminted', data: newKey })
      .when({ type: 'SendKey', at: later })
      .expectEvents([asked(newKey.keyHash, later)]))

  test('not within five minutes', () =>
    given(minted({ holder }), asked(terms.keyHash, justBefore))
      .when(send)
      .expectRefusal('key_mailed_recently'))

  test('and says how long to wait', () => {
    const license = [minted({ holder }), asked(terms.keyHash, justBefore)].reduce(
      evolveLicense,
      absentLicense,
    )
    expect(() => decideLicense(license, send)).toThrow(
      expect.objectContaining({ retryAfterSeconds: 240 }) as Error,
    )
    const ahead = evolveLicense(license, asked(terms.keyHash, '2099-01-01T00:00:00.000Z'))
    expect(() => decideLicense(ahead, send)).toThrow(
      expect.objectContaining({ retryAfterSeconds: 300 }) as Error,
    )
  })

  test('after five minutes', () =>
    given(minted({ holder }), asked(terms.keyHash, longBefore))
      .when({ type: 'SendKey', at: later })
      .expectEvents([asked(terms.keyHash, later)]))

  test('not for a revoked license', () =>
    given(minted({ holder }), revoked).when(send).expectRefusal('license_revoked'))

  test('not without an address', () => given(minted()).when(send).expectRefusal('license_without_address'))
})

test('it is a mail, and no webhook has it', () => {
  expect(mailNameOf(asked(terms.keyHash, at))).toBe('license.key_mail')
  expect(publicNameOf(asked(terms.keyHash, at))).toBeUndefined()
})

test('the key of a mail that could not be sent is kept for 30 days', () => {
  const delivery = {
    status: 'abandoned',
    deliveryId: 'whd_1',
    tenantId: 'acme',
    channel: 'mail',
    endpointId: null,
    event: 'license.key_mail',
    licenseId: 'lic_1',
    licenseRevision: 1,
    sequence: null,
    scheduledAt: at,
    attempts: [],
    attemptsInSchedule: 4,
    nextAttemptAt: null,
    endedAt: at,
    abandonedFor: 'attempts_spent',
    replayIds: [],
    bounces: [],
    place: 'none',
  } as const
  expect(keyKeptUntil(delivery)).toBe('2026-03-31T12:00:00.000Z')
  expect(keyKeptUntil({ ...delivery, abandonedFor: 'unwanted' })).toBeNull()
})
