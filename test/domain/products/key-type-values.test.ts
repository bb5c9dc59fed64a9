/**
 * Guarantee: every value of a key type belongs to an entitlement that its licenses have, also after any change, and a
 * key type without values is recorded as it was before there were any.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EntitlementValue } from '../../../src/domain/products/entitlement-values.ts'
import type { ProductEvent } from '../../../src/domain/products/events.ts'
import {
  defaultKeyType,
  EntitlementValues,
  entitlementSet,
  KeyType,
} from '../../../src/domain/products/key-type.ts'
import {
  absentProduct,
  decideProduct,
  defaultSettings,
  evolveProduct,
} from '../../../src/domain/products/product.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentProduct, decide: decideProduct, evolve: evolveProduct })

const at = '2026-03-01T12:00:00.000Z'
const place = { tenantId: 'acme', productId: 'editor', name: 'Editor', keyPrefix: 'ACME' }
const pro: KeyType = {
  ...defaultKeyType,
  keyTypeId: 'pro',
  name: 'Pro',
  entitlements: ['export', 'projects'],
  fallbackEntitlements: ['read'],
  entitlementValues: { projects: 25, read: 'some' },
}
const { entitlementValues: _, ...plain } = pro
const created: ProductEvent = {
  type: 'ProductCreated',
  data: { ...place, settings: defaultSettings, at },
}
const added = (keyType: KeyType): ProductEvent => ({ type: 'KeyTypeAdded', data: { keyType, at } })
const changed = (keyType: KeyType): ProductEvent => ({ type: 'KeyTypeChanged', data: { keyType, at } })
const create = { type: 'CreateProduct', ...place, settings: {}, at } as const
const change = (more: Partial<KeyType>) =>
  ({ type: 'ChangeKeyType', keyTypeId: 'pro', change: more, at }) as const

describe('a key type', () => {
  test('has values of its entitlements and its fallback entitlements', () => {
    given()
      .when({ ...create, keyTypes: [pro] })
      .expectEvents([created, added(pro)])
    given(created, added(defaultKeyType))
      .when({ type: 'AddKeyType', keyType: pro, at })
      .expectEvents([added(pro)])
  })
  test('without values is recorded without a field for them', () => {
    given()
      .when({ ...create, keyTypes: [{ ...pro, entitlementValues: {} }] })
      .expectEvents([created, added(plain)])
    given(created, added(plain))
      .when(change({ entitlementValues: {} }))
      .expectEvents([])
    given(created, added(pro))
      .when(change({ entitlementValues: {} }))
      .expectEvents([changed(plain)])
  })
  test('gets no value for an entitlement that it does not have', () => {
    const values = { entitlementValues: { seats: 5 } }
    given()
      .when({ ...create, keyTypes: [{ ...pro, ...values }] })
      .expectRefusal('value_without_entitlement')
    given(created, added(pro)).when(change(values)).expectRefusal('value_without_entitlement')
    given(created, added(pro))
      .when({ type: 'AddKeyType', keyType: { ...pro, keyTypeId: 'max', ...values }, at })
      .expectRefusal('value_without_entitlement')
    given(created, added(pro))
      .when(change({ ...values, entitlements: ['seats'] }))
      .expectEvents([changed({ ...pro, entitlements: ['seats'], ...values })])
  })
  test('loses a value with its entitlement, and no other', () => {
    given(created, added(pro))
      .when(change({ entitlements: ['export'] }))
      .expectEvents([changed({ ...pro, entitlements: ['export'], entitlementValues: { read: 'some' } })])
    given(created, added(pro))
      .when(change({ entitlements: ['export'], fallbackEntitlements: ['projects'] }))
      .expectEvents([
        changed({
          ...pro,
          entitlements: ['export'],
          fallbackEntitlements: ['projects'],
          entitlementValues: { projects: 25 },
        }),
      ])
  })
  test('keeps its values when something else changes', () =>
    given(created, added(pro))
      .when(change({ name: 'P' }))
      .expectEvents([changed({ ...pro, name: 'P' })]))
})

const names = fc.subarray(['1', 'a', 'b', 'constructor', 'seats']).map(entitlementSet)
const values = fc.dictionary(
  fc.constantFrom('1', 'a', 'b', 'constructor', 'seats'),
  fc.oneof(fc.constant(true as const), fc.integer(), fc.constantFrom('gold', '2027-11-21')),
)
const fields = fc.record(
  { entitlements: names, fallbackEntitlements: names, entitlementValues: values },
  { requiredKeys: [], noNullPrototype: true },
)

test('after any changes every value has its entitlement, and the key type is one that the log takes', () =>
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 6 }), (changes) => {
      let product = [created, added(pro)].reduce(evolveProduct, absentProduct)
      for (const one of changes) {
        try {
          product = decideProduct(product, change(one)).reduce(evolveProduct, product)
        } catch {
          expect(one).toHaveProperty('entitlementValues')
        }
        if (product.status === 'absent') throw new Error('the product is there')
        for (const keyType of product.keyTypes) {
          const granted = [...keyType.entitlements, ...keyType.fallbackEntitlements]
          expect(granted).toEqual(expect.arrayContaining(Object.keys(keyType.entitlementValues ?? {})))
          expect(keyType.entitlementValues).not.toStrictEqual({})
          expect(KeyType.safeParse(JSON.parse(JSON.stringify(keyType))).success).toBe(true)
        }
      }
    }),
  ))

test.each<[what: string, value: unknown, taken: boolean]>([
  ['true', true, true],
  ['false', false, false],
  ['an integer', 25, true],
  ['zero', 0, true],
  ['a negative fraction', -0.5, true],
  ['the largest exact integer', Number.MAX_SAFE_INTEGER, true],
  ['an integer that not every language has', Number.MAX_SAFE_INTEGER + 1, false],
  ['infinity', Number.POSITIVE_INFINITY, false],
  ['no number', Number.NaN, false],
  ['text', 'gold', true],
  ['a date', '2027-11-21', true],
  ['no text', '', false],
  ['200 characters', 'x'.repeat(200), true],
  ['201 characters', 'x'.repeat(201), false],
  ['text with a NUL', 'a\0b', false],
  ['a lone surrogate', '\ud800', false],
  ['null', null, false],
  ['a list', [1], false],
  ['an object', { count: 1 }, false],
])('as a value, %s is taken: %#', (_, value, taken) =>
  expect(EntitlementValue.safeParse(value).success).toBe(taken),
)

test('there are at most 100 values, by names of entitlements', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (__, index) => [`e${index}`, 1]))
  expect(EntitlementValues.safeParse(many(100)).success).toBe(true)
  expect(EntitlementValues.safeParse(many(101)).success).toBe(false)
  for (const name of ['', 'Upper', 'a b', 'x'.repeat(65)]) {
    expect(EntitlementValues.safeParse(JSON.parse(`{${JSON.stringify(name)}:1}`)).success).toBe(false)
  }
})
