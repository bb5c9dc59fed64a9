/** Guarantee: prices are public, and the checkout key or a plain link opens a payment page at Stripe. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { issueCheckoutKey } from '../../../src/commands/client-keys.ts'
import { closeTenant, suspendTenant } from '../../../src/commands/tenants.ts'
import { newToken } from '../../../src/credentials/token.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import type { ProviderStandIns } from '../../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'
import { createMemoryLimiter } from '../../limits/memory-buckets.ts'

let now = Date.parse('2026-03-01T12:00:00.000Z')
const checkout = createMemoryLimiter('checkout', { perMinute: 20, burst: 20 }, () => now)

let standIns: ProviderStandIns
let api: SellingApi
let tenant: TestTenant
let key: string
beforeAll(async () => {
  api = await openSellingApi({ limits: { checkout } })
  ;({ standIns } = api)
})
afterAll(async () => {
  await checkout.stop()
  await api.close()
})

const accountId = 'acct_connected'
beforeEach(async () => {
  now += 3_600_000
  tenant = await makeTenant(api.ledger)
  const { stripe } = standIns
  stripe.health = 'well'
  stripe.asked.length = 0
  stripe.accounts.set(accountId, { detailsSubmitted: true, chargesEnabled: true })
  stripe.prices.set('price_pro', { owner: accountId })
  stripe.prices.set('price_month', { owner: accountId, recurring: { interval: 'month', interval_count: 1 } })
  await makeProduct(api.ask, tenant.token, 'editor', {
    name: 'Acme <Editor>',
    keyTypes: [
      {
        name: 'Pro',
        price: { priceId: 'price_pro' },
        sellInMultiples: true,
        maxQuantity: 10,
        deviceLimit: 2,
      },
      { name: 'Monthly', price: { priceId: 'price_month' }, duration: { count: 1, unit: 'month' } },
      { name: 'Unpriced' },
      { name: 'Gone', price: { priceId: 'price_gone' } },
    ],
  })
  key = (await issueCheckoutKey(api.ledger.ports, tenant.tenantId, origin)).checkoutKey
})

const connect = () => connectAccount(api.ledger.ports, tenant.tenantId, accountId)
const verify = () => api.ask('POST', '/v1/products/editor/key-types/verify-prices', { token: tenant.token })

const asked = {
  product_id: 'editor',
  key_type_id: 'pro',
  success_url: 'https://acme.example/thanks?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'https://acme.example/prices',
  customer_email: 'ada@example.com',
}
async function buy(body: unknown = asked, token: string | undefined = key) {
  const answer = await api.ask('POST', `/api/${tenant.tenantId}/checkout`, { token, body })
  return { status: answer.status, body: answer.body }
}
/** The last checkout session that Stripe was asked to create. */
function session(): Record<string, string> {
  const found = standIns.stripe.asked.findLast(({ path }) => path === '/v1/checkout/sessions')
  return Object.fromEntries(new URLSearchParams(found?.body ?? ''))
}
const anyUrl = {
  url: expect.stringMatching(/^https:\/\/checkout\.stripe\.com\/c\/pay\/cs_test_\w+$/) as string,
}

test("a checkout opens a session on the tenant's account with the purchase in its metadata and a fee of 0.5 %", async () => {
  await connect()
  expect(await buy({ ...asked, quantity: 3 })).toStrictEqual({ status: 200, body: anyUrl })
  const { tenantId } = tenant
  expect(session()).toStrictEqual({
    mode: 'payment',
    'line_items[0][price]': 'price_pro',
    'line_items[0][quantity]': '3',
    success_url: asked.success_url,
    cancel_url: asked.cancel_url,
    customer_email: 'ada@example.com',
    'metadata[tenant_id]': tenantId,
    'metadata[product_id]': 'editor',
    'metadata[key_type_id]': 'pro',
    'metadata[quantity]': '3',
    'payment_intent_data[metadata][tenant_id]': tenantId,
    'payment_intent_data[metadata][product_id]': 'editor',
    'payment_intent_data[metadata][key_type_id]': 'pro',
    'payment_intent_data[metadata][quantity]': '3',
    // 3 × 29.00 × 0.5 % = 0.435
    'payment_intent_data[application_fee_amount]': '44',
  })
  expect(standIns.stripe.asked.at(-1)?.headers['stripe-account']).toBe(accountId)
})

