/**
 * A product always has a key type; a change records only what it changes; a trial length that was never
 * configured is not the same as one of 0.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ProductEvent } from '../../../src/domain/products/events.ts'
import { defaultKeyType, type KeyType } from '../../../src/domain/products/key-type.ts'
import {
  absentProduct,
  decideProduct,
  defaultSettings,
  evolveProduct,
  findKeyType,
  type ProductCommand,
} from '../../../src/domain/products/product.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentProduct, decide: decideProduct, evolve: evolveProduct })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'

const pro: KeyType = {
  ...defaultKeyType,
  keyTypeId: 'pro',
  name: 'Pro',
  deviceLimit: 3,
  entitlements: ['export'],
}
const team: KeyType = { ...pro, keyTypeId: 'team', name: 'Team', deviceLimit: null }

const editor = { tenantId: 'acme', productId: 'editor', name: 'Editor', keyPrefix: 'ACME' }
const create = { type: 'CreateProduct', ...editor, settings: {}, keyTypes: [pro], at } as const
const change = { type: 'ChangeProduct', settings: {}, at: later } as const
const addTeam: ProductCommand = { type: 'AddKeyType', keyType: team, at: later }
const changePro = { type: 'ChangeKeyType', keyTypeId: 'pro', change: {}, at: later } as const

const deletePro = { type: 'DeleteKeyType', keyTypeId: 'pro', inUse: false, at: later } as const

const created: ProductEvent = { type: 'ProductCreated', data: { ...editor, settings: defaultSettings, at } }
const proAdded: ProductEvent = { type: 'KeyTypeAdded', data: { keyType: pro, at } }
const product = [created, proAdded]
const teamAdded: ProductEvent = { type: 'KeyTypeAdded', data: { keyType: team, at } }
const proDeleted: ProductEvent = { type: 'KeyTypeDeleted', data: { keyTypeId: 'pro', at } }

const settingsChanged = (settings: typeof defaultSettings, moment = at): ProductEvent => ({
  type: 'ProductSettingsChanged',
  data: { settings, at: moment },
})
const trialOf14Days = { ...defaultSettings, trialDurationDays: 14 }

describe('creating', () => {
  test('a product begins with its key types in the order given', () =>
    given()
      .when({ ...create, keyTypes: [team, pro] })
      .expectEvents([created, { type: 'KeyTypeAdded', data: { keyType: team, at } }, proAdded]))

  test('a product without key types gets the default one: one device, perpetual', () =>
    given()
      .when({ ...create, keyTypes: [] })
      .expectEvents([created, { type: 'KeyTypeAdded', data: { keyType: defaultKeyType, at } }]))

  test('given settings are combined with the defaults of the others', () => {
    const settings = { ...defaultSettings, freeTierEnabled: true, trialDurationDays: 0 }
    given()
      .when({ ...create, settings: { freeTierEnabled: true, trialDurationDays: 0 } })
      .expectEvents([{ type: 'ProductCreated', data: { ...editor, settings, at } }, proAdded])
  })

  test('the defaults are a lease of a week, asked for again each hour, with trials never configured', () =>
    expect(defaultSettings).toStrictEqual({
      freeTierEnabled: false,
      testMode: { enabled: false },
      leaseSeconds: 604_800,
      revalidateAfterSeconds: 3600,
      onRefund: 'revoke',
      keyRecovery: false,
    }))

  test('a trial length of null is none at all', () =>
    given()
      .when({ ...create, settings: { trialDurationDays: null } })
      .expectEvents([created, proAdded]))

  test('two key types of one id are refused', () =>
    given()
      .when({ ...create, keyTypes: [pro, team, { ...pro, name: 'Pro again' }] })
      .expectRefusal('key_type_exists'))

  test('a taken product id is refused', () =>
    given(...product)
      .when(create)
      .expectRefusal('product_exists'))
})

test.each<ProductCommand>([{ ...change, name: 'Writer' }, addTeam, changePro, deletePro])(
  '$type on a product that is not there is refused',
  (command) => given().when(command).expectRefusal('product_not_found'),
)

describe('changing a product', () => {
  test('a new name alone records the name alone', () =>
    given(...product)
      .when({ ...change, name: 'Writer' })
      .expectEvents([{ type: 'ProductRenamed', data: { name: 'Writer', at: later } }]))

  test('a new key prefix alone records the prefix alone', () =>
    given(...product)
      .when({ ...change, keyPrefix: 'WRITE' })
      .expectEvents([{ type: 'KeyPrefixChanged', data: { keyPrefix: 'WRITE', at: later } }]))

  test('a new setting alone records the settings, with the others as they were', () =>
    given(...product, settingsChanged(trialOf14Days))
      .when({ ...change, settings: { onRefund: 'keep' } })
      .expectEvents([settingsChanged({ ...trialOf14Days, onRefund: 'keep' }, later)]))

  test('everything at once is recorded piece by piece', () =>
    given(...product)
      .when({ ...change, name: 'Writer', keyPrefix: 'WRITE', settings: { leaseSeconds: 60 } })
      .expectEvents([
        { type: 'ProductRenamed', data: { name: 'Writer', at: later } },
        { type: 'KeyPrefixChanged', data: { keyPrefix: 'WRITE', at: later } },
        settingsChanged({ ...defaultSettings, leaseSeconds: 60 }, later),
      ]))

  test('a change to the present values records nothing', () =>
    given(...product, settingsChanged(trialOf14Days))
      .when({ ...change, name: 'Editor', keyPrefix: 'ACME', settings: { ...trialOf14Days } })
      .expectEvents([]))

  test('an empty change records nothing', () =>
    given(...product)
      .when(change)
      .expectEvents([]))
})

describe('the trial length', () => {
  test('null resets it to never configured', () =>
    given(...product, settingsChanged(trialOf14Days))
      .when({ ...change, settings: { trialDurationDays: null } })
      .expectEvents([settingsChanged(defaultSettings, later)]))

  test('null on one that was never configured records nothing', () =>
    given(...product)
      .when({ ...change, settings: { trialDurationDays: null } })
      .expectEvents([]))

  test('0 on one that was never configured is a change: trials are off', () =>
    given(...product)
      .when({ ...change, settings: { trialDurationDays: 0 } })
      .expectEvents([settingsChanged({ ...defaultSettings, trialDurationDays: 0 }, later)]))

  test('left out, or undefined, it stays', () =>
    given(...product, settingsChanged(trialOf14Days))
      .when({ ...change, settings: { trialDurationDays: undefined } })
      .expectEvents([]))
})

describe('the days of notices', () => {
  const noticed = settingsChanged({ ...defaultSettings, expiringNotice: { days: [14, 3] } }, later)
  const changed = (expiringNotice: { days: number[] } | null) => ({ ...change, settings: { expiringNotice } })

  test('are a set, the earliest first', () => {
    given(...product)
      .when(changed({ days: [3, 14, 3] }))
      .expectEvents([noticed])
    given(...product, noticed)
      .when(changed({ days: [14, 3] }))
      .expectEvents([])
  })

  test('null turns them off', () => {
    given(...product, noticed)
      .when(changed(null))
      .expectEvents([settingsChanged(defaultSettings, later)])
    given(...product)
      .when(changed(null))
      .expectEvents([])
  })
})

describe('key types', () => {
  test('a new one is added', () =>
    given(...product)
      .when(addTeam)
      .expectEvents([{ type: 'KeyTypeAdded', data: { keyType: team, at: later } }]))

  test('a taken id is refused, be the rest the same or not', () => {
    const again: ProductCommand = { type: 'AddKeyType', keyType: pro, at: later }
    given(...product)
      .when(again)
      .expectRefusal('key_type_exists')
    given(...product)
      .when({ ...again, keyType: { ...pro, name: 'Other' } })
      .expectRefusal('key_type_exists')
  })

  test('a change records the whole key type as it now is', () =>
    given(...product)
      .when({ ...changePro, change: { deviceLimit: null, duration: { count: 1, unit: 'year' } } })
      .expectEvents([
        {
          type: 'KeyTypeChanged',
          data: { keyType: { ...pro, deviceLimit: null, duration: { count: 1, unit: 'year' } }, at: later },
        },
      ]))

  test('a change to the present values records nothing', () =>
    given(...product)
      .when({ ...changePro, change: { name: 'Pro', entitlements: ['export'] } })
      .expectEvents([]))

  test('one of several is deleted', () =>
    given(...product, teamAdded)
      .when(deletePro)
      .expectEvents([{ type: 'KeyTypeDeleted', data: { keyTypeId: 'pro', at: later } }]))

  test('one that a live license references stays', () =>
    given(...product, teamAdded)
      .when({ ...deletePro, inUse: true })
      .expectRefusal('key_type_in_use'))

  test('the only one stays', () =>
    given(...product)
      .when(deletePro)
      .expectRefusal('key_type_is_last'))

  test('the only one that is left stays', () =>
    given(...product, teamAdded, proDeleted)
      .when({ ...deletePro, keyTypeId: 'team' })
      .expectRefusal('key_type_is_last'))

  test('a deleted one no longer exists, and its id can be used again', () => {
    given(...product, teamAdded, proDeleted)
      .when(deletePro)
      .expectRefusal('key_type_not_found')
    given(...product, teamAdded, proDeleted)
      .when({ type: 'AddKeyType', keyType: pro, at: later })
      .expectEvents([{ type: 'KeyTypeAdded', data: { keyType: pro, at: later } }])
  })

  test('a change of one that the product lacks is refused', () =>
    given(...product)
      .when({ ...changePro, keyTypeId: 'team', change: { name: 'Team' } })
      .expectRefusal('key_type_not_found'))
})

describe('the state', () => {
  const state = (...events: ProductEvent[]) => events.reduce(evolveProduct, absentProduct)
  const begun = {
    ...editor,
    status: 'present',
    settings: defaultSettings,
    keyTypes: [pro],
    createdAt: at,
    updatedAt: at,
    clientSettingsSince: at,
  }

  test.each<[string, ProductEvent, object]>([
    ['a new name', { type: 'ProductRenamed', data: { name: 'Writer', at: later } }, { name: 'Writer' }],
    ['a new prefix', { type: 'KeyPrefixChanged', data: { keyPrefix: 'WR', at: later } }, { keyPrefix: 'WR' }],
    [
      'new settings',
      settingsChanged(trialOf14Days, later),
      { settings: trialOf14Days, clientSettingsSince: later },
    ],
    [
      'a change that apps are not told of',
      settingsChanged({ ...defaultSettings, leaseSeconds: 60 }, later),
      { settings: { ...defaultSettings, leaseSeconds: 60 } },
    ],
    [
      'another key type',
      { type: 'KeyTypeAdded', data: { keyType: team, at: later } },
      { keyTypes: [pro, team] },
    ],
  ])('shows %s and when it came', (_, event, shown) =>
    expect(state(...product, event)).toStrictEqual({ ...begun, ...shown, updatedAt: later }),
  )

  test('shows what is left when a key type was deleted', () =>
    expect(
      state(...product, teamAdded, { type: 'KeyTypeDeleted', data: { keyTypeId: 'pro', at: later } }),
    ).toStrictEqual({
      ...begun,
      keyTypes: [team],
      updatedAt: later,
    }))

  test('shows a changed key type in its old place', () => {
    const newPro = { ...pro, name: 'Professional' }
    const after = state(
      ...product,
      { type: 'KeyTypeAdded', data: { keyType: team, at } },
      { type: 'KeyTypeChanged', data: { keyType: newPro, at: later } },
    )
    expect(after).toStrictEqual({ ...begun, keyTypes: [newPro, team], updatedAt: later })
  })

  test('accepts any sequence of events without an error, and is absent until a creation', () => {
    const events = fc.constantFrom<ProductEvent>(
      created,
      proAdded,
      settingsChanged(trialOf14Days),
      { type: 'ProductRenamed', data: { name: 'Writer', at } },
      { type: 'KeyPrefixChanged', data: { keyPrefix: 'WR', at } },
      { type: 'KeyTypeChanged', data: { keyType: team, at } },
      proDeleted,
    )
    fc.assert(
      fc.property(fc.array(events), (history) => {
        expect(state(...history).status === 'absent').toBe(!history.includes(created))
      }),
    )
  })
})

test('a key type is found by its id alone', () => {
  const keyTypes = [pro, team]
  expect(findKeyType({ keyTypes }, 'team')).toBe(team)
  expect(findKeyType({ keyTypes }, 'Team')).toBeUndefined()
})
