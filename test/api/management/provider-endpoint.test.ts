/**
 * Guarantee: with an API key alone keyledger creates the endpoint at a provider and connects it, once. An endpoint with our
 * address is used or, where that was asked for, replaced. When a provider refuses or fails, nothing is connected.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findIntegration } from '../../../projections/integrations.ts'
import { connectWithEndpoint, disconnectProvider } from '../../../src/commands/integrations/endpoints.ts'
import { newId } from '../../../src/credentials/id.ts'
import type { ProviderWithApi } from '../../../src/domain/integrations/provider.ts'
import { paymentProviders } from '../../../src/payments/registry.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import { endpointsAt } from '../../harness/endpoints.ts'
import { origin } from '../../harness/ledger.ts'
import { barelyKey, goodKey, poorKey } from '../../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'

const baseUrl = 'https://licenses.example.com'
const providers = ['stripe', 'lemonsqueezy', 'paddle', 'polar'] as const
/** Those that do not show a secret again. */
const secretive = ['stripe', 'lemonsqueezy'] as const

let api: SellingApi
let tenant: TestTenant
let key: (provider: ProviderWithApi) => string
let runs = 0
beforeAll(async () => {
  api = await openSellingApi({ baseUrl })
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const ownKey = `rk_live_endpoints_${++runs}`
  api.standIns.stripe.keys.add(ownKey)
  key = (provider) => (provider === 'stripe' ? ownKey : goodKey)
  for (const provider of providers) api.standIns[provider].health = 'well'
  api.standIns.lemonsqueezy.stores.clear()
  api.standIns.lemonsqueezy.stores.set('1', 'Acme')
})

const addressOf = (provider: ProviderWithApi) =>
  provider === 'stripe'
    ? `${baseUrl}/api/stripe/webhook/${tenant.tenantId}`
    : `${baseUrl}/webhooks/${provider}/${tenant.tenantId}`
const there = (provider: ProviderWithApi) =>
  endpointsAt(api.standIns[provider].endpoints, addressOf(provider))
const create = (provider: string, body: object) =>
  api.ask('POST', `/v1/integrations/${provider}/endpoint`, { token: tenant.token, body })
const disconnect = (provider: string, query = '') =>
  api.ask('DELETE', `/v1/integrations/${provider}${query}`, { token: tenant.token })
const integrationOf = (provider: ProviderWithApi) => findIntegration(api.ledger.db, tenant.tenantId, provider)
const putEndpoint = (provider: ProviderWithApi, events: readonly string[], id = `manual_${runs}`) => {
  const by = { name: 'made by hand', secret: 'by_hand' }
  const endpoint = { id, url: addressOf(provider), events: [...events], enabled: true, ...by }
  api.standIns[provider].endpoints.set(id, { ...endpoint, store: '1' })
}
const keptSecret = async (provider: ProviderWithApi) => {
  const name = (await integrationOf(provider))?.credentials.webhookSecret
  return name ? api.ledger.ports.secrets.open(tenant.tenantId, name) : undefined
}
const isConnected = async (provider: ProviderWithApi) =>
  (await integrationOf(provider))?.status === 'connected'

