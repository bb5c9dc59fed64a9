/** A customer is merged into one other at a time, and stands for itself again after that was undone. */
import { expect, test } from 'vitest'
import {
  absentCustomer,
  type CustomerCommand,
  decideCustomer,
  evolveCustomer,
} from '../../../src/domain/customers/customer.ts'
import type { CustomerEvent } from '../../../src/domain/customers/events.ts'
import { MetersOfCustomer } from '../../../src/domain/meters/terms.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentCustomer, decide: decideCustomer, evolve: evolveCustomer })

const at = '2026-03-01T12:00:00.000Z'
const created: CustomerEvent = {
  type: 'CustomerCreated',
  data: {
    ...{ customerId: 'cus_1', tenantId: 'acme', subjectId: 'sub_1', email: 'sealed.1.email', name: null },
    ...{ metadata: {}, at },
  },
}
const merge = (into: string): CustomerCommand => ({ type: 'MergeCustomer', into, at })
const merged: CustomerEvent = { type: 'CustomerMerged', data: { into: 'cus_2', at } }
const unmerged: CustomerEvent = { type: 'CustomerUnmerged', data: { into: 'cus_2', at } }
const meters = MetersOfCustomer.parse([
  { meter: 'calls', unit: 'call', included: '100', period: 'month', overage: 'block' },
])
const withMeters: CustomerEvent = { type: 'CustomerMetersReplaced', data: { meters, at } }

test('a merge and its undoing are recorded once', () => {
  given(created).when(merge('cus_2')).expectEvents([merged])
  given(created, merged).when(merge('cus_2')).expectEvents([])
  given(created, merged).when({ type: 'UnmergeCustomer', at }).expectEvents([unmerged])
  given(created, merged, unmerged).when({ type: 'UnmergeCustomer', at }).expectEvents([])
  given(created).when({ type: 'UnmergeCustomer', at }).expectEvents([])
  given(created, merged, unmerged)
    .when(merge('cus_3'))
    .expectEvents([{ type: 'CustomerMerged', data: { into: 'cus_3', at } }])
})

test('after its undoing, a customer is as before the merge', () => {
  const before = [created].reduce(evolveCustomer, absentCustomer)
  expect([created, merged, unmerged].reduce(evolveCustomer, absentCustomer)).toStrictEqual(before)
})

test('a customer who is merged, erased or has meters is refused', () => {
  given(created, merged).when(merge('cus_3')).expectRefusal('customer_merged')
  given(created, { type: 'CustomerErased', data: { at } })
    .when(merge('cus_2'))
    .expectRefusal('customer_erased')
  given(created, withMeters).when(merge('cus_2')).expectRefusal('customer_has_meters')
  given().when(merge('cus_2')).expectRefusal('customer_not_found')
})

test('a merged customer gets no meters and no overrides, which would apply to no license', () => {
  given(created, merged).when({ type: 'ReplaceMeters', meters, at }).expectRefusal('customer_merged')
  const overrides = [{ entitlement: 'export', effect: 'grant' } as const]
  given(created, merged).when({ type: 'ReplaceOverrides', overrides, at }).expectRefusal('customer_merged')
})
