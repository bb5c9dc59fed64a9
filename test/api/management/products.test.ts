/** Guarantee: the fields of a product and their defaults; these tests compare complete bodies. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning } from '../../harness/ledger.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const asks = async (method: 'GET' | 'POST' | 'PATCH', url: string, body?: unknown) => {
  const { status, body: answered } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered }
}

const defaults = {
  freeTierEnabled: false,
  testMode: { enabled: false },
  leaseSeconds: 604_800,
  revalidateAfterSeconds: 3600,
  onRefund: 'revoke',
  keyRecovery: false,
}

const defaultKeyType = {
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

const editor = {
  productId: 'acme-editor',
  name: 'Acme Editor',
  keyPrefix: 'ACMEEDIT',
  settings: defaults,
  keyTypes: [defaultKeyType],
  createdAt: beginning,
  updatedAt: beginning,
}

describe('a product', () => {
  beforeAll(async () => {
    tenant = await makeTenant(api.ledger)
  })

  test('created from a name alone gets an id, a key prefix, the defaults and one key type', async () => {
    expect(await asks('POST', '/v1/products', { name: 'Acme Editor' })).toStrictEqual({
      status: 201,
      body: { product: editor },
    })
    expect(await asks('GET', '/v1/products/acme-editor')).toStrictEqual({
      status: 200,
      body: { product: editor },
    })
  })

  test('created with all fields keeps them; entitlements are sorted without duplicates', async () => {
    const asked = {
      name: 'Acme Player',
      productId: 'player',
      keyPrefix: 'PLAY',
      trialDurationDays: 14,
      freeTierEnabled: true,
      keyTypes: [
        {
          name: 'Pro Team',
          deviceLimit: 3,
          duration: { count: 1, unit: 'year' },
          onExpiry: 'fallback',
          entitlements: ['sync', 'export', 'sync'],
          fallbackEntitlements: ['read'],
          price: { priceId: 'price_1' },
          sellInMultiples: true,
          maxQuantity: 10,
        },
        { keyTypeId: 'solo', name: 'Solo', deviceLimit: null },
      ],
    }
    const product = {
      ...editor,
      productId: 'player',
      name: 'Acme Player',
      keyPrefix: 'PLAY',
      settings: { ...defaults, freeTierEnabled: true, trialDurationDays: 14 },
      keyTypes: [
        {
          ...asked.keyTypes[0],
          keyTypeId: 'pro-team',
          entitlements: ['export', 'sync'],
          price: {
            priceId: 'price_1',
            verified: false,
            unitAmount: null,
            currency: null,
            interval: null,
            verifiedAt: null,
          },
        },
        { ...defaultKeyType, keyTypeId: 'solo', name: 'Solo', deviceLimit: null },
      ],
    }
    expect(await asks('POST', '/v1/products', asked)).toStrictEqual({ status: 201, body: { product } })
  })

  test('with an existing id returns 409 and leaves the existing product unchanged', async () => {
    const taken = await asks('POST', '/v1/products', { name: 'Another', productId: 'acme-editor' })
    expect(taken).toStrictEqual({
      status: 409,
      body: { error: 'a product with this productId already exists; choose another' },
    })
    expect(await asks('GET', '/v1/products/acme-editor')).toMatchObject({ body: { product: editor } })
  })

  test('with two key types of the same id returns 409', async () => {
    const twice = { name: 'Twice', keyTypes: [{ name: 'Pro' }, { name: 'pro' }] }
    expect(await asks('POST', '/v1/products', twice)).toMatchObject({ status: 409 })
  })

  test.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name that gives no id', { name: '日本語' }],
    ['an unknown field', { name: 'A product', color: 'red' }],
    ['an id that is no slug', { name: 'A product', productId: 'a|b' }],
    ['a prefix in lower case', { name: 'A product', keyPrefix: 'acme' }],
    [
      'a setting given twice',
      { name: 'A product', freeTierEnabled: true, settings: { freeTierEnabled: false } },
    ],
    ['a key type without a name', { name: 'A product', keyTypes: [{}] }],
    ['a device limit of 0', { name: 'A product', keyTypes: [{ name: 'Pro', deviceLimit: 0 }] }],
    ['test-mode keys', { name: 'A product', settings: { testMode: { enabled: true } } }],
  ])('with %s returns 400', async (_, body) => {
    expect(await asks('POST', '/v1/products', body)).toStrictEqual({
      status: 400,
      body: { error: expect.any(String) as string },
    })
  })
})

describe('a change of a product', () => {
  let path: string
  beforeAll(async () => {
    tenant = await makeTenant(api.ledger)
    path = `/v1/products/${await makeProduct(api.ask, tenant.token, 'changing')}`
  })
  const changed = async (body: unknown) => (await asks('PATCH', path, body)).body
  const present = { ...editor, productId: 'changing' }

  test('without a difference changes nothing, including updatedAt', async () => {
    api.ledger.clock.advance(1000)
    expect(await asks('PATCH', path, {})).toStrictEqual({ status: 200, body: { product: present } })
    expect(await changed({ name: 'Acme Editor' })).toStrictEqual({ product: present })
  })

  test('keeps omitted fields', async () => {
    api.ledger.clock.set('2026-03-02T00:00:00.000Z')
    expect(await changed({ name: 'Renamed', leaseSeconds: 60 })).toStrictEqual({
      product: {
        ...present,
        name: 'Renamed',
        settings: { ...defaults, leaseSeconds: 60 },
        updatedAt: '2026-03-02T00:00:00.000Z',
      },
    })
    expect(await changed({ keyPrefix: 'NEW', settings: { onRefund: 'keep' } })).toMatchObject({
      product: { name: 'Renamed', keyPrefix: 'NEW', settings: { leaseSeconds: 60, onRefund: 'keep' } },
    })
  })

  test('distinguishes a trial of 0 days from a trial that was never configured', async () => {
    const trial = async (body: unknown) => {
      const { product } = (await changed(body)) as { product: { settings: Record<string, unknown> } }
      return product.settings
    }
    expect(await trial({})).not.toHaveProperty('trialDurationDays')
    expect(await trial({ trialDurationDays: 0 })).toHaveProperty('trialDurationDays', 0)
    expect(await trial({ freeTierEnabled: true })).toHaveProperty('trialDurationDays', 0)
    expect(await trial({ trialDurationDays: null })).not.toHaveProperty('trialDurationDays')
  })

  test.each([
    ['an unknown field', { trialDays: 3 }],
    ['another id', { productId: 'other' }],
    ['null for a name', { name: null }],
    ['a fraction of a day', { trialDurationDays: 1.5 }],
    ['text with NUL', { name: 'a\u0000b' }],
    ['half of a surrogate pair', { name: 'a\ud800' }],
  ])('to %s returns 400', async (_, body) => {
    expect(await asks('PATCH', path, body)).toStrictEqual({
      status: 400,
      body: { error: expect.any(String) as string },
    })
  })

  test('returns 404 for an unknown product', async () => {
    expect(await asks('PATCH', '/v1/products/absent', {})).toStrictEqual({
      status: 404,
      body: { error: 'product not found' },
    })
  })
})

describe('a plan limited to three products', () => {
  beforeAll(async () => {
    tenant = await makeTenant(api.ledger, 'free')
    for (const id of ['one', 'two', 'three']) await makeProduct(api.ask, tenant.token, id)
  })

  test('refuses the fourth with 402, whether or not its id is taken', async () => {
    const refused = {
      status: 402,
      body: { error: 'the plan allows no more products; upgrade to a higher plan' },
    }
    expect(await asks('POST', '/v1/products', { name: 'Four' })).toStrictEqual(refused)
    expect(await asks('POST', '/v1/products', { name: 'One' })).toStrictEqual(refused)
  })

  test('allows changes of the three', async () => {
    expect(await asks('PATCH', '/v1/products/one', { name: 'First' })).toMatchObject({ status: 200 })
  })
})