describe.each(providers)('at %s', (provider) => {
  test('the endpoint is created with the URL and the events, and its secret is stored', async () => {
    const answer = await create(provider, { apiKey: key(provider) })
    const [endpoint, ...others] = there(provider)
    expect(others).toStrictEqual([])
    expect(endpoint).toMatchObject({ events: paymentProviders[provider].events, enabled: true })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        integration: { provider, connected: true },
        endpoint: { url: addressOf(provider), id: endpoint?.id, created: true, removed: 0, left: 0 },
      },
    })
    expect(await keptSecret(provider)).toBe(endpoint?.secret)
    expect(answer.text).not.toContain(endpoint?.secret)
  })

  test('a second request returns 409 and creates no second endpoint', async () => {
    await create(provider, { apiKey: key(provider) })
    expect(await create(provider, { apiKey: key(provider), replace: true })).toMatchObject({ status: 409 })
    expect(there(provider)).toHaveLength(1)
  })

  test('two concurrent requests create one endpoint', async () => {
    const both = await Promise.all([1, 2].map(() => create(provider, { apiKey: key(provider) })))
    expect(both.map(({ status }) => status).toSorted()).toStrictEqual([200, 409])
    expect(there(provider)).toHaveLength(1)
    expect(await keptSecret(provider)).toBe(there(provider)[0]?.secret)
  })

  test('an endpoint that lacks events is replaced only with `replace`', async () => {
    putEndpoint(provider, paymentProviders[provider].events.slice(1))
    const refused = await create(provider, { apiKey: key(provider) })
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.text).toContain('replace')
    expect(there(provider)).toMatchObject([{ secret: 'by_hand' }])
    expect(await isConnected(provider)).toBe(false)
    const replaced = await create(provider, { apiKey: key(provider), replace: true })
    expect(replaced.body).toMatchObject({ endpoint: { created: true, removed: 1, left: 0 } })
    expect(there(provider)).toHaveLength(1)
    expect(await keptSecret(provider)).toBe(there(provider)[0]?.secret)
  })

  test('an endpoint left by a crash is used or replaced by the next call', async () => {
    const asked = {
      tenantId: tenant.tenantId,
      provider,
      apiKey: key(provider),
      address: addressOf(provider),
      replace: false,
      store: undefined,
    }
    const operationId = newId('req')
    const { ports } = api.ledger
    const crashing = { ...ports, execute: () => Promise.reject(new Error('killed')) }
    await expect(connectWithEndpoint(crashing, asked, operationId, origin)).rejects.toThrow('killed')
    expect(there(provider)).toHaveLength(1)
    expect(await isConnected(provider)).toBe(false)
    const again = (replace: boolean) => connectWithEndpoint(ports, { ...asked, replace }, operationId, origin)
    if (provider === 'stripe' || provider === 'lemonsqueezy')
      await expect(again(false)).rejects.toMatchObject({ code: 'provider_endpoint_exists' })
    const { endpoint } = await again(true)
    expect(there(provider)).toMatchObject([{ id: endpoint?.id }])
    expect(await keptSecret(provider)).toBe(there(provider)[0]?.secret)
    expect(await again(false)).toMatchObject({ endpoint: null, integration: { status: 'connected' } })
    expect(there(provider)).toHaveLength(1)
  })

  test.each([
    ['cut', 503, 'does not respond'],
    [500, 503, 'does not respond'],
  ] as const)('a provider failure (%s) returns 503 and connects nothing', async (health, status, words) => {
    api.standIns[provider].health = health
    const answer = await create(provider, { apiKey: key(provider) })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(words)
    expect(await isConnected(provider)).toBe(false)
  })

  test('a wrong key returns 422', async () => {
    const answer = await create(provider, { apiKey: provider === 'stripe' ? 'rk_live_wrong' : 'wrong' })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('rejects the key')
    expect(there(provider)).toStrictEqual([])
  })

  test('a key without the permission returns 422 and connects nothing', async () => {
    api.standIns.stripe.keys.add('rk_live_prices')
    api.standIns.stripe.pricesOnlyKeys.add('rk_live_prices')
    const keys = { stripe: 'rk_live_prices', lemonsqueezy: poorKey, paddle: barelyKey, polar: barelyKey }
    const answer = await create(provider, { apiKey: keys[provider] })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('denies this key the permission')
    expect(await isConnected(provider)).toBe(false)
  })

  test('disconnecting removes the endpoint, and a dry run of it does not', async () => {
    await create(provider, { apiKey: key(provider) })
    const id = there(provider)[0]?.id ?? ''
    expect(await disconnect(provider, '?dryRun=true')).toMatchObject({ status: 200 })
    expect(there(provider)).toMatchObject([{ id }])
    const endpoint = { url: addressOf(provider), id, removed: true }
    const answer = await disconnect(provider)
    expect(answer).toMatchObject({ status: 200, body: { integration: { connected: false }, endpoint } })
    expect(there(provider)).toStrictEqual([])
    expect(await disconnect(provider)).toMatchObject({ status: 200, body: { endpoint: null } })
    await create(provider, { apiKey: key(provider) })
    expect(there(provider)).toHaveLength(1)
  })

  test('a crash between the removal and its event is repaired by disconnecting again', async () => {
    await create(provider, { apiKey: key(provider) })
    const { ports } = api.ledger
    const crashing = { ...ports, execute: () => Promise.reject(new Error('killed')) }
    await expect(disconnectProvider(crashing, tenant.tenantId, provider, origin)).rejects.toThrow('killed')
    expect(await isConnected(provider)).toBe(true)
    expect((await disconnect(provider)).body).toMatchObject({ endpoint: { removed: true } })
    expect(await isConnected(provider)).toBe(false)
  })

  test.each(['cut', 500] as const)(
    'a provider failure (%s) leaves the endpoint, and the answer says so',
    async (health) => {
      await create(provider, { apiKey: key(provider) })
      const id = there(provider)[0]?.id ?? ''
      api.standIns[provider].health = health
      const answer = await disconnect(provider)
      expect(answer).toMatchObject({ status: 200, body: { endpoint: { id, removed: false } } })
      expect(await isConnected(provider)).toBe(false)
      expect(there(provider)).toMatchObject([{ id }])
    },
  )

  test('a key that was withdrawn leaves the endpoint, and the answer says so', async () => {
    await create(provider, { apiKey: key(provider) })
    const refusing = { ...api.ledger.ports.secrets, open: async () => 'withdrawn' }
    const ports = { ...api.ledger.ports, secrets: refusing }
    const endpoint = await disconnectProvider(ports, tenant.tenantId, provider, origin)
    expect(endpoint).toStrictEqual({ id: there(provider)[0]?.id, removed: false })
    expect(await isConnected(provider)).toBe(false)
  })
})

