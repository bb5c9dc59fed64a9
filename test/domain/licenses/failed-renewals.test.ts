/** Guarantee: a license records the failed payment of a renewal once, and nothing else of it changes. */
import { expect, test } from 'vitest'
import { mailNameOf, publicNameOf } from '../../../src/domain/deliveries/outbox.ts'
import type { LicenseEvent, SoldTerms } from '../../../src/domain/licenses/events.ts'
import type { FailedRenewals } from '../../../src/domain/licenses/failed-renewals.ts'
import { absentLicense, decideLicense, evolveLicense } from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import { end, followSale, later, minted, revoked } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })
const holder = { subjectId: 'sub_1', email: 'sealed.1.a.b', name: null }
const first = { paymentId: 'in_2', attempt: 1, nextAttemptAt: end, fact: 1 }
const follow = (through: number, renewals: FailedRenewals['renewals'], mail = true) =>
  followSale({ through, failed: { renewals, mail } })
const sold: SoldTerms = { keyTypeId: 'pro', quantity: 1, expiresAt: end }
const followed = (through: number): LicenseEvent => ({
  type: 'SaleFollowed',
  data: { saleId: 'cs_1', through, sold, at: later },
})
const failed = ({ fact: _, ...payment }: typeof first, mail?: true): LicenseEvent => ({
  type: 'LicenseRenewalFailed',
  data: { saleId: 'cs_1', ...payment, ...(mail && { mail }), at: later },
})

test('a failed payment is recorded, by mail where the product tells its customers and there is an address', () => {
  given(minted({ holder }))
    .when(follow(1, [first]))
    .expectEvents([failed(first, true), followed(1)])
  given(minted({ holder }))
    .when(follow(1, [first], false))
    .expectEvents([failed(first), followed(1)])
  given(minted())
    .when(follow(1, [first]))
    .expectEvents([failed(first), followed(1)])
})

test('further attempts of the same payment are not recorded, and the payment of another period is', () => {
  const history = [minted(), failed(first), followed(1)]
  given(...history)
    .when(follow(2, [{ ...first, attempt: 2 }]))
    .expectEvents([followed(2)])
  const next = { ...first, paymentId: 'in_3', fact: 3 }
  given(...history, followed(2))
    .when(follow(3, [{ ...first, attempt: 2 }, next]))
    .expectEvents([failed(next), followed(3)])
})

test('a process that died after it was recorded, or that comes late, records nothing', () => {
  given(minted(), failed(first), followed(1))
    .when(follow(1, [first]))
    .expectEvents([])
  given(minted(), followed(2))
    .when(follow(1, [first]))
    .expectEvents([])
})

test('a revoked license records none', () =>
  given(minted(), revoked)
    .when(follow(1, [first]))
    .expectEvents([followed(1)]))

test('it changes nothing of the license', () => {
  const license = [minted({ holder })].reduce(evolveLicense, absentLicense)
  expect(evolveLicense(license, failed(first))).toStrictEqual(license)
})

test('it is delivered to webhooks that name it, and by mail where it says so', () => {
  expect(publicNameOf(failed(first))).toBe('license.renewal_failed')
  expect(mailNameOf(failed(first, true))).toBe('license.renewal_failed')
  expect(mailNameOf(failed(first))).toBeUndefined()
})
