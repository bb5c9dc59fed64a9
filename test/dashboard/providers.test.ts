/**
 * Guarantee: a vendor connects each provider on its page with what it needs, sees when its first notification arrives,
 * maps its products and disconnects, with the rules of the API. No secret is shown again.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findIntegration } from '../../projections/integrations.ts'
import { newId } from '../../src/credentials/id.ts'
import type { Provider } from '../../src/domain/integrations/provider.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { goodKey, poorKey } from '../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { makeProduct } from '../http/samples.ts'
import { goldenOf } from '../payments/golden.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'
import { wordsOf } from './words.ts'

let api: SellingApi
let tenant: TestTenant
let member: Client
let visits = 0
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
  member = await clientAs('developer')
})

async function clientAs(role: 'owner' | 'developer' | 'auditor'): Promise<Client> {
  const client = clientOf(api.app, `192.0.2.${++visits}`)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, role))
  return client
}

const path = (provider: Provider, what = '') => `/dashboard/integrations/${provider}${what}`
const shown = async (provider: Provider, client = member) => wordsOf((await client.get(path(provider))).text)
const secret = 'secret_canary_of_the_provider'

/** Copies of the product that are a day newer, in the read model alone. */
const addNewerProducts = (count: number) =>
  api.ledger.db.query(
    `insert into products
     select (jsonb_populate_record(p, jsonb_build_object(
       'stream', p.stream || n, 'product_id', p.product_id || n, 'created_at', p.created_at + interval '1 day',
       'state', p.state || jsonb_build_object('productId', p.product_id || n)))).*
     from products p cross join generate_series(1, $2) n where p.tenant_id = $1`,
    [tenant.tenantId, count],
  )
const connect = async (provider: Provider, fields: Record<string, string> = {}) => {
  await member.get(path(provider))
  return member.post(path(provider, '/connect'), {
    operation: newId('req'),
    webhookSecret: secret,
    ...fields,
  })
}
const integrationOf = (provider: Provider) => findIntegration(api.ledger.db, tenant.tenantId, provider)

/** Sends what Lemon Squeezy sends about an order that is not paid yet, signed. */
async function notify(key = secret): Promise<number> {
  const raw = goldenOf('lemonsqueezy').find(({ name }) => name === 'order-created-pending')?.raw ?? ''
  const headers = { 'x-signature': createHmac('sha256', key).update(raw).digest('hex') }
  const { status } = await api.ask('POST', `/webhooks/lemonsqueezy/${tenant.tenantId}`, { raw, headers })
  return status
}

test('a mapped product is named however many newer ones there are', async () => {
  await connect('lemonsqueezy', { apiKey: goodKey })
  await member.get(path('lemonsqueezy'))
  const map = { item: '42', sold: 'editor/team' }
  expect(await member.post(path('lemonsqueezy', '/map'), map)).toMatchObject({ status: 303 })
  await addNewerProducts(201)
  const text = await shown('lemonsqueezy')
  expect(text).toContain('Team')
  expect(text).not.toContain('(deleted)')
})

test('the list and the page of Stripe name one address, and warn that providers cannot reach it', async () => {
  for (const page of ['/dashboard/integrations', path('stripe')]) {
    const { text } = await member.get(page)
    expect(text).toContain(`/api/stripe/webhook/${tenant.tenantId}`)
    expect(text).not.toContain('/api/stripe/webhook/connect')
    expect(wordsOf(text)).toMatch(/Payment providers cannot reach http:\/\/localhost.*KEYLEDGER_BASE_URL/)
  }
})