test.each(secretive)(
  'at %s an existing endpoint is not used, because its secret is unknown',
  async (provider) => {
    putEndpoint(provider, paymentProviders[provider].events)
    expect(await create(provider, { apiKey: key(provider) })).toMatchObject({ status: 409 })
  },
)

test.each(['paddle', 'polar'] as const)('at %s an existing complete endpoint is used', async (provider) => {
  putEndpoint(provider, paymentProviders[provider].events)
  const { body } = await create(provider, { apiKey: key(provider) })
  expect(body).toMatchObject({ endpoint: { id: `manual_${runs}`, created: false, removed: 0 } })
  expect(await keptSecret(provider)).toBe('by_hand')
  expect(there(provider)).toHaveLength(1)
  // A person has made it, so it stays when the provider is disconnected.
  expect((await disconnect(provider)).body).toMatchObject({ endpoint: null })
  expect(there(provider)).toHaveLength(1)
})

test.each(['paddle', 'polar'] as const)(
  'at %s an endpoint that a crash left is removed with the connection',
  async (provider) => {
    putEndpoint(provider, paymentProviders[provider].events)
    const [left] = there(provider)
    if (left) left.name = 'keyledger'
    expect((await create(provider, { apiKey: key(provider) })).body).toMatchObject({
      endpoint: { created: false },
    })
    expect((await disconnect(provider)).body).toMatchObject({ endpoint: { removed: true } })
    expect(there(provider)).toStrictEqual([])
  },
)

test('at Lemon Squeezy the request must name a store when the account has several', async () => {
  const { stores } = api.standIns.lemonsqueezy
  stores.set('2', 'Other')
  const unnamed = await create('lemonsqueezy', { apiKey: goodKey })
  expect(unnamed.status).toBe(422)
  expect(unnamed.text).toContain('1 (Acme), 2 (Other)')
  expect(await create('lemonsqueezy', { apiKey: goodKey, store: '3' })).toMatchObject({ status: 422 })
  expect(await create('lemonsqueezy', { apiKey: goodKey, store: '2' })).toMatchObject({ status: 200 })
  expect(there('lemonsqueezy')).toMatchObject([{ store: '2' }])
})

test('Gumroad and a secret key of Stripe return 422, an unknown provider 404', async () => {
  expect(await create('gumroad', { apiKey: goodKey })).toMatchObject({ status: 422 })
  expect(await create('absent', { apiKey: goodKey })).toMatchObject({ status: 404 })
  const secretKey = await create('stripe', { apiKey: 'sk_live_1' })
  expect(secretKey.status).toBe(422)
  expect(secretKey.text).toContain('restricted key')
})

test('a URL that the provider does not accept is refused with the reason `endpoint`', async () => {
  for (const provider of providers) {
    const asked = {
      tenantId: tenant.tenantId,
      provider,
      apiKey: key(provider),
      address: `http://localhost/${tenant.tenantId}`,
      replace: false,
      store: undefined,
    }
    const attempt = connectWithEndpoint(api.ledger.ports, asked, newId('req'), origin)
    await expect(attempt).rejects.toMatchObject({ provider, reason: 'endpoint' })
    expect(await isConnected(provider)).toBe(false)
  }
})
