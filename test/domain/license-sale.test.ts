/** A license follows its sale: it ends and is revoked, and given back, as what was told of the sale wants it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../src/domain/license/events.ts'
import type { SaleWish } from '../../src/domain/license/following.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
} from '../../src/domain/license/license.ts'
import { givenOn } from './given.ts'
import { at, end, later, minted, nextEnd, renewed } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const money = { amount: 4900, currency: 'usd' }
const wish = (own: Partial<SaleWish>) => ({
  type: 'FollowSale' as const,
  saleId: 'cs_1',
  through: 1,
  refund: null,
  keepRefunded: false,
  expiresAt: undefined,
  at: later,
  ...own,
})
const followed = (through: number): LicenseEvent => ({
  type: 'SaleFollowed',
  data: { saleId: 'cs_1', through, at: later },
})
const refunded: LicenseEvent = { type: 'LicenseRefunded', data: { saleId: 'cs_1', ...money, at: later } }
const revoked = (reason: string, moment = later): LicenseEvent => ({
  type: 'LicenseRevoked',
  data: { reason, at: moment },
})
const reinstated: LicenseEvent = { type: 'LicenseReinstated', data: { saleId: 'cs_1', at: later } }
const subscriptionEnded: LicenseEvent = { type: 'SubscriptionEnded', data: { expiresAt: end, at: later } }

describe('a license whose sale wants', () => {
  test('nothing is as it was, and knows so', () =>
    given(minted())
      .when(wish({}))
      .expectEvents([followed(1)]))

  test('its end later is renewed', () =>
    given(minted())
      .when(wish({ expiresAt: nextEnd }))
      .expectEvents([renewed, followed(1)]))

  test('its end earlier, or one at all, ends then', () => {
    given(minted({ expiresAt: nextEnd }))
      .when(wish({ expiresAt: end }))
      .expectEvents([subscriptionEnded, followed(1)])
    given(minted({ expiresAt: null }))
      .when(wish({ expiresAt: end }))
      .expectEvents([subscriptionEnded, followed(1)])
  })

  test('it refunded is revoked, unless its product keeps such ones', () => {
    given(minted())
      .when(wish({ refund: money }))
      .expectEvents([refunded, revoked('refunded'), followed(1)])
    given(minted())
      .when(wish({ refund: money, keepRefunded: true }))
      .expectEvents([refunded, followed(1)])
  })

  test('it back is given back', () =>
    given(minted(), refunded, revoked('refunded'), followed(1))
      .when(wish({ through: 2 }))
      .expectEvents([reinstated, followed(2)]))

  test('what others wanted before with less knowledge stays as it is', () =>
    given(minted(), followed(2))
      .when(wish({ through: 1, refund: money }))
      .expectEvents([]))

  test('it refunded says so also when a person has revoked it', () =>
    given(minted(), revoked('abuse', at))
      .when(wish({ refund: money }))
      .expectEvents([refunded, followed(1)]))
})

const after = (...events: LicenseEvent[]): IssuedLicense => {
  const license = events.reduce(evolveLicense, absentLicense)
  if (license.status === 'absent') throw new Error('it is there')
  return license
}

test('a license that is given back is not revoked any more, and can end', () => {
  const back = after(minted(), refunded, revoked('refunded'), reinstated)
  expect(back).toMatchObject({ revokedAt: null, revokedReason: null, refundedAt: null })
})

test.each([
  ['before it was refunded', [revoked('abuse', at), refunded, reinstated]],
  ['before it was refunded, in the same words', [revoked('refunded', at), refunded, reinstated]],
  ['after it was refunded and kept', [refunded, revoked('abuse'), reinstated]],
])('a license that a person revoked %s stays revoked', (_, events) => {
  expect(after(minted(), ...events)).toMatchObject({ refundedAt: null })
  expect(after(minted(), ...events).revokedAt).not.toBeNull()
})

const wishes = fc.record({
  refund: fc.constantFrom(null, money),
  expiresAt: fc.constantFrom(undefined, end, nextEnd),
})

test('whoever comes late with less knowledge changes nothing', () =>
  fc.assert(
    fc.property(
      fc.array(wishes, { minLength: 1, maxLength: 5 }).chain((all) => {
        const numbered = all.map((own, index) => wish({ ...own, through: index + 1 }))
        return fc.tuple(fc.constant(numbered), fc.shuffledSubarray(numbered, { minLength: 0 }))
      }),
      ([inOrder, late]) => {
        const obey = (license: IssuedLicense, command: ReturnType<typeof wish>) => {
          const next = decideLicense(license, command).reduce(evolveLicense, license)
          if (next.status === 'absent') throw new Error('it is there')
          return next
        }
        const settled = inOrder.reduce(obey, after(minted()))
        expect(late.reduce(obey, settled)).toStrictEqual(settled)
      },
    ),
    { numRuns: 500 },
  ))
