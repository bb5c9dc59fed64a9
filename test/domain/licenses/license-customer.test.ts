/**
 * A license belongs to at most one customer, until it is unlinked; linking or unlinking again changes nothing.
 */
import { expect, test } from 'vitest'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import { afterEnd, later, linked, minted, revoked } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })
const link = (customerId: string, at = later): LicenseCommand => ({ type: 'LinkCustomer', customerId, at })

test('a license without a customer is linked', () =>
  given(minted())
    .when(link('cus_1'))
    .expectEvents([{ type: 'CustomerLinked', data: { customerId: 'cus_1', at: later } }]))

test.each([
  ['linked', [minted(), linked('cus_1')]],
  ['minted', [minted({ customerId: 'cus_1' })]],
])('the customer that it was %s for is linked already', (_, history) =>
  given(...history)
    .when(link('cus_1'))
    .expectEvents([]),
)

test.each([
  ['linked', [minted(), linked('cus_1')]],
  ['minted', [minted({ customerId: 'cus_1' })]],
])('another customer than the one that it was %s for is refused', (_, history) =>
  given(...history)
    .when(link('cus_2'))
    .expectRefusal('license_of_another_customer'),
)

const unlink = (customerId: string): LicenseCommand => ({ type: 'UnlinkCustomer', customerId, at: later })
const unlinked = { type: 'CustomerUnlinked', data: { customerId: 'cus_1', at: later } } as const

test.each([
  ['linked', [minted(), linked('cus_1')]],
  ['minted', [minted({ customerId: 'cus_1' })]],
])('a license is unlinked from the customer that it was %s for', (_, history) => {
  given(...history)
    .when(unlink('cus_1'))
    .expectEvents([unlinked])
  given(...history)
    .when(unlink('cus_2'))
    .expectRefusal('license_of_another_customer')
})

test('a license without a customer is unlinked already, and an unlinked one is linked again', () => {
  given(minted()).when(unlink('cus_1')).expectEvents([])
  given(minted(), linked('cus_1'), unlinked).when(unlink('cus_1')).expectEvents([])
  given(minted(), linked('cus_1'), unlinked)
    .when(link('cus_2'))
    .expectEvents([{ type: 'CustomerLinked', data: { customerId: 'cus_2', at: later } }])
})

test('a license can be linked after its expiry too', () => {
  const event = { type: 'CustomerLinked', data: { customerId: 'cus_1', at: afterEnd } } as const
  given(minted(), revoked).when(link('cus_1', afterEnd)).expectEvents([event])
  given(minted()).when(link('cus_1', afterEnd)).expectEvents([event])
})

test('an absent license is refused', () => given().when(link('cus_1')).expectRefusal('license_not_found'))

test('the license names its customer', () => {
  const license = [minted(), linked('cus_1')].reduce(evolveLicense, absentLicense)
  expect(license).toMatchObject({ customerId: 'cus_1' })
})

const byAddress = (customerId: string): LicenseCommand => ({
  ...{ type: 'LinkCustomer', customerId, byAddress: true, at: later },
})
const foundByAddress = (customerId: string) =>
  ({ type: 'CustomerLinked', data: { customerId, byAddress: true, at: later } }) as const

test('the address of its holder links a license that nobody has decided about', () => {
  given(minted())
    .when(byAddress('cus_1'))
    .expectEvents([foundByAddress('cus_1')])
  given(minted(), foundByAddress('cus_1')).when(byAddress('cus_1')).expectEvents([])
  given(minted(), foundByAddress('cus_1'))
    .when(byAddress('cus_2'))
    .expectEvents([foundByAddress('cus_2')])
})

test.each([
  ['linked', [minted(), linked('cus_1')]],
  ['minted', [minted({ customerId: 'cus_1' })]],
  ['unlinked', [minted(), foundByAddress('cus_1'), unlinked]],
])('what a person decided when it was %s stays', (_, history) =>
  given(...history)
    .when(byAddress('cus_2'))
    .expectEvents([]),
)

test.each([
  ['linked', [minted(), foundByAddress('cus_1')]],
  ['minted', [minted({ customerId: 'cus_1', byAddress: true })]],
])('a person decides about a license that its address had %s, also for the same customer', (_, history) => {
  for (const customerId of ['cus_1', 'cus_2'])
    given(...history)
      .when(link(customerId))
      .expectEvents([{ type: 'CustomerLinked', data: { customerId, at: later } }])
})
