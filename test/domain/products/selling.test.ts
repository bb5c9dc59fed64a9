/** Test mode depends on its keys; the card provider's price is recorded for that price only. */
import { describe, expect, test } from 'vitest'
import type { ProductEvent } from '../../../src/domain/products/events.ts'
import { defaultKeyType, type KeyType, type Price } from '../../../src/domain/products/key-type.ts'
import {
  absentProduct,
  decideProduct,
  defaultSettings,
  evolveProduct,
  type ProductCommand,
} from '../../../src/domain/products/product.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentProduct, decide: decideProduct, evolve: evolveProduct })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'
const editor = { tenantId: 'acme', productId: 'editor', name: 'Editor', keyPrefix: 'ACME' }
const unverified = (priceId: string): Price => ({
  priceId,
  verified: false,
  unitAmount: null,
  currency: null,
  interval: null,
  verifiedAt: null,
})
const verified = (priceId: string): Price => ({
  priceId,
  verified: true,
  unitAmount: 2900,
  currency: 'usd',
  interval: 'month',
  verifiedAt: later,
})
const keyType = (keyTypeId: string, price: Price | null): KeyType => ({ ...defaultKeyType, keyTypeId, price })
const product: ProductEvent[] = [
  { type: 'ProductCreated', data: { ...editor, settings: defaultSettings, at } },
  { type: 'KeyTypeAdded', data: { keyType: keyType('pro', unverified('price_1')), at } },
  { type: 'KeyTypeAdded', data: { keyType: keyType('team', null), at } },
]
const state = (...events: ProductEvent[]) => [...product, ...events].reduce(evolveProduct, absentProduct)

describe('test mode', () => {
  const enable = (name: string): ProductCommand => ({
    type: 'EnableTestMode',
    publishableKey: 'pk_test_1',
    secretName: name,
    at: later,
  })
  const enabled = (secretName: string): ProductEvent => ({
    type: 'TestModeEnabled',
    data: { publishableKey: 'pk_test_1', secretName, at: later },
  })
  const disabled: ProductEvent = { type: 'TestModeDisabled', data: { at: later } }

  test('is entered with keys, and with others again', () => {
    given(...product)
      .when(enable('one'))
      .expectEvents([enabled('one')])
    given(...product, enabled('one'))
      .when(enable('two'))
      .expectEvents([enabled('two')])
  })

  test('is switched on without keys, once, and keeps keys that it has', () => {
    const switchOn: ProductCommand = { type: 'SwitchTestModeOn', at: later }
    const switchedOn: ProductEvent = { type: 'TestModeSwitchedOn', data: { at: later } }
    given(...product)
      .when(switchOn)
      .expectEvents([switchedOn])
    given(...product, switchedOn)
      .when(switchOn)
      .expectEvents([])
    given(...product, enabled('one'))
      .when(switchOn)
      .expectEvents([])
    given(...product, switchedOn)
      .when({ type: 'DisableTestMode', at: later })
      .expectEvents([disabled])
    expect(state(switchedOn)).toMatchObject({ settings: { testMode: { enabled: true } } })
    expect(state(enabled('one'), disabled, switchedOn)).toMatchObject({
      settings: { testMode: { enabled: true } },
      testKeys: { secretName: null, retired: ['one'] },
    })
  })

  test('is left once', () => {
    given(...product, enabled('one'))
      .when({ type: 'DisableTestMode', at: later })
      .expectEvents([disabled])
    for (const history of [product, [...product, enabled('one'), disabled]]) {
      given(...history)
        .when({ type: 'DisableTestMode', at: later })
        .expectEvents([])
    }
  })

  test('shows the publishable key, and names every former secret for destruction', () => {
    const on = { enabled: true, publishableKey: 'pk_test_1' }
    expect(state(enabled('one'))).toMatchObject({
      settings: { testMode: on },
      testKeys: { secretName: 'one', retired: [] },
      updatedAt: later,
    })
    expect(state(enabled('one'), enabled('two'))).toMatchObject({
      settings: { testMode: on },
      testKeys: { secretName: 'two', retired: ['one'] },
    })
    const off = state(enabled('one'), enabled('two'), disabled)
    expect(off).toMatchObject({ testKeys: { secretName: null, retired: ['one', 'two'] } })
    expect(off.status === 'present' && off.settings).toStrictEqual(defaultSettings)
  })

  test('outlives a change of other settings', () => {
    const change: ProductCommand = { type: 'ChangeProduct', settings: { onRefund: 'keep' }, at: later }
    const settings = {
      ...defaultSettings,
      onRefund: 'keep' as const,
      testMode: { enabled: true, publishableKey: 'pk_test_1' },
    }
    given(...product, enabled('one'))
      .when(change)
      .expectEvents([{ type: 'ProductSettingsChanged', data: { settings, at: later } }])
  })
})

describe('a price', () => {
  const record = (...prices: { keyTypeId: string; price: Price }[]): ProductCommand => ({
    type: 'RecordPrices',
    prices,
    at: later,
  })

  test('is recorded as the provider returned it', () => {
    const found = { keyTypeId: 'pro', price: verified('price_1') }
    const event: ProductEvent = { type: 'PricesVerified', data: { prices: [found], at: later } }
    given(...product)
      .when(record(found))
      .expectEvents([event])
    expect(state(event)).toMatchObject({ keyTypes: [{ price: verified('price_1') }, { price: null }] })
  })

  test('that was replaced or removed meanwhile, or never existed, is skipped', () => {
    given(...product)
      .when(
        record(
          { keyTypeId: 'pro', price: verified('price_2') },
          { keyTypeId: 'team', price: verified('price_1') },
          { keyTypeId: 'gone', price: verified('price_1') },
        ),
      )
      .expectEvents([])
  })

  test('mapped to a key type is set, and others are removed', () => {
    const map: ProductCommand = {
      type: 'MapPrices',
      prices: [{ keyTypeId: 'team', price: verified('price_3') }],
      at: later,
    }
    const events: ProductEvent[] = [
      { type: 'KeyTypeChanged', data: { keyType: keyType('pro', null), at: later } },
      { type: 'KeyTypeChanged', data: { keyType: keyType('team', verified('price_3')), at: later } },
    ]
    given(...product)
      .when(map)
      .expectEvents(events)
    given(...product, ...events)
      .when({ ...map, prices: [] })
      .expectEvents([{ type: 'KeyTypeChanged', data: { keyType: keyType('team', null), at: later } }])
  })

  test('mapped to a key type that the product lacks is refused', () =>
    given(...product)
      .when({ type: 'MapPrices', prices: [{ keyTypeId: 'gone', price: verified('price_1') }], at: later })
      .expectRefusal('mapping_key_type_not_found'))
})
