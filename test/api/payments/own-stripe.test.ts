/**
 * Guarantee: a vendor can sell through their own Stripe account, without the platform. Its notifications are accepted
 * at the tenant's own URL, and only with the tenant's own secret; no fee is deducted.
 */
import { Stripe } from 'stripe'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { issueCheckoutKey } from '../../../src/commands/client-keys.ts'
import { integrationStream } from '../../../src/domain/streams.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { eventsIn, origin, uniqueId } from '../../harness/ledger.ts'
import { platformWebhookSecret } from '../../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'
import { goldenOf } from '../../payments/golden.ts'

let api: SellingApi
let tenant: TestTenant
let apiKey: string
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())

const webhookSecret = 'whsec_canary_of_the_account'

beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  api.standIns.stripe.health = 'well'
  apiKey = knownKey('rk_live')
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [{ name: 'Pro', deviceLimit: 2, sellInMultiples: true, maxQuantity: 5 }, { name: 'Monthly' }],
  })
})

/** A key that Stripe knows, with a price of its account. */
function knownKey(kind: 'rk_live' | 'rk_test'): string {
  const key = `${kind}_${uniqueId('canary')}`
  api.standIns.stripe.keys.add(key)
  api.standIns.stripe.prices.set(`price_of_${key}`, { owner: key })
  return key
}

async function ask(method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown) {
  const { status, body: answered } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered }
}
const connect = (body: unknown = { apiKey, webhookSecret }) =>
  ask('POST', '/v1/integrations/stripe/own-account', body)
const mapPrices = (key = apiKey) =>
  ask('POST', '/v1/products/editor/integrations/stripe', { prices: { pro: `price_of_${key}` } })
const connectedNames = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    'select name from vault.secrets where tenant_id = $1 order by name',
    [tenant.tenantId],
  )
  return rows.map(({ name }) => name.split('.').at(-1))
}

/** Sends an event as Stripe does: signed, to the tenant's address. */
async function send(
  event: { type: string; object: object; account?: string; livemode?: boolean },
  { to = tenant.tenantId, secret = webhookSecret } = {},
) {
  const { object, ...rest } = event
  const created = Math.floor(api.ledger.clock.now().getTime() / 1000)
  const envelope = { id: uniqueId('evt'), object: 'event', livemode: true, created, ...rest }
  const raw = JSON.stringify({ ...envelope, data: { object } })
  const signed = { payload: raw, timestamp: created, secret }
  const headers = { 'stripe-signature': Stripe.webhooks.generateTestHeaderString(signed) }
  const { status, body } = await api.ask('POST', `/api/stripe/webhook/${to}`, { raw, headers })
  return { status, body }
}

/** The session that a customer has paid, with the metadata that it was opened with. */
const paidSession = (metadata: Record<string, string>) => ({
  type: 'checkout.session.completed',
  object: {
    id: uniqueId('cs'),
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
    amount_total: 8700,
    currency: 'usd',
    customer_details: { email: 'ada@example.com', name: 'Ada' },
    metadata,
    payment_intent: uniqueId('pi'),
  },
})
const ofEditor = { product_id: 'editor', key_type_id: 'pro' }

const Licenses = z.object({
  items: z.array(z.looseObject({ status: z.string(), keyTypeId: z.string(), quantity: z.int() })),
})
const licenses = async () => Licenses.parse((await ask('GET', '/v1/licenses')).body).items
const invalidSignature = { status: 401, body: { error: 'Invalid signature' } }

test('a checkout on the own account has no fee, issues a license, and a refund revokes it', async () => {
  expect(await connect()).toMatchObject({
    status: 200,
    body: { integration: { provider: 'stripe', kind: 'card', connected: true, products: [] } },
  })
  expect(await mapPrices()).toMatchObject({ status: 200 })
  expect(await ask('POST', '/v1/products/editor/key-types/verify-prices')).toMatchObject({
    body: {
      skipped: false,
      keyTypes: [{ price: { verified: true, unitAmount: 2900, currency: 'usd' } }, {}],
    },
  })
  const { tenantId } = tenant
  const { text } = await api.ask('GET', `/${tenantId}/editor/pricing`)
  expect(text).toContain('"amount":2900')

  const { checkoutKey } = await issueCheckoutKey(api.ledger.ports, tenantId, origin)
  const opened = await api.ask('POST', `/api/${tenantId}/checkout`, {
    token: checkoutKey,
    body: {
      ...ofEditor,
      quantity: 3,
      customer_email: 'ada@example.com',
      success_url: 'https://acme.example/thanks',
      cancel_url: 'https://acme.example/prices',
    },
  })
  expect(opened.status).toBe(200)
  const asked = api.standIns.stripe.asked.at(-1)
  expect(asked).toMatchObject({ path: '/v1/checkout/sessions', key: apiKey })
  expect(asked?.headers['stripe-account']).toBeUndefined()
  const form = new URLSearchParams(asked?.body)
  expect([...form.keys()].filter((name) => name.includes('fee'))).toStrictEqual([])

  const metadata = Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const [, field] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return field === undefined ? [] : [[field, value]]
    }),
  )
  const session = paidSession(metadata)
  const taken = { status: 200, body: { received: true } }
  expect(await send(session)).toStrictEqual(taken)
  expect(await send(session)).toStrictEqual({ status: 200, body: { received: true, duplicate: true } })
  expect(await licenses()).toMatchObject([{ status: 'active', keyTypeId: 'pro', quantity: 3 }])

  const charge = {
    id: 'ch_1',
    object: 'charge',
    amount: 8700,
    amount_refunded: 8700,
    currency: 'usd',
    refunded: true,
    payment_intent: session.object.payment_intent,
  }
  expect(await send({ type: 'charge.refunded', object: charge })).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ status: 'revoked' }])
})