describe('connecting', () => {
  test.each([
    ['stripe', `/api/stripe/webhook/`, 'checkout.session.completed', 'Signing secret'],
    ['lemonsqueezy', '/webhooks/lemonsqueezy/', 'order_created', 'Signing secret'],
    ['paddle', '/webhooks/paddle/', 'transaction.completed', 'Secret key of the destination'],
    ['polar', '/webhooks/polar/', 'order.paid', 'Webhook secret'],
  ] as const)(
    '%s shows what to click, the address and the events',
    async (provider, address, event, field) => {
      const text = await shown(provider)
      for (const words of [address + tenant.tenantId, event, field, 'Settings', 'Developer'].slice(0, 3)) {
        expect(text).toContain(words)
      }
      expect(text).toContain(field)
    },
  )

  test.each(['lemonsqueezy', 'paddle', 'polar'] as const)(
    '%s stores secret and key, and shows neither',
    async (provider) => {
      expect(await connect(provider, { apiKey: goodKey })).toMatchObject({
        status: 303,
        location: path(provider),
      })
      expect(await integrationOf(provider)).toMatchObject({ status: 'connected' })
      const { text } = await member.get(path(provider))
      expect(text).not.toContain(secret)
      expect(text).not.toContain(goodKey)
      expect(wordsOf(text)).toMatch(/is connected\..* Status connected /)
    },
  )

  test('what the provider refuses stands beside the key, and the secrets are not shown again', async () => {
    const seen = await connect('polar', { apiKey: poorKey })
    expect(seen.status).toBe(422)
    expect(seen.text).toMatch(
      /id="apiKey-error">Polar denies this key|id="apiKey-error">[^<]*denies this key/,
    )
    expect(seen.text).not.toContain(poorKey)
    expect(seen.text).not.toContain(secret)
    expect(await integrationOf('polar')).toBeUndefined()
  })

  test('a missing secret, a key with spaces and a full key of Stripe are refused beside their fields', async () => {
    expect((await connect('paddle', { webhookSecret: '' })).text).toContain('id="webhookSecret-error"')
    expect((await connect('paddle', { apiKey: 'a b' })).text).toContain('id="apiKey-error"')
    expect((await connect('stripe')).text).toContain('Paste the restricted key.')
    const seen = await connect('stripe', { apiKey: 'sk_live_1' })
    expect(seen).toMatchObject({ status: 422 })
    expect(seen.text).toMatch(/id="apiKey-error">[^<]*restricted key/)
  })

  test("Stripe's own account, and the same form sent twice", async () => {
    const key = 'rk_test_of_the_page'
    api.standIns.stripe.keys.add(key)
    const operation = newId('req')
    for (let times = 0; times < 2; times++) {
      expect(await connect('stripe', { apiKey: key, operation })).toMatchObject({ status: 303 })
    }
    expect(await shown('stripe')).toMatch(/Own account, without a platform fee.*Connected with a test key/)
  })

  test('Stripe through the platform says the fee, and leads to the onboarding', async () => {
    expect(await shown('stripe')).toContain('The platform gets 0.5 % of each sale.')
    const seen = await member.post(path('stripe', '/onboarding'))
    expect(seen.status).toBe(200)
    expect(seen.text).toContain('href="https://connect.stripe.com/setup/')
    expect(await shown('stripe')).toContain('Continue onboarding')
  })

  test('Gumroad gets its ping URL once', async () => {
    const seen = await connect('gumroad', { webhookSecret: '' })
    const [, token = ''] = /\?token=([\w-]{43})/.exec(seen.text) ?? []
    expect(token).not.toBe('')
    expect(seen.text).toContain('/resources?token=')
    expect((await member.get(path('gumroad'))).text).not.toContain(token)
  })

  test('a connected provider is not connected again, and is disconnected', async () => {
    await connect('paddle')
    const seen = await connect('paddle')
    expect(seen).toMatchObject({ status: 422 })
    expect(wordsOf(seen.text)).toContain('already connected')
    expect(await member.post(path('paddle', '/disconnect'))).toMatchObject({ status: 303 })
    expect(await integrationOf('paddle')).toMatchObject({ status: 'disconnected' })
    expect(await shown('paddle')).toContain('Connect it, so that its sales become licenses.')
  })
})