test.each([
  // 3 × 1,990 kr × 0.5 % = 29.85 kr, which Stripe takes as whole krónur written with two more digits
  ['isk', 199_000, 'ISK\u00a01,990', 1990, '3000'],
  // 3 × 5.120 dinar × 0.5 % = 0.0768, of which Stripe takes no thousandths
  ['kwd', 5120, 'KWD\u00a05.120', 5120, '70'],
  ['jpy', 500, '¥500', 500, '8'],
])(
  'a price in %s is shown in its minor units, and the fee is an amount that Stripe accepts',
  async (...about) => {
    const [currency, unit_amount, shown, amount, fee] = about
    await connect()
    standIns.stripe.prices.set('price_pro', { owner: accountId, currency, unit_amount })
    await verify()
    expect((await buy({ ...asked, quantity: 3 })).status).toBe(200)
    expect(session()).toMatchObject({ 'payment_intent_data[application_fee_amount]': fee })
    const { text } = await api.ask('GET', `/${tenant.tenantId}/editor/buy/pro`)
    expect(text).toContain(`Pro: ${shown}`)
    const { body } = await api.ask('GET', `/${tenant.tenantId}/editor/pricing`)
    expect(body).toMatchObject({
      keyTypes: expect.arrayContaining([
        expect.objectContaining({ keyTypeId: 'pro', price: { amount, currency, interval: null } }),
      ]) as unknown,
    })
  },
)

test('a checkout of a subscription sets the metadata and the fee on the subscription', async () => {
  await connect()
  await verify()
  expect(await buy({ ...asked, key_type_id: 'monthly' })).toStrictEqual({ status: 200, body: anyUrl })
  expect(session()).toMatchObject({
    mode: 'subscription',
    'metadata[product_id]': 'editor',
    'subscription_data[metadata][key_type_id]': 'monthly',
    'subscription_data[application_fee_percent]': '0.5',
  })
})

test('a checkout in test mode uses the test keys and has no fee', async () => {
  standIns.stripe.keys.add('sk_test_own')
  standIns.stripe.prices.set('price_pro', { owner: 'sk_test_own' })
  const keys = { publishableKey: 'pk_test_own', secretKey: 'sk_test_own' }
  await api.ask('POST', '/v1/products/editor/test-mode', { token: tenant.token, body: keys })
  expect(await buy()).toStrictEqual({ status: 200, body: anyUrl })
  expect(Object.keys(session()).filter((name) => name.includes('fee'))).toStrictEqual([])
  expect(standIns.stripe.asked.at(-1)).toMatchObject({ key: 'sk_test_own' })
})

test("a checkout returns 401 without the key, with a replaced key and with another tenant's key", async () => {
  await connect()
  const stranger = await makeTenant(api.ledger)
  const { checkoutKey } = await issueCheckoutKey(api.ledger.ports, stranger.tenantId, origin)
  const { randomBytes } = api.ledger.ports
  for (const wrong of [
    '',
    'kl_chk_1',
    tenant.token,
    checkoutKey,
    newToken('chk', randomBytes).token,
    `${key}x`,
  ]) {
    expect((await buy(asked, wrong)).status).toBe(401)
  }
  expect((await buy('{', 'wrong')).status).toBe(401)
  const { status } = await api.ask('POST', '/api/nobody/checkout', { token: key, body: asked })
  expect(status).toBe(401)
  await issueCheckoutKey(api.ledger.ports, tenant.tenantId, origin)
  expect((await buy()).status).toBe(401)
})

test('a checkout in test mode without test keys returns 409, also with a connected account', async () => {
  await connect()
  const testMode = '/v1/products/editor/test-mode'
  expect((await api.ask('POST', testMode, { token: tenant.token, body: {} })).status).toBe(200)
  expect(await buy()).toMatchObject({
    status: 409,
    body: {
      error:
        'the product is in test mode without Stripe test keys; set them with POST /v1/products/{productId}/test-mode',
    },
  })
  expect(standIns.stripe.asked).toStrictEqual([])
})

test('a checkout without a connected account returns 409', async () => expect((await buy()).status).toBe(409))

test.each([
  ['a key type without a price', { key_type_id: 'unpriced' }, 422],
  ['a price that Stripe does not have', { key_type_id: 'gone' }, 422],
  [
    'a quantity above 1 of a key type that is not sold in multiples',
    { key_type_id: 'monthly', quantity: 2 },
    422,
  ],
  ['a quantity above the maximum', { quantity: 11 }, 422],
  ['an unknown product', { product_id: 'player' }, 404],
  ['an unknown key type', { key_type_id: 'basic' }, 404],
  ['a quantity of 0', { quantity: 0 }, 400],
  ['a quantity that is a string', { quantity: '3' }, 400],
  ['no email address', { customer_email: undefined }, 400],
  ['an invalid email address', { customer_email: 'ada' }, 400],
  ['a success URL that is a script', { success_url: 'javascript:alert(1)' }, 400],
  ['a success URL that is no URL', { success_url: 'thanks' }, 400],
  ['an empty cancel URL', { cancel_url: '' }, 400],
  ['a success URL with a line break', { success_url: 'https://acme.example/\nthanks' }, 400],
  ['no cancel URL', { cancel_url: undefined }, 400],
  ['a product id with NUL', { product_id: 'a\u0000' }, 400],
])('a checkout with %s is refused', async (_, change, status) => {
  await connect()
  expect((await buy({ ...asked, ...change })).status).toBe(status)
})

