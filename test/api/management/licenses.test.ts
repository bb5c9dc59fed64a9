/**
 * Guarantee: a license takes its terms from its key type when it is minted, and its raw key is returned only then.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, origin } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyPrefix: 'ACME',
    keyTypes: [
      { name: 'Basic' },
      {
        name: 'Team',
        deviceLimit: 2,
        duration: { count: 1, unit: 'month' },
        entitlements: ['export', 'sync'],
        sellInMultiples: true,
        maxQuantity: 5,
      },
    ],
  })
})
afterAll(() => api.close())

const asks = async (method: 'GET' | 'POST' | 'PATCH', url: string, sent?: unknown) => {
  const { status, body } = await api.ask(method, url, { token: tenant.token, body: sent })
  return { status, body }
}

const ofKey = expect.stringMatching(/^ACME(-[0-9A-HJKMNP-TV-Z]{5}){5}-[0-9A-HJKMNP-TV-Z]$/) as string
const ofId = expect.stringMatching(/^lic_[0-9a-hjkmnp-tv-z]{26}$/) as string

const basic = {
  id: ofId,
  productId: 'editor',
  keyTypeId: 'basic',
  displayKey: expect.stringMatching(/^ACME…[0-9A-HJKMNP-TV-Z]{4}$/) as string,
  status: 'active',
  quantity: 1,
  deviceLimit: 1,
  seatsUsed: 0,
  entitlements: [],
  expiresAt: null,
  email: null,
  customerId: null,
  source: 'api',
  saleId: null,
  test: false,
  metadata: {},
  createdAt: beginning,
}

const ofLicense = expect.stringMatching(/\/v1\/licenses\/lic_[0-9a-z]{26}\/receipt$/) as string

describe('a minted license', () => {
  test('has the first key type and its terms when only the product is given', async () => {
    expect(await asks('POST', '/v1/licenses', { productId: 'editor' })).toStrictEqual({
      status: 201,
      body: { license: basic, licenseKey: ofKey, receiptUrl: ofLicense },
    })
  })

  test('keeps all given fields, and gets its device limit per unit and its expiry from the key type', async () => {
    const asked = {
      productId: 'editor',
      keyTypeId: 'team',
      quantity: 3,
      email: 'ada@example.com',
      name: 'Ada',
      metadata: { order: '17' },
    }
    const { status, body } = await asks('POST', '/v1/licenses', asked)
    const license = {
      ...basic,
      keyTypeId: 'team',
      quantity: 3,
      deviceLimit: 6,
      entitlements: ['export', 'sync'],
      expiresAt: '2026-04-01T12:00:00.000Z',
      email: 'ada@example.com',
      customerId: expect.stringMatching(/^cus_/) as string,
      metadata: { order: '17' },
    }
    expect({ status, body }).toStrictEqual({
      status: 201,
      body: { license, licenseKey: ofKey, receiptUrl: ofLicense },
    })
    const { id } = z.object({ license: z.looseObject({ id: z.string() }) }).parse(body).license
    expect(await asks('GET', `/v1/licenses/${id}`)).toStrictEqual({
      status: 200,
      body: { license: { ...license, id, devices: [] } },
    })
  })

  test('has the given terms, in whole seconds and UTC', async () => {
    const own = { keyTypeId: 'team', deviceLimit: null, expiresAt: '2027-01-01T00:30:00.9+01:00' }
    const { body } = await asks('POST', '/v1/licenses', { productId: 'editor', ...own })
    expect(body).toMatchObject({ license: { deviceLimit: null, expiresAt: '2026-12-31T23:30:00.000Z' } })
    const perpetual = await asks('POST', '/v1/licenses', { ...own, productId: 'editor', expiresAt: null })
    expect(perpetual.body).toMatchObject({ license: { expiresAt: null } })
  })

  test('shows its devices, oldest activation first, including deactivated ones', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { deviceLimit: 2 })
    const on = (deviceId: string) => ({ product_id: 'editor', license_key: licenseKey, device_id: deviceId })
    await asks('POST', '/v1/licenses/activate', { ...on('one'), name: 'First' })
    api.ledger.clock.advance(1000)
    await asks('POST', '/v1/licenses/activate', on('two'))
    api.ledger.clock.advance(1000)
    await asks('POST', '/v1/licenses/deactivate', on('one'))
    const instanceId = expect.stringMatching(/^ins_/) as string
    const { body } = await asks('GET', `/v1/licenses/${id}`)
    expect(body).toMatchObject({ license: { seatsUsed: 1 } })
    expect(
      z.object({ license: z.looseObject({ devices: z.unknown() }) }).parse(body).license.devices,
    ).toStrictEqual([
      {
        deviceId: 'one',
        instanceId,
        name: 'First',
        platform: null,
        status: 'deactivated',
        activatedAt: '2026-03-01T12:00:00.000Z',
        deactivatedAt: '2026-03-01T12:00:02.000Z',
        telemetry: null,
      },
      {
        deviceId: 'two',
        instanceId,
        name: 'two',
        platform: null,
        status: 'active',
        activatedAt: '2026-03-01T12:00:01.000Z',
        deactivatedAt: null,
        telemetry: null,
      },
    ])
  })

  test('shows when it was revoked', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'team' })
    await revokeLicense(api.ledger.ports, tenant.tenantId, id, 'a chargeback', origin)
    const now = api.ledger.clock.now().toISOString()
    const { body } = await asks('GET', `/v1/licenses/${id}`)
    expect(body).toMatchObject({ license: { status: 'revoked', revokedAt: now, entitlements: [] } })
    expect(body).not.toHaveProperty('license.revokedReason')
  })
})

describe('a request to mint', () => {
  test.each([
    ['no product', {}],
    ['an unknown field', { productId: 'editor', seats: 3 }],
    ['a quantity of 0', { productId: 'editor', quantity: 0 }],
    ['an invalid email address', { productId: 'editor', email: 'ada' }],
    ['an invalid time', { productId: 'editor', expiresAt: 'tomorrow' }],
    ['a day that does not exist', { productId: 'editor', expiresAt: '2027-02-30T00:00:00Z' }],
    ['a year of five digits in UTC', { productId: 'editor', expiresAt: '9999-12-31T23:59:59-01:00' }],
    ['a number among the metadata', { productId: 'editor', metadata: { a: 1 } }],
    [
      'more than fifty pairs of metadata',
      { productId: 'editor', metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, ''])) },
    ],
    ['metadata under half of a surrogate pair', { productId: 'editor', metadata: { '\ud800': '' } }],
    ['metadata with NUL', { productId: 'editor', metadata: { a: '\u0000' } }],
    ['a name with NUL', { productId: 'editor', email: 'ada@example.com', name: '\u0000' }],
  ])('with %s returns 400', async (_, body) => {
    expect(await asks('POST', '/v1/licenses', body)).toStrictEqual({
      status: 400,
      body: { error: expect.any(String) as string },
    })
  })

  test.each([
    [{ productId: 'absent' }, 'product not found'],
    [{ productId: 'editor', keyTypeId: 'absent' }, 'key type not found'],
    [{ productId: 'editor', customerId: 'cus_absent' }, 'customer not found'],
    [{ productId: 'absent', expiresAt: '2001-01-01T00:00:00Z' }, 'product not found'],
  ])('for %j returns 404', async (body, error) => {
    expect(await asks('POST', '/v1/licenses', body)).toStrictEqual({ status: 404, body: { error } })
  })

  test.each([
    [{ quantity: 2 }, 'this key type is not sold in multiples; omit quantity'],
    [
      { keyTypeId: 'team', quantity: 6 },
      "quantity is greater than the key type's maxQuantity, or than a meter can hold; choose a smaller one",
    ],
    [{ expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt must be in the future'],
  ])('with %j returns 422', async (asked, error) => {
    const answered = await asks('POST', '/v1/licenses', { productId: 'editor', ...asked })
    expect(answered).toStrictEqual({ status: 422, body: { error } })
  })

  test('mints nothing when it is refused', async () => {
    const before = await asks('GET', '/v1/licenses?limit=100')
    await asks('POST', '/v1/licenses', { productId: 'editor', quantity: 2 })
    await asks('POST', '/v1/licenses', { productId: 'editor', seats: 3 })
    expect(await asks('GET', '/v1/licenses?limit=100')).toStrictEqual(before)
  })
})

test('a raw key is only in the response to the mint', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const { token } = tenant
  for (const url of ['/v1/licenses', `/v1/licenses/${id}`, '/v1/licenses?product=editor&status=active']) {
    const { text, status } = await api.ask('GET', url, { token })
    expect(status).toBe(200)
    expect(text).toContain(id)
    expect(text).not.toContain(licenseKey)
    expect(text).not.toContain(licenseKey.replaceAll('-', ''))
  }
})

test.each(['lic_absent', 'a', '%00', 'lic_%2F..', 'x'.repeat(90)])(
  'the license id %s returns 404',
  async (id) => {
    expect(await asks('GET', `/v1/licenses/${id}`)).toStrictEqual({
      status: 404,
      body: { error: 'license not found' },
    })
  },
)

test('an edit of the key type changes the entitlements of existing licenses, but not their device limit or expiry', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'team', quantity: 2 })
  const before = (await asks('GET', `/v1/licenses/${id}`)).body
  await asks('PATCH', '/v1/products/editor/key-types/team', {
    deviceLimit: 50,
    duration: { count: 3, unit: 'year' },
    entitlements: ['replaced'],
    onExpiry: 'fallback',
  })
  const { license } = z.object({ license: z.record(z.string(), z.unknown()) }).parse(before)
  expect(license).toMatchObject({ deviceLimit: 4 })
  expect((await asks('GET', `/v1/licenses/${id}`)).body).toStrictEqual({
    license: { ...license, entitlements: ['replaced'] },
  })
  const activated = await asks('POST', '/v1/licenses/activate', {
    product_id: 'editor',
    license_key: licenseKey,
    device_id: 'laptop',
  })
  expect(activated.body).toMatchObject({ activated: true, entitlements: ['replaced'] })
})