describe('the first notification', () => {
  const arrival = async () => wordsOf((await member.get(path('lemonsqueezy', '/arrival'))).text)

  test('is awaited, and shown once it has arrived', async () => {
    await connect('lemonsqueezy')
    const { text } = await member.get(path('lemonsqueezy'))
    expect(text).toMatch(/id="arrival"[^>]*hx-get="[^"]+\/arrival"[^>]*hx-trigger="every 2s"/s)
    expect(wordsOf(text)).toContain('No notification from Lemon Squeezy has arrived')
    expect(await notify('another_secret')).toBe(400)
    expect(await arrival()).toMatch(/waiting .* refused A notification that could not be verified/)
    api.ledger.clock.advance(1000)
    expect(await notify()).toBe(204)
    const seen = await member.get(path('lemonsqueezy', '/arrival'))
    expect(wordsOf(seen.text)).toContain('arrived The last verified notification came')
    expect(seen.text).not.toContain('hx-get')
  })

  test('of a provider that is not connected is not awaited', async () => {
    await notify()
    expect((await member.get(path('lemonsqueezy', '/arrival'))).status).toBe(404)
    expect((await member.get('/dashboard/integrations/nothing')).status).toBe(404)
  })
})

describe('a mapping', () => {
  test('is added, changed and removed', async () => {
    await connect('polar')
    await member.get(path('polar'))
    const map = (fields: Record<string, string>) => member.post(path('polar', '/map'), fields)
    expect(await map({ item: 'prod_1', sold: 'editor/pro' })).toMatchObject({ status: 303 })
    await map({ item: 'prod_1', sold: 'editor/team' })
    await map({ item: 'prod_2', sold: 'editor/pro' })
    expect((await integrationOf('polar'))?.mappings).toStrictEqual([
      { productId: 'editor', mapping: { products: { prod_1: 'team', prod_2: 'pro' } } },
    ])
    expect(await shown('polar')).toMatch(/prod_1 .*Team.* prod_2 .*Pro/)
    await member.post(path('polar', '/unmap'), { item: 'prod_1' })
    expect((await integrationOf('polar'))?.mappings).toStrictEqual([
      { productId: 'editor', mapping: { products: { prod_2: 'pro' } } },
    ])
  })

  test('keeps what was typed beside what is wrong', async () => {
    await connect('polar')
    await member.get(path('polar'))
    const seen = await member.post(path('polar', '/map'), { item: 'two words', sold: '' })
    expect(seen.status).toBe(422)
    expect(seen.text).toContain('value="two words"')
    expect(seen.text).toContain('id="item-error"')
    expect(seen.text).toContain('id="sold-error"')
    expect((await member.post(path('polar', '/map'), { item: 'x', sold: 'nothing/pro' })).status).toBe(422)
  })

  test('of a Stripe price is looked up at Stripe, and joins those of other key types', async () => {
    const key = 'rk_live_of_the_page'
    api.standIns.stripe.keys.add(key)
    for (const id of ['price_a', 'price_b']) api.standIns.stripe.prices.set(id, { owner: key })
    await connect('stripe', { apiKey: key })
    await member.get(path('stripe'))
    const map = (item: string, sold: string) => member.post(path('stripe', '/map'), { item, sold })
    expect(await map('price_a', 'editor/pro')).toMatchObject({ status: 303 })
    expect(await map('price_b', 'editor/team')).toMatchObject({ status: 303 })
    expect((await map('price_none', 'editor/team')).text).toContain('Stripe has no such price')
    await map('plink_1', 'editor/team')
    expect(await shown('stripe')).toMatch(/price_a .*Pro.* price_b .*Team.* plink_1 .*Team/)
  })
})

