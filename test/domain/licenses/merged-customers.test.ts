/** A license follows the merges of its customer, and goes back, unless a person linked or unlinked it since. */
import { expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import { later, linked, minted } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const follow = (from: string | null, mergedFrom: string | null, customerId: string): LicenseCommand => ({
  type: 'FollowMerge',
  from: { customerId: from, mergedFrom },
  customerId,
  at: later,
})
const moved = (customerId: string, fields: object): LicenseEvent => ({
  type: 'CustomerLinked',
  data: { customerId, ...fields, at: later },
})
const inTwo = moved('cus_2', { mergedFrom: 'cus_1' })

test('it moves to the customer that stands for its own, on to another one, and back', () => {
  given(minted(), linked('cus_1'))
    .when(follow('cus_1', null, 'cus_2'))
    .expectEvents([inTwo])
  given(minted(), linked('cus_1'), inTwo)
    .when(follow('cus_2', 'cus_1', 'cus_3'))
    .expectEvents([moved('cus_3', { mergedFrom: 'cus_1' })])
  given(minted(), linked('cus_1'), inTwo)
    .when(follow('cus_2', 'cus_1', 'cus_1'))
    .expectEvents([moved('cus_1', { unmerged: true })])
})

test('what linked it stays as it was', () => {
  const byAddress = minted({ customerId: 'cus_1', byAddress: true })
  given(byAddress)
    .when(follow('cus_1', null, 'cus_2'))
    .expectEvents([moved('cus_2', { byAddress: true, mergedFrom: 'cus_1' })])
  const before = [byAddress].reduce(evolveLicense, absentLicense)
  const back = moved('cus_1', { byAddress: true, unmerged: true })
  const away = moved('cus_2', { byAddress: true, mergedFrom: 'cus_1' })
  expect([byAddress, away, back].reduce(evolveLicense, absentLicense)).toStrictEqual({
    ...before,
    formerCustomers: ['cus_1', 'cus_2'],
  })
})

test('a license that is elsewhere meanwhile stays there', () => {
  given(minted())
    .when(follow('cus_1', null, 'cus_2'))
    .expectEvents([])
  given(minted(), linked('cus_3'))
    .when(follow('cus_1', null, 'cus_2'))
    .expectEvents([])
  given(minted(), linked('cus_1'), inTwo)
    .when(follow('cus_1', null, 'cus_3'))
    .expectEvents([])
  const unlinked: LicenseEvent = { type: 'CustomerUnlinked', data: { customerId: 'cus_2', at: later } }
  given(minted(), linked('cus_1'), inTwo, unlinked)
    .when(follow('cus_2', 'cus_1', 'cus_1'))
    .expectEvents([])
  given(minted(), linked('cus_1'), inTwo, unlinked, linked('cus_2'))
    .when(follow('cus_2', 'cus_1', 'cus_1'))
    .expectEvents([])
})

test('the customer of its address does not take it back while that one is merged', () =>
  given(
    minted({ customerId: 'cus_1', byAddress: true }),
    moved('cus_2', { byAddress: true, mergedFrom: 'cus_1' }),
  )
    .when({ type: 'LinkCustomer', customerId: 'cus_1', byAddress: true, at: later })
    .expectEvents([]))