describe('a notification', () => {
  test("signed with another tenant's secret returns 401 and has no effect", async () => {
    const first = tenant
    await connect()
    tenant = await makeTenant(api.ledger)
    await makeProduct(api.ask, tenant.token, 'editor')
    expect(
      await connect({ apiKey: knownKey('rk_live'), webhookSecret: 'whsec_of_the_second' }),
    ).toMatchObject({ status: 200 })
    const session = paidSession({ product_id: 'editor' })
    expect(await send(session, { to: first.tenantId, secret: 'whsec_of_the_second' })).toStrictEqual(
      invalidSignature,
    )
    expect(await send(session, { secret: webhookSecret })).toStrictEqual(invalidSignature)
    expect(await licenses()).toStrictEqual([])
    expect(await send(session, { secret: 'whsec_of_the_second' })).toMatchObject({ status: 200 })
    expect(await licenses()).toHaveLength(1)
  })

  test("gets the same response without a connection, with the platform's secret, and for an unknown tenant", async () => {
    const session = paidSession(ofEditor)
    expect(await send(session)).toStrictEqual(invalidSignature)
    expect(await send(session, { to: 'nobody-has-this' })).toStrictEqual(invalidSignature)
    expect(await send(session, { to: 'Nor A%20Slug' })).toStrictEqual(invalidSignature)
    await connect()
    expect(await send(session, { secret: platformWebhookSecret })).toStrictEqual(invalidSignature)
    expect(await send(session, { to: 'connect' })).toStrictEqual(invalidSignature)
    expect(await licenses()).toStrictEqual([])
  })

  test('returns 401 for an account that is connected through the platform', async () => {
    await connectAccount(api.ledger.ports, tenant.tenantId, uniqueId('acct'))
    expect(await send(paidSession(ofEditor))).toStrictEqual(invalidSignature)
  })

  test('of a previous platform account returns 400 while an own account is connected', async () => {
    const account = uniqueId('acct')
    await connectAccount(api.ledger.ports, tenant.tenantId, account)
    const sold = { ...paidSession(ofEditor), account }
    await ask('DELETE', '/v1/integrations/stripe')
    await connect()
    const toPlatform = { to: 'connect', secret: platformWebhookSecret }
    expect(await send(sold, toPlatform)).toMatchObject({ status: 400 })
    expect(await licenses()).toStrictEqual([])
  })

  test('of an account connected to the own one has no effect', async () => {
    await connect()
    expect(await send({ ...paidSession(ofEditor), account: 'acct_of_a_customer' })).toMatchObject({
      status: 204,
    })
    expect(await licenses()).toStrictEqual([])
  })

  test('that is signed but no event returns 400', async () => {
    await connect()
    const raw = '{"hello":"world"}'
    const timestamp = Math.floor(api.ledger.clock.now().getTime() / 1000)
    const signature = Stripe.webhooks.generateTestHeaderString({
      payload: raw,
      timestamp,
      secret: webhookSecret,
    })
    const headers = { 'stripe-signature': signature }
    expect(await api.ask('POST', `/api/stripe/webhook/${tenant.tenantId}`, { raw, headers })).toMatchObject({
      status: 400,
      body: { error: 'Missing required fields' },
    })
  })

  test.each(goldenOf('stripe'))('$name returns 200 or 204', async ({ raw }) => {
    await connect()
    const event = z
      .looseObject({
        account: z.string().optional(),
        type: z.string(),
        data: z.object({ object: z.looseObject({}) }),
      })
      .parse(JSON.parse(raw))
    const { account: _, data, ...rest } = event
    expect([200, 204]).toContain((await send({ ...rest, object: data.object, livemode: true })).status)
  })
})