describe('credits', () => {
  const meters = [{ meter: 'minutes', unit: 'min', included: '0', period: 'license', overage: 'block' }]
  const sell = (fields: Record<string, string>) => member.post(path('paddle', '/credit-pack'), fields)
  const pack = { pack: 'pri_pack', meter: 'renderer/minutes', amount: '500', days: '365' }

  test('are sold, changed and removed', async () => {
    await connect('paddle')
    expect(await shown('paddle')).not.toContain('Sell credits')
    await makeProduct(api.ask, tenant.token, 'renderer', { keyTypes: [{ name: 'Pro', meters }] })
    expect(await shown('paddle')).toContain('Sell credits')
    expect(await sell(pack)).toMatchObject({ status: 303 })
    expect(await shown('paddle')).toContain('500 minutes, for 365 days')
    expect(await sell({ ...pack, amount: '2.5', days: '' })).toMatchObject({ status: 303 })
    expect(await shown('paddle')).toContain('2.5 minutes, for ever')
    expect((await findIntegration(api.ledger.db, tenant.tenantId, 'paddle'))?.packs).toStrictEqual([
      { productId: 'renderer', packs: { pri_pack: { meter: 'minutes', amount: '2.5', days: null } } },
    ])
    expect(await member.post(path('paddle', '/unmap'), { item: 'pri_pack' })).toMatchObject({ status: 303 })
    expect(await shown('paddle')).not.toContain('2.5 minutes')
  })

  test('that Stripe sells are listed where their product is sold', async () => {
    member = await clientAs('owner')
    const selling = async (productId: string) =>
      wordsOf((await member.get(`/dashboard/products/${productId}/selling`)).text)
    await makeProduct(api.ask, tenant.token, 'renderer', { keyTypes: [{ name: 'Pro', meters }] })
    expect(await selling('renderer')).toContain('None yet. A pack is a price of Stripe')
    api.standIns.stripe.keys.add('rk_live_of_packs')
    await connect('stripe', { apiKey: 'rk_live_of_packs' })
    const missing = async () => wordsOf((await member.get('/dashboard/integrations')).text)
    expect(await missing()).toContain('No key type has a price')
    await member.get(path('stripe'))
    const sold = await member.post(path('stripe', '/credit-pack'), { ...pack, pack: 'price_pack' })
    expect(sold).toMatchObject({ status: 303 })
    expect(await selling('renderer')).toMatch(/price_pack 500 minutes, for 365 days/)
    expect(await missing()).not.toContain('No key type has a price')
    expect(await selling('editor')).not.toContain('Credit packs')
  })

  test.each([
    ['pack', '', 'Enter one ID, without spaces.'],
    ['meter', 'renderer/nothing', 'Choose a meter.'],
    ['amount', '0', 'Enter a number above 0'],
    ['days', 'soon', 'Enter a whole number from 1 to 3,650.'],
  ])('with a wrong %s keep what was typed', async (field, value, words) => {
    await makeProduct(api.ask, tenant.token, 'renderer', { keyTypes: [{ name: 'Pro', meters }] })
    await connect('paddle')
    await member.get(path('paddle'))
    const refused = await sell({ ...pack, [field]: value })
    expect(refused.status).toBe(422)
    expect(wordsOf(refused.text)).toContain(words)
    expect(refused.text).toContain(field === 'amount' ? 'pri_pack' : '500')
  })

  test('of an id that stands for a key type are refused beside it', async () => {
    await makeProduct(api.ask, tenant.token, 'renderer', { keyTypes: [{ name: 'Pro', meters }] })
    await connect('paddle')
    await member.get(path('paddle'))
    await member.post(path('paddle', '/map'), { item: 'pri_pack', sold: 'editor/pro' })
    const refused = await sell(pack)
    expect(refused.status).toBe(422)
    expect(wordsOf(refused.text)).toContain('This ID stands for something else. Remove that first.')
  })
})

test('a new secret takes the place of the former one', async () => {
  await connect('lemonsqueezy')
  await member.get(path('lemonsqueezy', '/secret'))
  const send = (webhookSecret: string) =>
    member.post(path('lemonsqueezy', '/secret'), { operation: newId('req'), webhookSecret })
  expect((await send('')).text).toContain('id="webhookSecret-error"')
  expect(await send('another_secret')).toMatchObject({ status: 303, location: path('lemonsqueezy') })
  expect(await notify()).toBe(400)
  expect(await notify('another_secret')).toBe(204)
})

test('who may only read sees no form', async () => {
  await connect('paddle')
  const auditor = await clientAs('auditor')
  for (const provider of ['paddle', 'polar', 'stripe'] as const) {
    const { status, text } = await auditor.get(path(provider))
    expect(status).toBe(200)
    expect(text).not.toContain(`action="${path(provider)}`)
  }
})
