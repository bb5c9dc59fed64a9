/** Guarantee: a reseller never has more licenses than a quota says, and a closed one takes none. */
import { expect, test } from 'vitest'
import { Quotas, type ResellerEvent } from '../../../src/domain/resellers/events.ts'
import { absentReseller, resellers } from '../../../src/domain/resellers/reseller.ts'
import { givenOn } from '../given.ts'
import { at, create, quota, take } from './samples.ts'

const given = givenOn(resellers)
const { type: _, ...createdData } = create
const created: ResellerEvent = { type: 'ResellerCreated', data: { ...createdData, quotas: [quota] } }
const { type: __, ...takenData } = take
const taken = (licenseId: string): ResellerEvent => ({
  type: 'ResellerLicenseTaken',
  data: { ...takenData, licenseId },
})
const returned: ResellerEvent = { type: 'ResellerLicenseReturned', data: takenData }
const closed: ResellerEvent = { type: 'ResellerClosed', data: { at } }
const withLimit = (licenses: number) =>
  ({ type: 'ChangeReseller', quotas: [{ ...quota, licenses }], at }) as const

test('a license counts once, and none counts beyond the quota', () => {
  given(created)
    .when(take)
    .expectEvents([taken('lic_1')])
  given(created, taken('lic_1')).when(take).expectEvents([])
  const third = { ...take, licenseId: 'lic_3' }
  given(created, taken('lic_1'), taken('lic_2')).when(third).expectRefusal('reseller_quota_used')
  given(created, taken('lic_1'), taken('lic_2')).when(take).expectEvents([])
})

test('a key type without a quota has none', () => {
  given(created)
    .when({ ...take, keyTypeId: 'team' })
    .expectRefusal('reseller_quota_used')
  given(created)
    .when({ ...take, productId: 'viewer' })
    .expectRefusal('reseller_quota_used')
})

test('a license that was never minted is given back once', () => {
  const giveBack = { type: 'ReturnLicense', licenseId: 'lic_1', at } as const
  given(created, taken('lic_1')).when(giveBack).expectEvents([returned])
  given(created, taken('lic_1'), returned).when(giveBack).expectEvents([])
  given(created).when(giveBack).expectEvents([])
  const other = { ...take, licenseId: 'lic_3' }
  given(created, taken('lic_1'), taken('lic_2'), returned)
    .when(other)
    .expectEvents([taken('lic_3')])
  given(created, taken('lic_1'), taken('lic_2'), returned, closed).when(giveBack).expectEvents([])
})

test('a quota is raised and lowered, but not below what is used', () => {
  const full = [created, taken('lic_1'), taken('lic_2')]
  const raised: ResellerEvent = {
    type: 'ResellerChanged',
    data: { name: create.name, quotas: [{ ...quota, licenses: 3 }], at },
  }
  given(...full)
    .when(withLimit(3))
    .expectEvents([raised])
  given(...full, raised)
    .when({ ...take, licenseId: 'lic_3' })
    .expectEvents([taken('lic_3')])
  given(...full)
    .when(withLimit(1))
    .expectRefusal('reseller_quota_below_used')
  given(...full)
    .when({ type: 'ChangeReseller', quotas: [], at })
    .expectRefusal('reseller_quota_below_used')
  given(...full)
    .when(withLimit(2))
    .expectEvents([])
})

test('a closed reseller takes nothing and is not changed, but keeps what was taken', () => {
  given(created).when({ type: 'CloseReseller', at }).expectEvents([closed])
  given(created, closed).when({ type: 'CloseReseller', at }).expectEvents([])
  given(created, closed).when(take).expectRefusal('reseller_closed')
  given(created, taken('lic_1'), closed).when(take).expectEvents([])
  given(created, closed).when(withLimit(9)).expectRefusal('reseller_closed')
})

test('a reseller is created once, and an absent one is not found', () => {
  given(created).when(create).expectRefusal('reseller_exists')
  given().when(take).expectRefusal('reseller_not_found')
  given().when(withLimit(1)).expectRefusal('reseller_not_found')
  expect(resellers.evolve(absentReseller, closed)).toStrictEqual(absentReseller)
})

test('a key type has one quota', () => {
  expect(Quotas.safeParse([quota, { ...quota, licenses: 9 }]).success).toBe(false)
  expect(Quotas.safeParse([quota, { ...quota, keyTypeId: 'team' }]).success).toBe(true)
})