test('the 21st checkout in a minute returns 429', async () => {
  await connect()
  for (let times = 0; times < 20; times++) expect((await buy({})).status).toBe(400)
  const answer = await api.ask('POST', `/api/${tenant.tenantId}/checkout`, { token: key, body: asked })
  expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } })
  now += 60_000
  expect((await buy()).status).toBe(200)
})

test('a checkout returns 403 when the tenant is suspended or closed', async () => {
  await connect()
  await verify()
  await suspendTenant(api.ledger.ports, tenant.tenantId, null, origin)
  expect((await buy()).status).toBe(403)
  expect((await prices()).status).toBe(200)
  await closeTenant(api.ledger.ports, tenant.tenantId, null, origin)
  expect((await buy()).status).toBe(403)
  expect((await prices()).status).toBe(403)
})

test('a checkout returns 503 while Stripe does not respond', async () => {
  await connect()
  await verify()
  standIns.stripe.health = 503
  expect((await buy()).status).toBe(503)
})

const prices = (productId = 'editor') => api.ask('GET', `/${tenant.tenantId}/${productId}/pricing`)

test('prices are public, for pages of any origin', async () => {
  expect((await prices()).body).toStrictEqual({
    product: { productId: 'editor', name: 'Acme <Editor>' },
    keyTypes: [],
  })
  await connect()
  expect((await prices()).body).toMatchObject({ keyTypes: [] })
  await verify()
  const { body, headers } = await prices()
  const link = (keyTypeId: string) => `http://localhost:8080/${tenant.tenantId}/editor/buy/${keyTypeId}`
  expect(body).toMatchObject({
    keyTypes: [
      {
        keyTypeId: 'pro',
        name: 'Pro',
        price: { amount: 2900, currency: 'usd', interval: null },
        term: null,
        devicesPerSeat: 2,
        maxSeats: 10,
        buyUrl: link('pro'),
      },
      {
        keyTypeId: 'monthly',
        name: 'Monthly',
        price: { amount: 2900, currency: 'usd', interval: 'month' },
        term: { count: 1, unit: 'month' },
        devicesPerSeat: 1,
        maxSeats: 1,
        buyUrl: link('monthly'),
      },
    ],
  })
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=60' })
})

test('the prices of an unknown product return 404', async () => {
  for (const path of [`${tenant.tenantId}/player`, 'nobody/editor', `${tenant.tenantId}/%00`, 'v1/nothing']) {
    expect((await api.ask('GET', `/${path}/pricing`)).status).toBe(404)
  }
})

const page = (keyTypeId: string) => `/${tenant.tenantId}/editor/buy/${keyTypeId}`
const press = async (keyTypeId: string, form = '') => {
  const { status, headers } = await api.ask('POST', page(keyTypeId), { raw: form })
  return { status, location: headers.location }
}

test('a plain link shows a page whose button opens a checkout at Stripe', async () => {
  await connect()
  await verify()
  const { status, text } = await api.ask('GET', page('pro'))
  expect(status).toBe(200)
  expect(text).toContain('Acme &lt;Editor&gt;')
  expect(text).toContain('$29.00')
  expect(text).toContain('max="10"')
  expect(standIns.stripe.asked.some(({ path }) => path === '/v1/checkout/sessions')).toBe(false)
  expect(await press('pro', 'quantity=2')).toStrictEqual({ status: 303, location: anyUrl.url })
  expect(session()).toMatchObject({ 'line_items[0][quantity]': '2', 'metadata[quantity]': '2' })
  expect(session()).not.toHaveProperty('customer_email')
  expect((await press('monthly')).status).toBe(303)
  expect((await api.ask('GET', `${page('pro')}/done`)).status).toBe(200)
  expect((await api.ask('GET', '/v1/nothing/buy/pro/done')).status).toBe(404)
})

test('a plain link returns 404 for a key type that is not for sale, 422 for an invalid quantity', async () => {
  await connect()
  await verify()
  for (const keyTypeId of ['unpriced', 'basic', 'gone']) {
    expect((await api.ask('GET', page(keyTypeId))).status).toBe(404)
    expect((await press(keyTypeId)).status).toBe(404)
  }
  for (const quantity of ['0', '11', 'x', ''])
    expect((await press('pro', `quantity=${quantity}`)).status).toBe(422)
  standIns.stripe.health = 503
  expect((await press('pro')).status).toBe(503)
  await suspendTenant(api.ledger.ports, tenant.tenantId, null, origin)
  expect((await api.ask('GET', page('pro'))).status).toBe(404)
})
