/** A license follows its sale: it expires, is revoked and reinstated as the sale's facts require. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent, RevocationCause, SoldTerms } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
} from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import { activated, at, device, end, followSale, later, minted, nextEnd, renewed } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const first = {
  payment: 'first',
  because: 'refund' as const,
  amount: 4900,
  totalRefunded: 4900,
  currency: 'usd',
}
const second = { ...first, payment: 'in_2', totalRefunded: 9800 }
const followed = (through: number, sold: Partial<SoldTerms> = {}): LicenseEvent => ({
  type: 'SaleFollowed',
  data: {
    saleId: 'cs_1',
    through,
    sold: { keyTypeId: 'pro', quantity: 1, expiresAt: end, ...sold },
    at: later,
  },
})
const refunded = (
  of: typeof first,
  paidLeft = false,
  cause: 'refund' | 'dispute' = 'refund',
): LicenseEvent => {
  const { because: _, ...refund } = of
  return { type: 'LicenseRefunded', data: { saleId: 'cs_1', ...refund, cause, paidLeft, at: later } }
}
const revoked = (cause: RevocationCause | null, reason = 'refunded', moment = later): LicenseEvent => ({
  type: 'LicenseRevoked',
  data: { reason, cause, at: moment },
})
const reinstated = (payments = ['first'], paidLeft = true): LicenseEvent => ({
  type: 'LicenseReinstated',
  data: { saleId: 'cs_1', payments, paidLeft, at: later },
})
/** As upcast from the shape in which a refund was of the whole sale. */
const oldRefund: LicenseEvent = {
  type: 'LicenseRefunded',
  data: {
    saleId: 'cs_1',
    payment: null,
    cause: 'refund',
    amount: 4900,
    totalRefunded: 4900,
    currency: 'usd',
    paidLeft: false,
    at: later,
  },
}
const subscriptionEnded: LicenseEvent = { type: 'SubscriptionEnded', data: { expiresAt: end, at: later } }
const termsChanged = (own: object): LicenseEvent => ({
  type: 'LicenseTermsChanged',
  data: {
    saleId: 'cs_1',
    keyTypeId: 'pro',
    quantity: 1,
    deviceLimit: 1,
    onExpiry: 'expire',
    expiresAt: end,
    ...own,
    at: later,
  },
})

describe('a license whose sale requires', () => {
  test('no change is unchanged, and records that it is up to date', () =>
    given(minted())
      .when(followSale({}))
      .expectEvents([followed(1)]))

  test('a later expiry from a renewal is renewed', () =>
    given(minted())
      .when(followSale({ expiresAt: nextEnd, isRenewed: true }))
      .expectEvents([renewed, followed(1, { expiresAt: nextEnd })]))

  test('a later expiry from the first payment is changed, and not renewed', () =>
    given(minted())
      .when(followSale({ expiresAt: nextEnd }))
      .expectEvents([termsChanged({ expiresAt: nextEnd }), followed(1, { expiresAt: nextEnd })]))

  test('an earlier expiry, or a first one, gets it when its subscription has ended', () => {
    given(minted({ expiresAt: nextEnd }))
      .when(followSale({ expiresAt: end, hasEnded: true }))
      .expectEvents([subscriptionEnded, followed(1)])
    given(minted({ expiresAt: null }))
      .when(followSale({ expiresAt: end, hasEnded: true }))
      .expectEvents([subscriptionEnded, followed(1)])
  })

  test('that a period is returned expires earlier, and names the returned payment', () =>
    given(minted({ expiresAt: nextEnd }))
      .when(followSale({ refunded: [second], expiresAt: end, isRenewed: true }))
      .expectEvents([refunded(second, true), termsChanged({ expiresAt: end }), followed(1)]))

  test('a revocation is revoked, unless its product keeps refunded licenses', () => {
    given(minted())
      .when(followSale({ refunded: [first], unpaid: 'refund' }))
      .expectEvents([refunded(first), revoked('refund'), followed(1)])
    given(minted())
      .when(followSale({ refunded: [first], unpaid: 'refund', keepRefunded: true }))
      .expectEvents([refunded(first), followed(1)])
    given(minted())
      .when(followSale({ refunded: [{ ...first, because: 'dispute' }], unpaid: 'dispute' }))
      .expectEvents([refunded(first, false, 'dispute'), revoked('dispute'), followed(1)])
  })

  test('each refund is recorded once', () =>
    given(minted(), refunded(first, true), followed(1))
      .when(followSale({ through: 2, refunded: [first, second], unpaid: 'refund' }))
      .expectEvents([refunded(second), revoked('refund'), followed(2)]))

  test('a refund that was recorded for the whole sale is not recorded again', () =>
    given(minted(), oldRefund, revoked(null), followed(1))
      .when(followSale({ through: 2, refunded: [first], unpaid: 'refund' }))
      .expectEvents([followed(2)]))

  test('a reinstatement is reinstated', () =>
    given(minted(), refunded(first), revoked('refund'), followed(1))
      .when(followSale({ through: 2 }))
      .expectEvents([reinstated(), followed(2)]))

  test('that another payment counts is reinstated, though the first one stays refunded', () =>
    given(minted(), refunded(first), revoked('refund'), followed(1))
      .when(followSale({ through: 2, refunded: [first], expiresAt: nextEnd, isRenewed: true }))
      .expectEvents([reinstated([]), renewed, followed(2, { expiresAt: nextEnd })]))

  test('another plan gets its terms, and keeps its expiry', () => {
    const team = { keyTypeId: 'team', quantity: 3, deviceLimit: 15, onExpiry: 'fallback' as const }
    const plan = { keyTypeId: 'team', quantity: 3 }
    given(minted())
      .when(followSale({ terms: team }))
      .expectEvents([termsChanged(team), followed(1, plan)])
    given(minted())
      .when(followSale({ terms: team, expiresAt: nextEnd, isRenewed: true }))
      .expectEvents([termsChanged(team), renewed, followed(1, { ...plan, expiresAt: nextEnd })])
    given(minted(), termsChanged(team), followed(1, plan))
      .when(followSale({ through: 2, terms: { ...team, deviceLimit: 20 } }))
      .expectEvents([followed(2, plan)])
  })

  test('a quantity below the seats in use lowers the limit and frees no seat', () => {
    const terms = { keyTypeId: 'pro', quantity: 1, deviceLimit: 1, onExpiry: 'expire' as const }
    const full = [minted({ quantity: 2, deviceLimit: 2 }), activated('laptop'), activated('desktop')]
    given(...full)
      .when(followSale({ terms }))
      .expectEvents([termsChanged({}), followed(1)])
    const license = after(...full, termsChanged({}))
    expect(license).toMatchObject({ deviceLimit: 1, seatsUsed: 2 })
    given(...full, termsChanged({}))
      .when({ type: 'ActivateDevice', ...device('phone'), at: later })
      .expectRefusal('seat_limit_reached')
    given(...full, termsChanged({}))
      .when({ type: 'ActivateDevice', ...device('laptop'), at: later })
      .expectEvents([])
  })

  test('less than it already reflects is unchanged', () =>
    given(minted(), followed(2))
      .when(followSale({ through: 1, refunded: [first], unpaid: 'refund' }))
      .expectEvents([]))

  test('a refund records it even if a person has revoked it', () =>
    given(minted(), revoked('person', 'abuse', at))
      .when(followSale({ refunded: [first], unpaid: 'refund' }))
      .expectEvents([refunded(first), followed(1)]))
})

