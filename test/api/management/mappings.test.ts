/** Guarantee: mappings are unambiguous: every id of a provider maps to one product and one of its key types. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Provider } from '../../../src/domain/integrations/provider.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning } from '../../harness/ledger.ts'
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
const connect = (provider: string, body?: unknown) =>
  asks('POST', `/v1/integrations/${provider}/connect`, body)
const disconnect = (provider: string) => asks('DELETE', `/v1/integrations/${provider}`)
const configure = (productId: string, provider: string, body: unknown) =>
  asks('POST', `/v1/products/${productId}/integrations/${provider}`, body)

const ok = (body: unknown) => ({ status: 200, body })
const refused = (status: number, error: unknown) => ({ status, body: { error } })
const connected = (provider: Provider, products: unknown[] = []) => ({
  provider,
  kind: 'marketplace',
  connected: true,
  connectedAt: beginning,
  products,
})
const notConnected = (provider: Provider, products: unknown[] = []) => ({
  ...connected(provider, products),
  connected: false,
  connectedAt: null,
})
const anyText = expect.any(String) as string

describe('a mapping', () => {
  beforeEach(async () => {
    const keyTypes = [{ name: 'Pro' }, { name: 'Team' }]
    await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
    await makeProduct(api.ask, tenant.token, 'player', { keyTypes })
    for (const provider of ['lemonsqueezy', 'paddle', 'polar'])
      await connect(provider, { webhookSecret: 's' })
    await connect('gumroad')
  })

  test.each([
    ['gumroad', { permalinks: ['abc', 'https://acme.gumroad.com/l/def'] }],
    ['lemonsqueezy', { variants: { '123456': 'pro', '123457': 'team' } }],
    ['paddle', { prices: { pri_01gsz8z1q1n00f12qt82y31smh: 'pro' } }],
    ['polar', { products: { 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23': 'team' } }],
  ] as const)(
    'at %s is stored as given, replaced as a whole, and removed by an empty one',
    async (provider, mapping) => {
      const [field = ''] = Object.keys(mapping)
      const other = field === 'permalinks' ? ['xyz'] : { other: 'pro' }
      const empty = field === 'permalinks' ? [] : {}
      expect(await configure('editor', provider, mapping)).toStrictEqual(
        ok({ integration: connected(provider, [{ productId: 'editor', mapping }]) }),
      )
      expect(await configure('editor', provider, { [field]: other })).toStrictEqual(
        ok({ integration: connected(provider, [{ productId: 'editor', mapping: { [field]: other } }]) }),
      )
      expect(await configure('editor', provider, { [field]: empty })).toStrictEqual(
        ok({ integration: connected(provider) }),
      )
    },
  )

  test.each([
    ['gumroad', { permalinks: ['abc', 'def'] }, { permalinks: ['https://acme.gumroad.com/l/def'] }],
    ['lemonsqueezy', { variants: { '1': 'pro' } }, { variants: { '2': 'pro', '1': 'team' } }],
    ['paddle', { prices: { pri_1: 'pro' } }, { prices: { pri_1: 'pro' } }],
    ['polar', { products: { p1: 'pro' } }, { products: { p1: 'pro' } }],
  ])('at %s returns 409 when another product has the id', async (provider, first, second) => {
    await configure('editor', provider, first)
    expect(await configure('player', provider, second)).toStrictEqual(
      refused(409, 'one of these ids is already mapped to another product; remove that mapping first'),
    )
    expect(await configure('editor', provider, second)).toMatchObject({ status: 200 })
  })

  test.each([
    ['lemonsqueezy', { variants: { '1': 'pro', '2': 'gone' } }],
    ['paddle', { prices: { pri_1: 'gone' } }],
    ['polar', { products: { p1: 'toString' } }],
  ])('at %s returns 422 for an unknown key type', async (provider, mapping) => {
    expect(await configure('editor', provider, mapping)).toStrictEqual(
      refused(422, 'the mapping names a key type that the product does not have'),
    )
  })

  test.each([
    ['gumroad', {}],
    ['gumroad', { permalinks: 'abc' }],
    ['gumroad', { permalinks: ['a b'] }],
    ['gumroad', { permalinks: ['/'] }],
    ['gumroad', { permalinks: [], prices: {} }],
    ['gumroad', { variants: {} }],
    ['lemonsqueezy', { permalinks: [] }],
    ['lemonsqueezy', { variants: { '': 'pro' } }],
    ['paddle', { prices: { pri_1: null } }],
    ['polar', { products: [] }],
    ['stripe', { permalinks: [] }],
    ['polar', { color: 'red' }],
  ])('at %s returns 400 for %j', async (provider, mapping) => {
    expect(await configure('editor', provider, mapping)).toStrictEqual(refused(400, anyText))
  })

  test('requires a product and a connection', async () => {
    expect(await configure('absent', 'gumroad', { permalinks: ['a'] })).toStrictEqual(
      refused(404, 'product not found'),
    )
    await disconnect('gumroad')
    expect(await configure('editor', 'gumroad', { permalinks: ['a'] })).toStrictEqual(
      refused(409, expect.stringContaining('connect it first')),
    )
    expect(await configure('editor', 'stripe', { prices: { pro: 'price_1' } })).toStrictEqual(
      refused(409, expect.stringContaining('connect it first')),
    )
  })

  test('remains after a disconnection', async () => {
    const mapping = { permalinks: ['abc'] }
    await configure('editor', 'gumroad', mapping)
    const products = [{ productId: 'editor', mapping }]
    expect((await disconnect('gumroad')).body).toStrictEqual({
      integration: notConnected('gumroad', products),
      endpoint: null,
    })
    expect((await connect('gumroad')).body).toMatchObject({ integration: connected('gumroad', products) })
  })

  test('of one id succeeds for one of 10 concurrent products', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `racer-${index}`)
    for (const id of ids) await makeProduct(api.ask, tenant.token, id)
    const answers = await Promise.all(ids.map((id) => configure(id, 'gumroad', { permalinks: ['one'] })))
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([200, ...Array<number>(9).fill(409)])
  })
})
