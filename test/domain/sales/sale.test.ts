/** A sale is received once and licensed once, and only new facts count. */
import { describe, test } from 'vitest'
import type { SaleEvent } from '../../../src/domain/sales/events.ts'
import { absentSale, decideSale, evolveSale, type SaleCommand } from '../../../src/domain/sales/sale.ts'
import { givenOn } from '../given.ts'
import { at, end, later } from '../licenses/license-samples.ts'
import { disputed, received, refunded } from './sale-samples.ts'

const given = givenOn({ initial: absentSale, decide: decideSale, evolve: evolveSale })

const editor = { productId: 'editor', keyTypeId: 'pro' }
const noMapping = { reason: 'no_mapping', detail: 'price_1' } as const
const saleReceived: SaleEvent = { type: 'SaleReceived', data: received }
const mapped: SaleEvent = { type: 'SaleMapped', data: { ...editor, at } }
const parked: SaleEvent = { type: 'SaleParked', data: { ...noMapping, at } }
const licensed: SaleEvent = {
  type: 'SaleLicensed',
  data: { licenseId: 'lic_1', ...editor, expiresAt: end, at: later },
}
const { amount, currency, productName, customer } = received
const paid: SaleEvent = {
  type: 'SalePaymentRecorded',
  data: { saleId: 'cs_1', source: 'stripe', amount, currency, productName, customer, at: later },
}
const linked: SaleEvent = { type: 'SaleLinked', data: { links: ['subscription:sub_1'], at } }
const duplicate: SaleEvent = { type: 'DuplicateReceived', data: { notificationId: 'evt_2', at: later } }
const settled = (through: number): SaleEvent => ({ type: 'SaleSettled', data: { through, at: later } })

const { links: ownLinks } = received
const found = { boundLinks: ownLinks, kept: [], at: later }
const recordLicense: SaleCommand = {
  type: 'RecordLicenses',
  outcomes: [{ item: 0, license: { ...editor, expiresAt: end } }],
  ...found,
}
const again = { type: 'ReceiveAgain', notificationId: 'evt_2', at: later } as const

describe('a sale', () => {
  test('is received with the key type to issue', () =>
    given()
      .when({ type: 'ReceiveSale', received, resolutions: [editor] })
      .expectEvents([saleReceived, mapped]))

  test('is received with the reason why it is parked', () =>
    given()
      .when({ type: 'ReceiveSale', received, resolutions: [noMapping] })
      .expectEvents([saleReceived, parked]))

  test('is not received twice', () =>
    given(saleReceived, mapped)
      .when({ type: 'ReceiveSale', received, resolutions: [editor] })
      .expectEvents([]))

  test('that is absent refuses every command', () =>
    given()
      .when({ type: 'RecordFacts', facts: [refunded('re_1', 1)] })
      .expectRefusal('sale_not_found'))

  test('that is parked stays so for the same reason, and not for another', () => {
    given(saleReceived, parked)
      .when({ type: 'ResolveSale', resolutions: [noMapping], at })
      .expectEvents([])
    given(saleReceived, parked)
      .when({ type: 'ResolveSale', resolutions: [{ ...noMapping, detail: 'price_2' }], at })
      .expectEvents([{ type: 'SaleParked', data: { reason: 'no_mapping', detail: 'price_2', at } }])
  })

  test('keeps its key type', () =>
    given(saleReceived, mapped)
      .when({ type: 'ResolveSale', resolutions: [{ productId: 'player', keyTypeId: 'pro' }], at })
      .expectEvents([]))

  test('that has its license is no longer parked', () =>
    given(saleReceived, mapped, licensed, paid)
      .when({ type: 'ResolveSale', resolutions: [noMapping], at })
      .expectEvents([]))
})

describe('its license', () => {
  test('is recorded with the payment, and with the facts that came before the sale', () =>
    given(saleReceived, mapped)
      .when({ ...recordLicense, kept: [refunded('re_1', 1), refunded('re_1', 1)] })
      .expectEvents([licensed, paid, refunded('re_1', 1)]))

  test('is recorded once', () =>
    given(saleReceived, mapped, licensed, paid).when(recordLicense).expectEvents([]))

  test('is not recorded before every link of the sale leads to it', () =>
    given(saleReceived, mapped, linked).when(recordLicense).expectEvents([]))

  test('that exists counts, even if the sale was parked meanwhile', () =>
    given(saleReceived, mapped, parked).when(recordLicense).expectEvents([licensed, paid]))
})

describe('a repeated notification', () => {
  test('is counted', () =>
    given(saleReceived, mapped)
      .when({ ...again, links: ownLinks })
      .expectEvents([duplicate]))

  test('may bring more links', () =>
    given(saleReceived, mapped)
      .when({ ...again, links: ['subscription:sub_1'] })
      .expectEvents([duplicate, { type: 'SaleLinked', data: { links: ['subscription:sub_1'], at: later } }]))

  test('is not recorded without end', () =>
    given(saleReceived, mapped, ...Array.from({ length: 20 }, () => duplicate))
      .when({ ...again, links: [] })
      .expectEvents([]))

  test('adds nothing to a dispute that was won', () =>
    given(saleReceived, mapped, disputed('DisputeWon'))
      .when({ type: 'RecordFacts', facts: [disputed('SaleDisputed'), disputed('DisputeLost')] })
      .expectEvents([]))
})

describe('that the license follows', () => {
  const before = [saleReceived, mapped, licensed, paid, refunded('re_1', 1)]

  test('is recorded once', () => {
    given(...before)
      .when({ type: 'SettleSale', through: 1, ...found })
      .expectEvents([settled(1)])
    given(...before, settled(1))
      .when({ type: 'SettleSale', through: 1, ...found })
      .expectEvents([])
  })

  test('is recorded once more when links were added', () =>
    given(...before, settled(1), linked)
      .when({ type: 'SettleSale', through: 1, ...found, boundLinks: [...ownLinks, 'subscription:sub_1'] })
      .expectEvents([settled(1)]))
})
