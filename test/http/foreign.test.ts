/**
 * What belongs to another tenant is answered like what is not there at all: status, body and headers, byte for
 * byte, on every route and for every kind of id.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import {
  type Answer,
  type Method,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../harness/api.ts'
import { pendingId } from '../harness/gate.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'

let api: TestApi
let asking: TestTenant
let owner: TestTenant
let owned: {
  license: { id: string; licenseKey: string }
  sameName: { id: string; licenseKey: string }
  customer: string
  confirmation: string
}
let ownCustomer: string
let unknownKey: string

beforeAll(async () => {
  api = await openTestApi()
  asking = await makeTenant(api.ledger)
  owner = await makeTenant(api.ledger)
  const { ask } = api
  await makeProduct(ask, asking.token, 'shared-name')
  await makeProduct(ask, owner.token, 'shared-name', { keyTypes: [{ name: 'Owned type' }] })
  await makeProduct(ask, owner.token, 'owned', { keyTypes: [{ name: 'Owned type' }] })
  const license = await mint(ask, owner.token, 'owned', { email: 'ada@example.com' })
  owned = {
    license,
    sameName: await mint(ask, owner.token, 'shared-name'),
    customer: await makeCustomer(ask, owner.token),
    confirmation: pendingId(await ask('POST', `/v1/licenses/${license.id}/revoke`, { token: owner.token })),
  }
  ownCustomer = await makeCustomer(ask, asking.token)
  await mint(ask, owner.token, 'owned')
  unknownKey = newLicenseKey('ACME', api.ledger.services.randomBytes).licenseKey
})
afterAll(() => api.close())

type Request = { method: Method; url: string; body?: unknown }

/** The answer without what differs between any two requests. */
function comparable({ status, text, headers }: Answer) {
  const { 'request-id': _, date: __, ...rest } = headers
  return { status, text, headers: rest }
}

const customerId = (which: 'owned' | 'absent') =>
  which === 'owned' ? owned.customer : 'cus_00000000000000000000000000'

/** The owner's id in every place where a request can carry one, and in the same place one that nobody has. */
const places: [what: string, status: number, request: (ids: 'owned' | 'absent') => Request][] = [
  ['reading a product', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}` })],
  [
    'changing a product',
    404,
    (which) => ({ method: 'PATCH', url: `/v1/products/${which}`, body: { name: 'Mine' } }),
  ],
  ['listing key types', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}/key-types` })],
  [
    'adding a key type that the owner has',
    404,
    (which) => ({ method: 'POST', url: `/v1/products/${which}/key-types`, body: { name: 'Owned type' } }),
  ],
  [
    'changing a key type of a foreign product',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/${which}/key-types/owned-type`,
      body: { deviceLimit: 9 },
    }),
  ],
  [
    'changing a foreign key type of a product that both have',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/shared-name/key-types/${which === 'owned' ? 'owned-type' : 'absent'}`,
      body: { deviceLimit: 9 },
    }),
  ],
  [
    'changing the id of a foreign key type',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/${which}/key-types/owned-type`,
      body: { keyTypeId: 'mine' },
    }),
  ],
  [
    'listing the licenses of a product',
    200,
    (which) => ({ method: 'GET', url: `/v1/licenses?product=${which}` }),
  ],
  [
    'minting for a product',
    404,
    (which) => ({ method: 'POST', url: '/v1/licenses', body: { productId: which } }),
  ],
  [
    'minting against a key type',
    404,
    (which) => ({
      method: 'POST',
      url: '/v1/licenses',
      body: { productId: 'shared-name', keyTypeId: which === 'owned' ? 'owned-type' : 'absent' },
    }),
  ],
  [
    'reading a license',
    404,
    (which) => ({
      method: 'GET',
      url: `/v1/licenses/${which === 'owned' ? owned.license.id : 'lic_00000000000000000000000000'}`,
    }),
  ],
  [
    'minting for a customer',
    404,
    (which) => ({
      method: 'POST',
      url: '/v1/licenses',
      body: { productId: 'shared-name', customerId: customerId(which) },
    }),
  ],
  ['reading a customer', 404, (which) => ({ method: 'GET', url: `/v1/customers/${customerId(which)}` })],
  [
    'linking a license to a customer',
    404,
    (which) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which)}/link-license`,
      body: { licenseId: owned.license.id },
    }),
  ],
  [
    'linking a license of a stranger to an own customer',
    404,
    (which) => ({
      method: 'POST',
      url: `/v1/customers/${ownCustomer}/link-license`,
      body: { licenseId: which === 'owned' ? owned.license.id : 'lic_00000000000000000000000000' },
    }),
  ],
  [
    'overriding the entitlements of a customer',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/customers/${customerId(which)}/entitlements`,
      body: { overrides: [{ entitlement: 'export', effect: 'grant' }] },
    }),
  ],
  [
    'overriding entitlements of a product',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/customers/${ownCustomer}/entitlements`,
      body: { overrides: [{ entitlement: 'export', effect: 'grant', productId: which }] },
    }),
  ],
  ['reading the usage of a product', 404, (which) => ({ method: 'GET', url: `/v1/usage?product=${which}` })],
  [
    'revoking a license',
    404,
    (which) => ({
      method: 'POST',
      url: `/v1/licenses/${which === 'owned' ? owned.license.id : 'lic_00000000000000000000000000'}/revoke`,
    }),
  ],
  [
    'deleting a key type of a foreign product',
    404,
    (which) => ({ method: 'DELETE', url: `/v1/products/${which}/key-types/owned-type` }),
  ],
  [
    'deleting a foreign key type of a product that both have',
    404,
    (which) => ({
      method: 'DELETE',
      url: `/v1/products/shared-name/key-types/${which === 'owned' ? 'owned-type' : 'absent'}`,
    }),
  ],
  [
    'polling a confirmation',
    404,
    (which) => ({
      method: 'GET',
      url: `/v1/confirmations/${which === 'owned' ? owned.confirmation : 'cnf_00000000000000000000000000'}`,
    }),
  ],
  ...(['activate', 'validate', 'deactivate'] as const).flatMap((what): typeof places => [
    [
      `${what} on a foreign product with its own key`,
      404,
      (which) => ({
        method: 'POST',
        url: `/v1/licenses/${what}`,
        body: { product_id: which, license_key: owned.license.licenseKey, device_id: 'd' },
      }),
    ],
    [
      `${what} on a product that both have with the owner's key`,
      200,
      (which) => ({
        method: 'POST',
        url: `/v1/licenses/${what}`,
        body: {
          product_id: 'shared-name',
          license_key: which === 'owned' ? owned.sameName.licenseKey : unknownKey,
          device_id: 'd',
        },
      }),
    ],
  ]),
]

