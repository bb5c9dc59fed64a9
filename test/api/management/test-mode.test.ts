/**
 * Guarantee: test mode accepts only test keys and seals the secret one, which is destroyed when it is replaced or
 * test mode ends. The free tier can be turned on and off.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { productStream } from '../../../src/domain/streams.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn } from '../../harness/ledger.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
})

const asks = async (method: Method, url: string, body?: unknown) => {
  const { status, body: answered } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered }
}
const anyText = expect.any(String) as string
const recorded = async () =>
  (await eventsIn(api.ledger.ports.ledger, productStream(tenant.tenantId, 'editor'))).map((entry) =>
    entry.readable ? entry.event.type : entry.problem,
  )
const secrets = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    'select name from vault.secrets where tenant_id = $1',
    [tenant.tenantId],
  )
  return Promise.all(rows.map(({ name }) => api.ledger.ports.secrets.open(tenant.tenantId, name)))
}

describe('test mode', () => {
  const keys = { publishableKey: 'pk_test_canary_1', secretKey: 'sk_test_canary_1' }
  const url = '/v1/products/editor/test-mode'
  beforeEach(() => makeProduct(api.ask, tenant.token, 'editor'))

  test('shows the publishable key and seals the secret one', async () => {
    const answer = await asks('POST', url, keys)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        product: {
          productId: 'editor',
          settings: { testMode: { enabled: true, publishableKey: keys.publishableKey } },
        },
      },
    })
    expect((await asks('GET', '/v1/products/editor')).body).toStrictEqual(answer.body)
    expect(JSON.stringify(answer)).not.toContain(keys.secretKey)
    expect(Object.keys((answer.body as { product: object }).product)).not.toContain('testKeys')
    expect(await secrets()).toStrictEqual([keys.secretKey])
    expect(await recorded()).toStrictEqual(['ProductCreated', 'KeyTypeAdded', 'TestModeEnabled'])
  })

  test('records nothing when the keys are unchanged, and replaces them when they differ', async () => {
    await asks('POST', url, keys)
    expect(await asks('POST', url, keys)).toMatchObject({ status: 200 })
    expect(await recorded()).toHaveLength(3)
    const others = { publishableKey: 'pk_test_2', secretKey: 'rk_test_2' }
    expect(await asks('POST', url, others)).toMatchObject({ status: 200 })
    expect(await recorded()).toHaveLength(4)
    expect(await asks('POST', url, { ...others, secretKey: 'rk_test_3' })).toMatchObject({ status: 200 })
    expect(await secrets()).toStrictEqual(['rk_test_3'])
  })

  test('can be turned on without keys, keeps existing keys, and accepts them later', async () => {
    const on = { status: 200, body: { product: { settings: { testMode: { enabled: true } } } } }
    expect(await asks('POST', url, {})).toMatchObject(on)
    expect(await asks('POST', url, {})).toMatchObject(on)
    expect(await recorded()).toStrictEqual(['ProductCreated', 'KeyTypeAdded', 'TestModeSwitchedOn'])
    expect((await asks('GET', '/v1/products/editor')).body).not.toHaveProperty(
      'product.settings.testMode.publishableKey',
    )
    await asks('POST', url, keys)
    expect(await asks('POST', url, {})).toMatchObject({
      body: { product: { settings: { testMode: { enabled: true, publishableKey: keys.publishableKey } } } },
    })
    expect(await secrets()).toStrictEqual([keys.secretKey])
    expect(await asks('DELETE', url)).toMatchObject({
      body: { product: { settings: { testMode: { enabled: false } } } },
    })
    expect(await secrets()).toStrictEqual([])
  })

  test('is turned off once and destroys the secret key', async () => {
    await asks('POST', url, keys)
    for (let times = 0; times < 2; times++) {
      expect(await asks('DELETE', url)).toMatchObject({
        status: 200,
        body: { product: { settings: { testMode: { enabled: false } } } },
      })
    }
    expect(await secrets()).toStrictEqual([])
    expect(await recorded()).toStrictEqual([
      'ProductCreated',
      'KeyTypeAdded',
      'TestModeEnabled',
      'TestModeDisabled',
    ])
  })

  test.each([
    ['live keys', { publishableKey: 'pk_live_1', secretKey: 'sk_live_1' }],
    ['a live secret key', { ...keys, secretKey: 'sk_live_1' }],
    ['a live restricted key', { ...keys, secretKey: 'rk_live_1' }],
    ['a live publishable key', { ...keys, publishableKey: 'pk_live_1' }],
    ['the keys swapped', { publishableKey: keys.secretKey, secretKey: keys.publishableKey }],
    ['a prefix alone', { ...keys, secretKey: 'sk_test_' }],
    ['white space', { ...keys, secretKey: 'sk_test_1 2' }],
  ])('with %s returns 422', async (_, body) => {
    const { status, body: said } = await asks('POST', url, body)
    expect({ status, said }).toStrictEqual({
      status: 422,
      said: { error: expect.stringContaining('test mode accepts test keys only') as string },
    })
    expect(await recorded()).toHaveLength(2)
    expect(await secrets()).toStrictEqual([])
  })

  test.each([
    ['no body', undefined],
    ['one key', { publishableKey: 'pk_test_1' }],
    ['the other key', { secretKey: 'sk_test_1' }],
    ['a number', { ...keys, secretKey: 1 }],
    ['an unknown field', { ...keys, webhookSecret: 'whsec_1' }],
  ])('with %s returns 400', async (_, body) => {
    expect(await asks('POST', url, body)).toStrictEqual({ status: 400, body: { error: anyText } })
  })

  test('is turned on by the next call after a kill between the vault and the event', async () => {
    const { ports } = api.ledger
    const { execute } = ports
    ports.execute = () => Promise.reject(new Error('the process was killed'))
    expect(await asks('POST', url, keys)).toMatchObject({ status: 500 })
    ports.execute = execute
    expect((await asks('GET', '/v1/products/editor')).body).toMatchObject({
      product: { settings: { testMode: { enabled: false } } },
    })
    expect(await asks('POST', url, keys)).toMatchObject({ status: 200 })
    expect(await recorded()).toHaveLength(3)
  })

  test('destroys the secret key in the next call after a kill between the event and the vault', async () => {
    await asks('POST', url, keys)
    const { ports } = api.ledger
    const { secrets: whole } = ports
    ports.secrets = { ...whole, destroy: () => Promise.reject(new Error('the process was killed')) }
    expect(await asks('DELETE', url)).toMatchObject({ status: 500 })
    ports.secrets = whole
    expect(await secrets()).toStrictEqual([keys.secretKey])
    expect(await asks('DELETE', url)).toMatchObject({ status: 200 })
    expect(await secrets()).toStrictEqual([])
  })
})

test('the free tier can be turned on and off', async () => {
  await makeProduct(api.ask, tenant.token, 'editor')
  for (const enabled of [true, true, false]) {
    expect(await asks('POST', '/v1/products/editor/free-tier', { enabled })).toMatchObject({
      status: 200,
      body: { product: { settings: { freeTierEnabled: enabled } } },
    })
  }
  expect(await recorded()).toStrictEqual([
    'ProductCreated',
    'KeyTypeAdded',
    'ProductSettingsChanged',
    'ProductSettingsChanged',
  ])
  for (const body of [{}, { enabled: 'yes' }, { enabled: true, other: 1 }]) {
    expect(await asks('POST', '/v1/products/editor/free-tier', body)).toMatchObject({ status: 400 })
  }
})
