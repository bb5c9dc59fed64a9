/**
 * Guarantee: key types are added and changed one at a time; a change keeps omitted fields, and the id never
 * changes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const path = '/v1/products/editor/key-types'
const asks = async (method: 'GET' | 'POST' | 'PATCH', url: string, sent?: unknown) => {
  const { status, body } = await api.ask(method, url, { token: tenant.token, body: sent })
  return { status, body }
}

const plain = {
  keyTypeId: 'default',
  name: 'Default',
  deviceLimit: 1,
  duration: null,
  onExpiry: 'expire',
  entitlements: [],
  fallbackEntitlements: [],
  price: null,
  sellInMultiples: false,
  maxQuantity: null,
}
const pro = {
  ...plain,
  keyTypeId: 'pro',
  name: 'Pro',
  deviceLimit: 3,
  duration: { count: 1, unit: 'month' },
  entitlements: ['a', 'b'],
}
const proAsked = {
  name: 'Pro',
  deviceLimit: 3,
  duration: { count: 1, unit: 'month' },
  entitlements: ['b', 'a', 'b'],
}

test('a key type is added with an id derived from its name, and listed after the older ones', async () => {
  expect(await asks('POST', path, proAsked)).toStrictEqual({ status: 201, body: { created: pro } })
  expect(await asks('GET', path)).toStrictEqual({ status: 200, body: { keyTypes: [plain, pro] } })
})

test('an id that the product already has returns 409', async () => {
  expect(await asks('POST', path, { name: 'Pro' })).toStrictEqual({
    status: 409,
    body: { error: 'a key type with this keyTypeId already exists; choose another' },
  })
})

test('a change keeps omitted fields, and null removes optional ones', async () => {
  const changed = await asks('PATCH', `${path}/pro`, { deviceLimit: null, price: { priceId: 'price_9' } })
  const price = {
    priceId: 'price_9',
    verified: false,
    unitAmount: null,
    currency: null,
    interval: null,
    verifiedAt: null,
  }
  expect(changed).toStrictEqual({ status: 200, body: { updated: { ...pro, deviceLimit: null, price } } })
  const back = await asks('PATCH', `${path}/pro`, { deviceLimit: 3, price: null, keyTypeId: 'pro' })
  expect(back).toStrictEqual({ status: 200, body: { updated: pro } })
  expect(await asks('PATCH', `${path}/pro`, {})).toStrictEqual({ status: 200, body: { updated: pro } })
})

test('the id of a key type cannot be changed', async () => {
  expect(await asks('PATCH', `${path}/pro`, { keyTypeId: 'max' })).toStrictEqual({
    status: 422,
    body: { error: 'keyTypeId cannot be changed; add another key type instead' },
  })
})

test.each([
  ['PATCH', `${path}/absent`, {}, 'key type not found'],
  ['PATCH', `${path}/absent`, { keyTypeId: 'other' }, 'key type not found'],
  ['PATCH', '/v1/products/absent/key-types/pro', {}, 'product not found'],
  ['POST', '/v1/products/absent/key-types', { name: 'Pro' }, 'product not found'],
  ['GET', '/v1/products/absent/key-types', undefined, 'product not found'],
] as const)('%s %s with %j returns 404', async (method, url, body, error) => {
  expect(await asks(method, url, body)).toStrictEqual({ status: 404, body: { error } })
})

test.each([
  ['an unknown field', { seats: 3 }],
  ['a device limit of 0', { deviceLimit: 0 }],
  ['a device limit above the maximum', { deviceLimit: 100_001 }],
  ['a duration in weeks', { duration: { count: 1, unit: 'week' } }],
  ['a duration of 0 days', { duration: { count: 0, unit: 'day' } }],
  ['an entitlement in capitals', { entitlements: ['Export'] }],
  ['more than a hundred entitlements', { entitlements: Array.from({ length: 101 }, (_, n) => `e${n}`) }],
  ['an amount, which only the provider sets', { price: { priceId: 'p', unitAmount: 5 } }],
  ['a name with half of a surrogate pair', { name: '\ud800' }],
])('%s returns 400', async (_, body) => {
  const malformed = { status: 400, body: { error: expect.any(String) as string } }
  expect(await asks('PATCH', `${path}/pro`, body)).toStrictEqual(malformed)
  expect(await asks('POST', path, { name: 'Another', ...body })).toStrictEqual(malformed)
})