const everythingOwned = async () => {
  const { token } = owner
  const answers = []
  for (const url of ['/v1/products', '/v1/licenses', '/v1/customers', `/v1/licenses/${owned.license.id}`]) {
    answers.push((await api.ask('GET', url, { token })).text)
  }
  return answers
}

test.each(places)('%s is answered %i as if there were none', async (_, status, request) => {
  const before = await everythingOwned()
  const send = async (which: 'owned' | 'absent') => {
    const { method, url, body } = request(which)
    return comparable(await api.ask(method, url, { token: asking.token, body }))
  }
  const foreign = await send('owned')
  expect(foreign.status).toBe(status)
  expect(foreign).toStrictEqual(await send('absent'))
  expect(await everythingOwned()).toStrictEqual(before)
})

test('the same requests reach the owner, so that they could have reached a stranger', async () => {
  const { token } = owner
  const reads = places.map(([, , request]) => request('owned')).filter(({ method }) => method === 'GET')
  expect(reads).not.toHaveLength(0)
  for (const { url } of reads) expect(await api.ask('GET', url, { token })).toMatchObject({ status: 200 })
  const key = { product_id: 'owned', license_key: owned.license.licenseKey }
  const { body } = await api.ask('POST', '/v1/licenses/validate', { token, body: key })
  expect(body).toMatchObject({ valid: true })
})

test("another tenant's product id is free to take", async () => {
  const body = { name: 'Owned', productId: 'owned' }
  const fresh = await makeTenant(api.ledger)
  expect(await api.ask('POST', '/v1/products', { token: fresh.token, body })).toMatchObject({ status: 201 })
})

test('lists hold nothing of others', async () => {
  const fresh = await makeTenant(api.ledger)
  for (const url of ['/v1/products', '/v1/licenses', '/v1/customers']) {
    const { body } = await api.ask('GET', url, { token: fresh.token })
    expect(body).toStrictEqual({ items: [], nextCursor: null })
  }
})

test('every route that needs a token and takes an id is among these', async () => {
  const { body } = await api.ask('GET', '/v1/openapi.json')
  const { paths } = z
    .object({
      paths: z.record(z.string(), z.record(z.string(), z.looseObject({ security: z.unknown().optional() }))),
    })
    .parse(body)
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) =>
      security === undefined ? `${method.toUpperCase()} ${path}` : [],
    ),
  )
  const withoutIds = [
    'GET /v1/tokens/verify',
    'GET /v1/products',
    'POST /v1/products',
    'GET /v1/customers',
    'POST /v1/customers',
    'GET /v1/sdk-key',
    'POST /v1/sdk-key/rotate',
    'GET /v1/webhook',
    'PUT /v1/webhook',
    'POST /v1/logout',
  ]
  const tried = places.map(([, , request]) => {
    const { method, url } = request('owned')
    return `${method} ${templateOf(url)}`
  })
  expect(new Set(described.filter((route) => !withoutIds.includes(route)))).toStrictEqual(new Set(tried))
})

function templateOf(url: string): string {
  return url
    .replace(/\?.*$/, '')
    .replace(/(\/products\/)[^/]+/, '$1{productId}')
    .replace(/(\/key-types\/)[^/]+/, '$1{keyTypeId}')
    .replace(/(\/licenses\/)lic_[^/]+/, '$1{id}')
    .replace(/(\/customers\/)[^/]+/, '$1{id}')
    .replace(/(\/confirmations\/)cnf_[^/]+/, '$1{id}')
}
