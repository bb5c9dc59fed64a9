/**
 * Guarantee: a vendor chooses what they sell at a provider by its name, and maps it. Where the key may not list it, or the
 * provider does not answer, the page says what to do.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findIntegration } from '../../projections/integrations.ts'
import { newId } from '../../src/credentials/id.ts'
import type { Provider } from '../../src/domain/integrations/provider.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { barelyKey, goodKey, platformKey } from '../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { makeProduct } from '../http/samples.ts'
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
  api.standIns.stripe.health = 'well'
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
  member = clientOf(api.app, `192.0.2.${++visits}`)
  await member.signIn(await makeMember(api.ledger, tenant.tenantId, 'developer'))
})

const path = (provider: Provider, what = '') => `/dashboard/integrations/${provider}${what}`
const listed = async (provider: Provider) => wordsOf((await member.get(path(provider, '/items'))).text)

async function connect(provider: Provider, apiKey?: string): Promise<void> {
  await member.get(path(provider))
  const fields = { operation: newId('req'), webhookSecret: 'secret_canary', ...(apiKey && { apiKey }) }
  expect(await member.post(path(provider, '/connect'), fields)).toMatchObject({ status: 303 })
}

/** Connects a key of an own account at Stripe, which has these prices. */
async function connectStripe(prices: Record<string, object>): Promise<string> {
  const key = `rk_live_${visits}`
  const { stripe } = api.standIns
  stripe.keys.add(key)
  for (const [id, price] of Object.entries(prices)) stripe.prices.set(id, { owner: key, ...price })
  await connect('stripe', key)
  return key
}

const editor = { name: 'Photo editor', active: true }

describe('Stripe', () => {
  test('lists active prices by product and amount, and one of them is mapped', async () => {
    const yearly = { interval: 'year', interval_count: 1 }
    await connectStripe({
      price_list_a: { product: editor, nickname: 'Yearly', recurring: yearly },
      price_list_b: { product: editor, unit_amount: null },
      price_list_c: { product: { name: 'Old editor', active: false } },
      price_list_d: { product: editor, active: false },
    })
    const { text } = await member.get(path('stripe'))
    expect(text).toContain(`href="${path('stripe', '/items')}"`)
    expect(await listed('stripe')).toMatch(
      /Choose a price Photo editor, Yearly · \$29\.00 per year · price_list_a Photo editor · price_list_b Is sold as/,
    )
    const sent = { item: 'price_list_a', sold: 'editor/pro' }
    expect(await member.post(path('stripe', '/map'), sent)).toMatchObject({ status: 303 })
    expect(await listed('stripe')).toMatch(
      /Choose a price Photo editor · price_list_b Photo editor, Yearly · \$29\.00 per year · sold as Acme Editor, Pro Is sold as/,
    )
  })

  test('of a platform is asked for the connected account', async () => {
    const account = `acct_${tenant.tenantId}`
    api.standIns.stripe.accounts.set(account, { detailsSubmitted: true, chargesEnabled: true })
    api.standIns.stripe.prices.set('price_list_e', { owner: account, product: editor })
    await connectAccount(api.ledger.ports, tenant.tenantId, account)
    expect(await listed('stripe')).toContain('price_list_e')
    expect(api.standIns.stripe.asked.at(-1)).toMatchObject({ key: platformKey })
  })

  test('says what a key that may not read products needs', async () => {
    const key = await connectStripe({ price_list_f: { product: editor } })
    api.standIns.stripe.pricesOnlyKeys.add(key)
    const text = await listed('stripe')
    expect(text).toContain('The key may not list prices. Edit the restricted key at Stripe')
    expect(text).toContain('Map by ID')
    expect(text).not.toContain('price_list_f')
  })

  test('that does not answer, or answers nonsense, leaves the form by ID', async () => {
    await connectStripe({})
    expect(await listed('stripe')).toContain('Stripe lists no price that is for sale.')
    for (const health of ['silent', 'garbled', 500] as const) {
      api.standIns.stripe.health = health
      expect(await listed('stripe')).toContain('Stripe did not answer in time. Try again. Map by ID')
    }
  })

  test('that rejects the key asks for a new one', async () => {
    const key = await connectStripe({})
    api.standIns.stripe.keys.delete(key)
    expect(await listed('stripe')).toContain('Stripe rejects the key that it is connected with.')
  })
})

test('Paddle lists prices, and says that it has more', async () => {
  await connect('paddle', goodKey)
  const text = await listed('paddle')
  expect(text).toContain('Paddle has more prices than these. Map the others by ID.')
  expect(text).toMatch(
    /Choose a price Editor, Yearly · €49\.00 per year · pri_01gsz8x8sawmvhz1pv30nge1ke Is sold/,
  )
  const [asked] = api.standIns.paddle.asked.slice(-1)
  expect(Object.fromEntries(asked?.query ?? [])).toStrictEqual({
    include: 'product',
    status: 'active',
    per_page: '200',
  })
})

test('Polar lists products, with the price of those that have one', async () => {
  await connect('polar', goodKey)
  expect(await listed('polar')).toMatch(
    /Choose a product Editor · \$9\.00 per month · d8dd2de1\S+ Tip · 1dbfc517\S+ Is/,
  )
})

test('Lemon Squeezy lists the variants that can be bought', async () => {
  await connect('lemonsqueezy', goodKey)
  expect(await listed('lemonsqueezy')).toMatch(/Choose a variant Editor, Team · 2 Viewer · 3 Is sold as/)
  await member.post(path('lemonsqueezy', '/map'), { item: '3', sold: 'editor/team' })
  expect((await findIntegration(api.ledger.db, tenant.tenantId, 'lemonsqueezy'))?.mappings).toMatchObject([
    { productId: 'editor' },
  ])
})

test.each([
  ['paddle', 'The key may not list prices. Edit the key at Paddle'],
  ['polar', 'The key may not list products. Give the access token the scope products:read'],
] as const)('%s says what the key needs', async (provider, words) => {
  await connect(provider, barelyKey)
  expect(await listed(provider)).toContain(words)
})

test('without a key there is no list and no link to one', async () => {
  await connect('paddle')
  expect((await member.get(path('paddle'))).text).not.toContain(path('paddle', '/items'))
  expect(await listed('paddle')).toContain('Paddle is connected without an API key')
  expect((await member.get(path('polar', '/items'))).status).toBe(404)
})
