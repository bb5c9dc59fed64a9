/**
 * Guarantee: a signed notification of Stripe, Lemon Squeezy, Paddle or Polar has its effect once; any other has
 * none.
 */
import { createHmac } from 'node:crypto'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ProviderWithApi } from '../../../src/domain/integrations/provider.ts'
import { LedgerUnavailable } from '../../../src/ledger/connection/unavailable.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import { beginning, uniqueId } from '../../harness/ledger.ts'
import { goodKey, type ProviderStandIns, platformWebhookSecret } from '../../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'
import { goldenOf } from '../../payments/golden.ts'

let standIns: ProviderStandIns
let api: SellingApi
let tenant: TestTenant
let accountId: string
beforeAll(async () => {
  api = await openSellingApi()
  ;({ standIns } = api)
})
afterAll(() => api.close())

const secret = 'whsec_canary_of_the_provider'
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [{ name: 'Pro', sellInMultiples: true, duration: { count: 1, unit: 'month' } }],
  })
  accountId = uniqueId('acct')
  const { ports } = api.ledger
  const { tenantId } = tenant
  await connectAccount(ports, tenantId, accountId)
  for (const [provider, mapping] of [
    ['lemonsqueezy', { variants: { 23456: 'pro' } }],
    ['paddle', { prices: { pri_01gsz8x8sawmvhz1pv30nge1ke: 'pro' } }],
    ['polar', { products: { 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23': 'pro' } }],
  ] as const) {
    const connection = { webhookSecret: secret, apiKey: goodKey }
    const { status } = await manage('POST', `/v1/integrations/${provider}/connect`, connection)
    expect(status).toBe(200)
    await manage('POST', `/v1/products/editor/integrations/${provider}`, mapping)
  }
})

const manage = (method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown) =>
  api.ask(method, url, { token: tenant.token, body })
const licenses = async () =>
  z
    .object({ items: z.array(z.looseObject({ id: z.string() })) })
    .parse((await manage('GET', '/v1/licenses')).body).items

type Sent = { url?: string; secret?: string; at?: number }

/** The golden notification with this test's tenant. */
function golden(provider: ProviderWithApi, wanted: string): string {
  const found = goldenOf(provider).find(({ name }) => name === wanted)
  if (!found) throw new Error(`there is no golden ${provider}/${wanted}`)
  return found.raw.replaceAll('acct_1T8oxK0AcRNJbwd4', accountId).replaceAll('"acme"', `"${tenant.tenantId}"`)
}

const mac = (key: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(encoding)

function signatureOf(
  provider: ProviderWithApi,
  payload: string,
  key: string,
  timestamp: number,
): Record<string, string> {
  switch (provider) {
    case 'stripe': {
      const header = Stripe.webhooks.generateTestHeaderString({ payload, timestamp, secret: key })
      return { 'stripe-signature': header }
    }
    case 'lemonsqueezy':
      return { 'x-signature': mac(key, payload, 'hex') }
    case 'paddle':
      return { 'paddle-signature': `ts=${timestamp};h1=${mac(key, `${timestamp}:${payload}`, 'hex')}` }
    case 'polar': {
      const signature = `v1,${mac(key, `msg_1.${timestamp}.${payload}`, 'base64')}`
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
    }
  }
}

const urlOf = (provider: ProviderWithApi) =>
  provider === 'stripe' ? '/api/stripe/webhook/connect' : `/webhooks/${provider}/${tenant.tenantId}`

async function send(provider: ProviderWithApi, raw: string, sent: Sent = {}) {
  const now = api.ledger.clock.now().getTime() / 1000
  const key = sent.secret ?? (provider === 'stripe' ? platformWebhookSecret : secret)
  const headers = signatureOf(provider, raw, key, sent.at ?? now)
  const {
    status,
    body,
    headers: answered,
  } = await api.ask('POST', sent.url ?? urlOf(provider), { raw, headers })
  return { status, body, retryAfter: answered['retry-after'] }
}

const taken = { status: 200, body: { received: true }, retryAfter: undefined }
const sales: Record<ProviderWithApi, string> = {
  stripe: 'session-completed',
  lemonsqueezy: 'order-created',
  paddle: 'transaction-completed',
  polar: 'order-paid-purchase',
}
const refunds: Record<ProviderWithApi, string> = {
  stripe: 'charge-refunded',
  lemonsqueezy: 'order-refunded',
  paddle: 'adjustment-refund-approved',
  polar: 'order-refunded',
}

describe.each(['stripe', 'lemonsqueezy', 'paddle', 'polar'] as const)('%s', (provider) => {
  const untrusted = provider === 'stripe' ? 401 : 400

  test('issues one license for a repeated sale, and no response contains the key', async () => {
    const raw = golden(provider, sales[provider])
    expect(await send(provider, raw)).toStrictEqual(taken)
    expect(await send(provider, raw)).toStrictEqual({ ...taken, body: { received: true, duplicate: true } })
    expect(await licenses()).toMatchObject([
      { source: 'sale', email: 'ada@example.com', keyTypeId: 'pro', status: 'active' },
    ])
  })

  test.each([true, false])(
    'revokes the license for a refund, in either order of arrival (sale first: %s)',
    async (after) => {
      const names = after ? [sales[provider], refunds[provider]] : [refunds[provider], sales[provider]]
      for (const name of names) expect(await send(provider, golden(provider, name))).toStrictEqual(taken)
      expect(await licenses()).toMatchObject([{ status: 'revoked' }])
    },
  )

  test('has no effect without a valid signature', async () => {
    const raw = golden(provider, sales[provider])
    const now = api.ledger.clock.now().getTime() / 1000
    const wrong = [
      await send(provider, raw, { secret: 'whsec_another' }),
      { ...(await api.ask('POST', urlOf(provider), { raw })) },
      {
        ...(await api.ask('POST', urlOf(provider), {
          raw: `${raw} `,
          headers: signatureOf(provider, raw, provider === 'stripe' ? platformWebhookSecret : secret, now),
        })),
      },
    ]
    if (provider !== 'lemonsqueezy') wrong.push(await send(provider, raw, { at: now - 301 }))
    expect(wrong.map(({ status }) => status)).toStrictEqual(wrong.map(() => untrusted))
    expect(await licenses()).toStrictEqual([])
  })

  test('returns 400 for a signed body that is no notification', async () => {
    for (const raw of ['', '{}', '[', 'null', '"\\u0000"']) {
      expect((await send(provider, raw)).status).toBe(400)
    }
  })

  test('returns 503 with Retry-After when it cannot be recorded, and takes effect when sent again', async () => {
    const { ports } = api.ledger
    const { ledger, execute } = ports
    ports.execute = () => Promise.reject(new LedgerUnavailable('it is away'))
    const answer = await send(provider, golden(provider, sales[provider]))
    ports.execute = execute
    ports.ledger = ledger
    expect(answer).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) as string })
    expect(await send(provider, golden(provider, sales[provider]))).toMatchObject({ status: 200 })
    expect(await licenses()).toHaveLength(1)
  })

  test('returns 204 for ignored notifications', async () => {
    const ignored = goldenOf(provider).filter(({ means }) => 'type' in means && means.type === 'ignored')
    for (const { name } of ignored) {
      expect(await send(provider, golden(provider, name))).toMatchObject({ status: 204, body: '' })
    }
    expect(await licenses()).toStrictEqual([])
  })
})