describe('the API key', () => {
  test.each([
    ['sk_live_full', 422, 'Stripe is connected with a restricted key'],
    ['pk_live_public', 422, 'Stripe is connected with a restricted key'],
    ['rk_live_nobody_knows', 422, 'stripe rejects the key'],
    ['rk_live_poor', 422, 'stripe denies this key the permission'],
    ['rk live', 400, 'apiKey'],
  ])('%s is rejected, and nothing is stored', async (key, status, error) => {
    api.standIns.stripe.keys.add('rk_live_poor')
    api.standIns.stripe.poorKeys.add('rk_live_poor')
    expect(await connect({ apiKey: key, webhookSecret })).toStrictEqual({
      status,
      body: { error: expect.stringContaining(error) as string },
    })
    expect(await connectedNames()).toStrictEqual([])
  })

  test('returns 503 while Stripe does not respond, and nothing is stored', async () => {
    api.standIns.stripe.health = 503
    expect(await connect()).toMatchObject({ status: 503 })
    expect(await connectedNames()).toStrictEqual([])
  })

  test('is sealed in the vault with the secret, never shown, and destroyed on disconnection', async () => {
    const { body } = await connect()
    expect(JSON.stringify([body, (await ask('GET', '/v1/integrations')).body])).not.toMatch(/rk_live|whsec/)
    const events = await eventsIn(api.ledger.ports.ledger, integrationStream(tenant.tenantId, 'stripe'))
    expect(JSON.stringify(events.map((entry) => entry.readable && entry.event))).not.toMatch(/rk_live|whsec/)
    expect(await connectedNames()).toStrictEqual(['apiKey', 'webhookSecret'])
    expect(await connect()).toMatchObject({ status: 409 })
    expect(await connectedNames()).toHaveLength(2)
    expect(await ask('DELETE', '/v1/integrations/stripe')).toMatchObject({
      status: 200,
      body: { integration: { connected: false } },
    })
    expect(await connectedNames()).toStrictEqual([])
    expect(await send(paidSession(ofEditor))).toStrictEqual(invalidSignature)
    expect(await mapPrices()).toMatchObject({ status: 409 })
  })

  test('of test mode sells only products in test mode', async () => {
    const testKey = knownKey('rk_test')
    expect(await connect({ apiKey: testKey, webhookSecret })).toMatchObject({ status: 200 })
    expect(await mapPrices(testKey)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('connected with a test key') as string },
    })
    await ask('POST', '/v1/products/editor/test-mode', {})
    expect(await mapPrices(testKey)).toMatchObject({ status: 200 })
    expect(await send({ ...paidSession(ofEditor), livemode: false })).toMatchObject({ status: 200 })
    expect(await licenses()).toMatchObject([{ test: true }])
  })

  test('of live mode never sells a product in test mode', async () => {
    await connect()
    await ask('POST', '/v1/products/editor/test-mode', {})
    expect(await mapPrices()).toMatchObject({ status: 409 })
  })
})

describe('the status of the connection', () => {
  const status = async () => (await ask('GET', '/v1/integrations/stripe/status')).body

  test('contains the mode, and the state of the account at Stripe', async () => {
    expect(await status()).toMatchObject({ connected: false, mode: null, status: 'not_connected' })
    await connect()
    expect(await status()).toMatchObject({
      connected: true,
      status: 'connected',
      mode: 'own_account',
      test: false,
      accountId: null,
      account: { detailsSubmitted: false, chargesEnabled: false },
    })
    api.standIns.stripe.poorKeys.add(apiKey)
    expect(await status()).toMatchObject({ connected: true, account: null })
  })
})

test('a new signing secret needs an approval, and replaces the previous one at once', async () => {
  await connect()
  const body = { webhookSecret: 'whsec_new' }
  const url = '/v1/integrations/stripe/rotate-secret'
  expect(await askApproveRepeat(api, tenant, 'POST', url, { body })).toMatchObject({ status: 200 })
  const session = paidSession(ofEditor)
  expect(await send(session)).toStrictEqual(invalidSignature)
  expect(await send(session, { secret: 'whsec_new' })).toMatchObject({ status: 200 })
  expect(await connectedNames()).toContain('webhookSecret')
})

test('connecting an own account ends an unfinished onboarding', async () => {
  const { body } = await ask('POST', '/v1/integrations/stripe/connect')
  expect(body).toMatchObject({ url: expect.any(String) as string })
  expect(await connect()).toMatchObject({ status: 200 })
  expect(await ask('POST', '/v1/integrations/stripe/connect')).toMatchObject({ status: 409 })
})
