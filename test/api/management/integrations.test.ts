/**
 * Guarantee: each of the five providers is connected once with what it needs, mapped so that a sale has exactly one
 * product, and disconnected. When a provider refuses or does not respond, nothing changes.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { connectMarketplace } from '../../../src/commands/integrations/integrations.ts'
import { sha256 } from '../../../src/credentials/sha256.ts'
import type { Provider } from '../../../src/domain/integrations/provider.ts'
import { integrationStream } from '../../../src/domain/streams.ts'
import { type Method, makeTenant, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn, origin } from '../../harness/ledger.ts'
import { goodKey, type ProviderStandIns, poorKey } from '../../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'

let standIns: ProviderStandIns
let api: SellingApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openSellingApi()
  ;({ standIns } = api)
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  for (const standIn of [standIns.paddle, standIns.polar, standIns.lemonsqueezy]) {
    standIn.health = 'well'
    standIn.asked.length = 0
  }
})

const asks = async (method: Method, url: string, body?: unknown) => {
  const { status, body: answered, headers } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered, retryAfter: headers['retry-after'] }
}
const connect = (provider: string, body?: unknown) =>
  asks('POST', `/v1/integrations/${provider}/connect`, body)
const disconnect = (provider: string) => asks('DELETE', `/v1/integrations/${provider}`)
const configure = (productId: string, provider: string, body: unknown) =>
  asks('POST', `/v1/products/${productId}/integrations/${provider}`, body)

const ok = (body: unknown) => ({ status: 200, body, retryAfter: undefined })
const refused = (status: number, error: unknown) => ({ status, body: { error }, retryAfter: undefined })
const notConnected = (provider: Provider, products: unknown[] = []) => ({
  provider,
  kind: provider === 'stripe' ? 'card' : 'marketplace',
  connected: false,
  connectedAt: null,
  products,
})
const connected = (provider: Provider, products: unknown[] = []) => ({
  ...notConnected(provider, products),
  connected: true,
  connectedAt: beginning,
})
const anyText = expect.any(String) as string
const eventTypes = async (provider: Provider) =>
  (await eventsIn(api.ledger.ports.ledger, integrationStream(tenant.tenantId, provider))).map((entry) =>
    entry.readable ? entry.event.type : entry,
  )
const secrets = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    'select name from vault.secrets where tenant_id = $1 order by name',
    [tenant.tenantId],
  )
  return rows.map(({ name }) => name)
}

describe('the list', () => {
  test('contains all five providers, none connected at first', async () => {
    expect(await asks('GET', '/v1/integrations')).toStrictEqual(
      ok({
        items: (['stripe', 'gumroad', 'lemonsqueezy', 'paddle', 'polar'] as const).map((provider) =>
          notConnected(provider),
        ),
        nextCursor: null,
      }),
    )
  })

  test('shows connections and mappings only to their tenant', async () => {
    await makeProduct(api.ask, tenant.token, 'editor', {
      keyTypes: [{ name: 'Pro', price: { priceId: 'price_1' } }],
    })
    await connect('gumroad')
    await configure('editor', 'gumroad', { permalinks: ['editor'] })
    const { body } = await asks('GET', '/v1/integrations')
    expect(body).toMatchObject({
      items: [
        notConnected('stripe', [{ productId: 'editor', mapping: { prices: { pro: 'price_1' } } }]),
        connected('gumroad', [{ productId: 'editor', mapping: { permalinks: ['editor'] } }]),
        notConnected('lemonsqueezy'),
        notConnected('paddle'),
        notConnected('polar'),
      ],
    })
    tenant = await makeTenant(api.ledger)
    expect((await asks('GET', '/v1/integrations')).body).toMatchObject({
      items: [{ products: [], connected: false }, { products: [], connected: false }, {}, {}, {}],
    })
  })

  test.each([1, 2, 3, 4, 5, 100])('can be read in pages of %i', async (limit) => {
    const Page = z.object({
      items: z.array(z.object({ provider: z.string() })),
      nextCursor: z.string().nullable(),
    })
    const providers: string[] = []
    let cursor: string | null = ''
    for (let pages = 0; cursor !== null && pages < 6; pages++) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await asks('GET', `/v1/integrations?limit=${limit}${query}`)
      const page: z.infer<typeof Page> = Page.parse(body)
      expect(page.items.length).toBeLessThanOrEqual(limit)
      providers.push(...page.items.map(({ provider }) => provider))
      cursor = page.nextCursor
    }
    expect(providers).toStrictEqual(['stripe', 'gumroad', 'lemonsqueezy', 'paddle', 'polar'])
  })

  test("refuses another list's cursor", async () => {
    await makeProduct(api.ask, tenant.token, 'one')
    await makeProduct(api.ask, tenant.token, 'two')
    const { body } = await asks('GET', '/v1/products?limit=1')
    const { nextCursor } = z.object({ nextCursor: z.string() }).parse(body)
    expect(await asks('GET', `/v1/integrations?cursor=${nextCursor}`)).toStrictEqual(refused(400, anyText))
  })
})

describe('gumroad', () => {
  const PingUrl = z.object({ pingUrl: z.string() })

  test('needs no credentials; its ping URL is returned once, and its token is stored as a hash', async () => {
    const answer = await connect('gumroad')
    const { pingUrl } = PingUrl.parse(answer.body)
    expect(answer).toStrictEqual(ok({ integration: connected('gumroad'), pingUrl }))
    const { origin, pathname, searchParams } = new URL(pingUrl)
    expect(origin + pathname).toBe(`http://localhost:8080/webhooks/gumroad/${tenant.tenantId}`)
    const token = searchParams.get('token') ?? ''
    expect(token).toMatch(/^[\w-]{43}$/)
    const { text } = await api.ask('GET', '/v1/integrations', { token: tenant.token })
    expect(text).not.toContain(token)
    const [event] = await eventsIn(api.ledger.ports.ledger, integrationStream(tenant.tenantId, 'gumroad'))
    expect(event).toMatchObject({ event: { data: { credentials: { pingToken: { hash: sha256(token) } } } } })
  })

  test('accepts only an empty body', async () => {
    expect(await connect('gumroad', { apiKey: 'key' })).toStrictEqual(refused(400, anyText))
    expect(await connect('gumroad', { webhookSecret: 'secret' })).toStrictEqual(refused(400, anyText))
    expect(await connect('gumroad', {})).toMatchObject({ status: 200 })
  })

  test('gets a new token when it is connected again', async () => {
    const first = PingUrl.parse((await connect('gumroad')).body).pingUrl
    expect(await disconnect('gumroad')).toStrictEqual(
      ok({ integration: notConnected('gumroad'), endpoint: null }),
    )
    expect(await secrets()).toStrictEqual([])
    const second = PingUrl.parse((await connect('gumroad')).body).pingUrl
    expect(second).not.toBe(first)
    expect(await secrets()).toHaveLength(1)
  })
})

describe.each(['lemonsqueezy', 'paddle', 'polar'] as const)('%s', (provider) => {
  const webhookSecret = 'whsec_canary_of_the_provider'

  test('is connected with a webhook secret, which is sealed in the vault', async () => {
    expect(await connect(provider, { webhookSecret })).toStrictEqual(ok({ integration: connected(provider) }))
    const [name = ''] = await secrets()
    expect(name).toMatch(new RegExp(`^integration\\.${provider}\\.req_\\w+\\.webhookSecret$`))
    expect(await api.ledger.ports.secrets.open(tenant.tenantId, name)).toBe(webhookSecret)
    expect(standIns[provider].asked).toStrictEqual([])
  })

  test('is connected with an API key after a test request with it', async () => {
    expect(await connect(provider, { webhookSecret, apiKey: goodKey })).toMatchObject({ status: 200 })
    expect(standIns[provider].asked.map(({ method, key }) => ({ method, key }))).toStrictEqual([
      { method: 'GET', key: goodKey },
    ])
    const [apiKey = ''] = await secrets()
    expect(await api.ledger.ports.secrets.open(tenant.tenantId, apiKey)).toBe(goodKey)
  })

  test.each([
    ['key_nobody_knows', `${provider} rejects the key`],
    [poorKey, `${provider} denies this key the permission`],
  ])('is not connected when it rejects the API key %s', async (apiKey, message) => {
    expect(await connect(provider, { webhookSecret, apiKey })).toStrictEqual(
      refused(422, expect.stringContaining(message)),
    )
    expect(await eventTypes(provider)).toStrictEqual([])
    expect(await secrets()).toStrictEqual([])
  })

  test.each(['silent', 'cut', 503] as const)(
    'returns 503 and changes nothing while the provider is %s',
    async (health) => {
      standIns[provider].health = health
      const answer = await connect(provider, { webhookSecret, apiKey: goodKey })
      expect(answer).toStrictEqual({
        status: 503,
        body: { error: `${provider} does not respond; nothing was changed, so retry` },
        retryAfter: expect.stringMatching(/^\d+$/) as string,
      })
      expect(await eventTypes(provider)).toStrictEqual([])
      expect(await secrets()).toStrictEqual([])
      standIns[provider].health = 'well'
      expect(await connect(provider, { webhookSecret, apiKey: goodKey })).toMatchObject({ status: 200 })
    },
  )

  test.each([
    ['no body', undefined],
    ['no secret', {}],
    ['an API key alone', { apiKey: goodKey }],
    ['an unknown field', { webhookSecret, color: 'red' }],
    ['an empty secret', { webhookSecret: '' }],
    ['a secret with white space', { webhookSecret: 'a b' }],
    ['an API key that is no valid header value', { webhookSecret, apiKey: 'key\nX-Header: 1' }],
    ['an API key beyond ASCII', { webhookSecret, apiKey: 'schlüssel' }],
    ['a number for a secret', { webhookSecret: 1 }],
  ])('returns 400 for %s', async (_, body) => {
    expect(await connect(provider, body)).toStrictEqual(refused(400, anyText))
  })

  test('returns 409 and keeps its secrets when it is already connected', async () => {
    await connect(provider, { webhookSecret })
    const before = await secrets()
    expect(await connect(provider, { webhookSecret: 'another' })).toStrictEqual(
      refused(409, 'the provider is already connected; disconnect it first'),
    )
    expect(await secrets()).toStrictEqual(before)
    expect(await eventTypes(provider)).toStrictEqual(['MarketplaceConnected'])
  })

  test('destroys its secrets when it is disconnected; a second call changes nothing', async () => {
    await connect(provider, { webhookSecret, apiKey: goodKey })
    for (let times = 0; times < 2; times++) {
      expect(await disconnect(provider)).toStrictEqual(
        ok({ integration: notConnected(provider), endpoint: null }),
      )
    }
    expect(await secrets()).toStrictEqual([])
    expect(await eventTypes(provider)).toStrictEqual(['MarketplaceConnected', 'IntegrationDisconnected'])
    expect(await connect(provider, { webhookSecret: 'another' })).toMatchObject({ status: 200 })
  })
})

test('of 20 concurrent connections one succeeds, and one token is stored', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => connect('gumroad')))
  expect(answers.map(({ status }) => status).sort()).toStrictEqual([200, ...Array<number>(19).fill(409)])
  expect(await eventTypes('gumroad')).toStrictEqual(['MarketplaceConnected'])
  expect(await secrets()).toHaveLength(1)
})

describe('a killed process', () => {
  const killed = () => Promise.reject(new Error('the process was killed'))

  test('between the vault and the event leaves nothing connected; the next call connects with one token', async () => {
    const { ports } = api.ledger
    const { execute } = ports
    ports.execute = killed
    expect(await connect('gumroad')).toMatchObject({ status: 500 })
    ports.execute = execute
    expect((await asks('GET', '/v1/integrations')).body).toMatchObject({
      items: [{}, { connected: false }, {}, {}, {}],
    })
    const { pingUrl } = z.object({ pingUrl: z.string() }).parse((await connect('gumroad')).body)
    const hash = sha256(new URL(pingUrl).searchParams.get('token') ?? '')
    const [event, ...others] = await eventsIn(
      api.ledger.ports.ledger,
      integrationStream(tenant.tenantId, 'gumroad'),
    )
    expect(event).toMatchObject({ event: { data: { credentials: { pingToken: { hash } } } } })
    expect(others).toStrictEqual([])
  })

  test('between the vault and the event keeps the secrets for a repeat of the same operation', async () => {
    const { ports } = api.ledger
    const run = () => connectMarketplace(ports, tenant.tenantId, { provider: 'gumroad' }, 'op_once', origin)
    const { execute } = ports
    ports.execute = killed
    await expect(run()).rejects.toThrow('killed')
    ports.execute = execute
    const [name = ''] = await secrets()
    const sealed = await ports.secrets.open(tenant.tenantId, name)
    expect((await run()).pingToken).toBe(sealed)
    expect((await run()).pingToken).toBe(sealed)
    expect(await secrets()).toStrictEqual([name])
    expect(await eventTypes('gumroad')).toStrictEqual(['MarketplaceConnected'])
  })

  test('between the event and the vault leaves secrets that the next call destroys', async () => {
    await connect('paddle', { webhookSecret: 'secret' })
    const { ports } = api.ledger
    const whole = ports.secrets
    ports.secrets = { ...whole, destroy: killed }
    expect(await disconnect('paddle')).toMatchObject({ status: 500 })
    ports.secrets = whole
    expect(await secrets()).toHaveLength(1)
    expect(await disconnect('paddle')).toMatchObject({ status: 200 })
    expect(await secrets()).toStrictEqual([])
  })
})

test.each(['ebay', 'Gumroad', 'stripe2', '__proto__', '%00'])(
  'the unknown provider %s returns 404',
  async (provider) => {
    await makeProduct(api.ask, tenant.token, 'editor')
    const nothing = refused(404, 'provider not found')
    expect(await connect(provider, { webhookSecret: 'secret' })).toStrictEqual(nothing)
    expect(await disconnect(provider)).toStrictEqual(nothing)
    expect(await configure('editor', provider, { permalinks: [] })).toStrictEqual(nothing)
  },
)