const after = (...events: LicenseEvent[]): IssuedLicense => {
  const license = events.reduce(evolveLicense, absentLicense)
  if (license.status === 'absent') throw new Error('it is there')
  return license
}

test.each(['refund', 'dispute'] as const)('a license revoked for a %s is given back', (cause) => {
  const back = after(minted(), refunded(first), revoked(cause), reinstated())
  expect(back).toMatchObject({ revokedAt: null, revokedReason: null, revokedCause: null, refundedAt: null })
})

test.each([
  ['before it was refunded', [revoked('person', 'abuse', at), refunded(first), reinstated()]],
  [
    'before it was refunded, in the same words',
    [revoked('person', 'refunded', at), refunded(first), reinstated()],
  ],
  ['after it was refunded and kept', [refunded(first), revoked('person', 'refunded', end), reinstated()]],
  ['and recorded no cause, before', [revoked(null, 'refunded', at), refunded(first), reinstated()]],
  ['and recorded no cause, after', [refunded(first), revoked(null, 'refunded', end), reinstated()]],
])('a license that a person revoked %s stays revoked', (_, events) => {
  expect(after(minted(), ...events)).toMatchObject({ refundedAt: null, revokedCause: 'person' })
  expect(after(minted(), ...events).revokedAt).not.toBeNull()
})

test('a revocation without a cause belongs to the sale if it was recorded with the refund', () => {
  expect(after(minted(), refunded(first), revoked(null))).toMatchObject({ revokedCause: 'refund' })
  expect(after(minted(), refunded(first), revoked(null), reinstated())).toMatchObject({ revokedAt: null })
})

const wishes = fc.record({
  refunded: fc.subarray([first, second]),
  expiresAt: fc.constantFrom(undefined, end, nextEnd),
})

test('a late command that knows fewer facts changes nothing', () =>
  fc.assert(
    fc.property(
      fc.array(wishes, { minLength: 1, maxLength: 5 }).chain((all) => {
        const numbered = all.map((own, index) =>
          followSale({ ...own, unpaid: own.refunded.length === 2 ? 'refund' : null, through: index + 1 }),
        )
        return fc.tuple(fc.constant(numbered), fc.shuffledSubarray(numbered, { minLength: 0 }))
      }),
      ([inOrder, late]) => {
        const obey = (license: IssuedLicense, command: ReturnType<typeof followSale>) => {
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