describe.each(['lemonsqueezy', 'paddle', 'polar'] as const)('%s', (provider) => {
  const invalid = { status: 400, body: { error: 'Invalid request' }, retryAfter: undefined }

  test('is accepted for its own tenant only; all others get the same response', async () => {
    const raw = golden(provider, sales[provider])
    const other = await makeTenant(api.ledger)
    for (const id of [other.tenantId, 'nobody', '%00', 'A']) {
      expect(await send(provider, raw, { url: `/webhooks/${provider}/${id}` })).toStrictEqual(invalid)
    }
    await manage('DELETE', `/v1/integrations/${provider}`)
    expect(await send(provider, raw)).toStrictEqual(invalid)
  })

  test('parks an unmapped sale and says so in the response', async () => {
    await manage('POST', `/v1/products/editor/integrations/${provider}`, {
      [{ lemonsqueezy: 'variants', paddle: 'prices', polar: 'products' }[provider]]: {},
    })
    const raw = golden(provider, sales[provider])
    expect(await send(provider, raw)).toStrictEqual({ ...taken, body: { received: true, parked: true } })
    expect(await licenses()).toStrictEqual([])
  })
})

test.each([
  ['stripe', 'session-completed-without-email'],
  ['paddle', 'transaction-completed-without-customer'],
  ['polar', 'order-paid-of-a-team'],
] as const)('%s: a paid sale without an email address gets its license', async (provider, name) => {
  expect(await send(provider, golden(provider, name))).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ source: 'sale', email: null, status: 'active' }])
  expect((await manage('GET', '/v1/sales?needs=holder')).body).toMatchObject({
    items: [{ provider, needsHolder: true }],
  })
})

