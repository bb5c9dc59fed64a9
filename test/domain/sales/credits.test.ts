/** What an item adds to a meter is chosen once, recorded once, and follows the payments of its sale. */
import { describe, expect, test } from 'vitest'
import type { CreditTarget } from '../../../src/domain/sales/credits.ts'
import type { SaleEvent } from '../../../src/domain/sales/events.ts'
import { itemsOf } from '../../../src/domain/sales/items.ts'
import {
  absentSale,
  decideSale,
  evolveSale,
  nextStep,
  type SaleCommand,
} from '../../../src/domain/sales/sale.ts'
import { givenOn } from '../given.ts'
import { at, later } from '../licenses/license-samples.ts'
import { received, refunded } from './sale-samples.ts'

const given = givenOn({ initial: absentSale, decide: decideSale, evolve: evolveSale })
const stateAfter = (...events: SaleEvent[]) => {
  const sale = events.reduce(evolveSale, absentSale)
  if (sale.status === 'absent') throw new Error('no sale')
  return sale
}

const target: CreditTarget = {
  ...{ productId: 'editor', licenseId: 'lic_own', customerId: null, meter: 'minutes', unit: 'min' },
  ...{ amount: '500', days: 30 },
}
const place = { licenseId: 'lic_own', meter: 'minutes' }
const saleReceived: SaleEvent = { type: 'SaleReceived', data: received }
const mapped: SaleEvent = {
  type: 'CreditMapped',
  data: { productId: 'editor', ...place, unit: 'min', amount: '500', days: 30, at },
}
const credit = { creditId: 'crd_1', amount: '500', endsAt: null }
const credited: SaleEvent = { type: 'SaleCredited', data: { ...place, ...credit, at: later } }
const settled = (through: number): SaleEvent => ({ type: 'SaleSettled', data: { through, at: later } })
const withdrawn = (left: string): SaleEvent => ({
  type: 'SaleCreditWithdrawn',
  data: { creditId: 'crd_1', left, at: later },
})
const found = { boundLinks: received.links, kept: [], at: later }
const record: SaleCommand = { type: 'RecordLicenses', outcomes: [{ item: 0, credit }], ...found }
const settle = (credits: Extract<SaleCommand, { type: 'SettleSale' }>['credits'] = []): SaleCommand => ({
  ...{ type: 'SettleSale', through: 1, credits, ...found },
})
const takeBack = settle([{ item: 0, withdrawn: { creditId: 'crd_1', left: '200' } }])
const refund = refunded('re_1', 4900)
const again = { creditId: 'crd_2', amount: '200', endsAt: null }

describe('a sale of credits', () => {
  test('is received with the meter to add to, and needs its credit next', () => {
    given()
      .when({ type: 'ReceiveSale', received, resolutions: [{ credit: target }] })
      .expectEvents([saleReceived, mapped])
    expect(nextStep(stateAfter(saleReceived, mapped))).toBe('license')
  })

  test('keeps its meter, whatever is found later', () =>
    given(saleReceived, mapped)
      .when({ type: 'ResolveSale', resolutions: [{ credit: { ...target, licenseId: 'lic_2' } }], at })
      .expectEvents([]))

  test('records its credit once, and is then settled', () => {
    const { saleId, provider: source, amount, currency, productName, customer } = received
    const paid: SaleEvent = {
      type: 'SalePaymentRecorded',
      data: { saleId, source, amount, currency, productName, customer, at: later },
    }
    given(saleReceived, mapped).when(record).expectEvents([credited, paid])
    given(saleReceived, mapped, credited).when(record).expectEvents([])
    expect(nextStep(stateAfter(saleReceived, mapped, credited))).toBeUndefined()
  })

  test('that was parked gets it when a license is found', () => {
    const none = { reason: 'no_license_for_credit', detail: 'none' } as const
    const parked: SaleEvent = { type: 'SaleParked', data: { ...none, at } }
    given()
      .when({ type: 'ReceiveSale', received, resolutions: [none] })
      .expectEvents([saleReceived, parked])
    given(saleReceived, parked)
      .when({ type: 'ResolveSale', resolutions: [{ credit: target }], at })
      .expectEvents([mapped])
    expect(stateAfter(saleReceived, parked, mapped)).toMatchObject({ status: 'received', parked: null })
  })

  test('of another item is shared by the licenses of a customer, and leaves the first item as it is', () => {
    const items = [{ sold: received.sold, quantity: 1, licenseId: 'lic_9', keyName: 'key' }]
    const shared = { ...target, customerId: 'cus_1' }
    const resolutions = [{ productId: 'editor', keyTypeId: 'pro' }, { credit: shared }]
    const { data } = mapped
    const two = { ...received, items }
    const ofTwo: SaleEvent[] = [
      { type: 'SaleReceived', data: two },
      { type: 'SaleMapped', data: { productId: 'editor', keyTypeId: 'pro', at } },
      { type: 'CreditMapped', data: { ...data, item: 1, customerId: 'cus_1' } },
    ]
    given().when({ type: 'ReceiveSale', received: two, resolutions }).expectEvents(ofTwo)
    const [first, second] = itemsOf(stateAfter(...ofTwo))
    expect(first).not.toHaveProperty('credit')
    expect(second?.credit).toStrictEqual({ ...shared, added: null, withdrawn: null, withdrawals: 0 })
  })
})

describe('a returned payment', () => {
  test('records what was left and taken back, once', () => {
    given(saleReceived, mapped, credited, refund)
      .when(takeBack)
      .expectEvents([withdrawn('200'), settled(1)])
    given(saleReceived, mapped, credited, refund, withdrawn('200'), settled(1))
      .when(takeBack)
      .expectEvents([])
  })

  test('is looked at again after a process that knew less has recorded it', () => {
    const won: SaleEvent = { ...refunded('re_2', 1) }
    // Another process has settled two facts, and this one knew the first alone.
    const behind = [saleReceived, mapped, credited, refund, won, settled(2)]
    given(...behind)
      .when(takeBack)
      .expectEvents([withdrawn('200'), settled(1)])
    expect(nextStep(stateAfter(...behind, withdrawn('200'), settled(1)))).toBe('settle')
  })

  test('that counts again returns what was left, once, under a credit of its own', () => {
    const returning = settle([{ item: 0, returned: again }])
    const events = [saleReceived, mapped, credited, refund, withdrawn('200'), settled(1)]
    const returned: SaleEvent = { type: 'SaleCredited', data: { ...place, ...again, at: later } }
    given(...events)
      .when(returning)
      .expectEvents([returned, settled(1)])
    const after = stateAfter(...events, returned, settled(1))
    expect(after.credit).toMatchObject({ added: again, withdrawn: null, withdrawals: 1 })
    given(...events, returned, settled(1))
      .when(returning)
      .expectEvents([])
    // A withdrawal of the former credit that comes late is not one of this.
    given(...events, returned, settled(1))
      .when(takeBack)
      .expectEvents([])
  })
})