test('paddle: a key without the permission to read customers does not prevent the license', async () => {
  const raw = golden('paddle', 'transaction-completed')
  const answer = await send('paddle', raw.replaceAll('ctm_01hv6y1jedq4p1n0yqn5ba3ky4', 'of another vendor'))
  expect(answer).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ email: null, quantity: 3 }])
})

describe('stripe', () => {
  test('takes the quantity from the metadata', async () => {
    await send('stripe', golden('stripe', 'session-completed'))
    expect(await licenses()).toMatchObject([{ quantity: 2 }])
  })

  test('issues the license when a delayed payment succeeds', async () => {
    expect(await send('stripe', golden('stripe', 'session-completed-unpaid'))).toMatchObject({ status: 204 })
    expect(await licenses()).toStrictEqual([])
    expect(await send('stripe', golden('stripe', 'session-async-payment-succeeded'))).toStrictEqual(taken)
    expect(await licenses()).toHaveLength(1)
  })

  test('issues a license for a test-mode sale only when the product is in test mode, and lists ignored ones', async () => {
    const raw = golden('stripe', 'session-completed-test-mode')
    const ignored = async () => {
      const { body } = await manage('GET', '/v1/sales/ignored')
      return z.object({ items: z.array(z.looseObject({ reason: z.string() })) }).parse(body).items
    }
    for (const of of [
      raw,
      raw,
      raw.replace('"editor"', '"player"').replace('"id":"evt_', '"id":"evt_other_'),
    ]) {
      expect(await send('stripe', of)).toMatchObject({ status: 204 })
    }
    const refund = golden('stripe', 'charge-refunded').replaceAll('"livemode":true', '"livemode":false')
    expect(await send('stripe', refund)).toMatchObject({ status: 204 })
    const listed = await ignored()
    expect(listed).toHaveLength(3)
    expect(listed).toContainEqual({
      provider: 'stripe',
      notificationId: expect.stringMatching(/^evt_/) as string,
      kind: 'sold',
      reason: 'product_not_in_test_mode',
      message: 'the product editor is not in test mode; turn it on with POST /v1/products/editor/test-mode',
      times: 2,
      receivedAt: beginning,
      lastAt: beginning,
    })
    expect(listed.map(({ reason }) => reason).sort()).toStrictEqual([
      'no_product_in_test_mode',
      'product_not_found',
      'product_not_in_test_mode',
    ])
    expect((await manage('POST', '/v1/products/editor/test-mode', {})).status).toBe(200)
    expect(await send('stripe', raw)).toStrictEqual(taken)
    expect(await licenses()).toMatchObject([{ test: true }])
    expect(await ignored()).toHaveLength(3)
  })

  test('returns 400 for an unknown or disconnected account', async () => {
    const raw = golden('stripe', 'session-completed')
    const refused = { status: 400, body: { error: 'Invalid request' } }
    expect(await send('stripe', raw.replaceAll(accountId, 'acct_of_nobody'))).toMatchObject(refused)
    expect(await send('stripe', raw.replaceAll(`"account":"${accountId}",`, ''))).toMatchObject(refused)
    await manage('DELETE', '/v1/integrations/stripe')
    expect(await send('stripe', raw)).toMatchObject(refused)
    expect(await licenses()).toStrictEqual([])
  })
})

test('paddle: a sale returns 503 until the customer can be read', async () => {
  const raw = golden('paddle', 'transaction-completed')
  standIns.paddle.health = 503
  expect(await send('paddle', raw)).toMatchObject({ status: 503 })
  standIns.paddle.health = 'well'
  expect(await send('paddle', raw)).toStrictEqual(taken)
})

test('lemonsqueezy: a renewal extends the license to the date read from the API', async () => {
  await send('lemonsqueezy', golden('lemonsqueezy', 'order-created'))
  expect(await send('lemonsqueezy', golden('lemonsqueezy', 'payment-success-renewal'))).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ expiresAt: '2026-05-01T12:00:00.000Z' }])
})
