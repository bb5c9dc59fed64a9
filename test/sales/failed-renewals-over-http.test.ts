/**
 * Guarantee: a failed payment for a renewal, signed as by each provider that sends one, is an event of the license and changes
 * nothing else of it. One whose signature is wrong is none.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { uniqueId } from '../harness/ledger.ts'
import { openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { makeProduct } from '../http/samples.ts'
import { goldenOf } from '../payments/golden.ts'
import { signatureOf } from './signed.ts'

const secret = 'whsec_canary_of_the_provider'

let api: SellingApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const keyTypes = [{ name: 'Pro', duration: { count: 1, unit: 'month' } }]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
})

type Selling = 'stripe' | 'lemonsqueezy' | 'paddle' | 'polar'

const manage = async (url: string, body: object) =>
  expect((await api.ask('POST', url, { token: tenant.token, body })).status).toBe(200)

/** What is sold at each provider, by its golden notifications. */
const mappings = {
  lemonsqueezy: { variants: { '23456': 'pro' } },
  paddle: { prices: { pri_01gsz8x8sawmvhz1pv30nge1ke: 'pro' } },
  polar: { products: { 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23': 'pro' } },
} as const

async function connect(provider: Selling): Promise<void> {
  if (provider === 'stripe') {
    const apiKey = `rk_live_${uniqueId('key')}`
    api.standIns.stripe.keys.add(apiKey)
    return manage('/v1/integrations/stripe/own-account', { apiKey, webhookSecret: secret })
  }
  await manage(`/v1/integrations/${provider}/connect`, { webhookSecret: secret })
  await manage(`/v1/products/editor/integrations/${provider}`, mappings[provider])
}

async function send(provider: Selling, raw: string, own = secret): Promise<number> {
  const now = api.ledger.clock.now()
  const place = provider === 'stripe' ? '/api/stripe/webhook' : `/webhooks/${provider}`
  const headers = signatureOf(provider, raw, { secret: own, now, id: uniqueId('msg') })
  return (await api.ask('POST', `${place}/${tenant.tenantId}`, { raw, headers })).status
}

const Feed = z.object({
  items: z.array(z.looseObject({ event: z.string(), license: z.looseObject({ expiresAt: z.string() }) })),
})
const events = async () =>
  Feed.parse((await api.ask('GET', '/v1/events', { token: tenant.token })).body).items

const golden = (provider: Selling, wanted: string): string => {
  const raw = goldenOf(provider).find(({ name }) => name === wanted)?.raw
  if (raw === undefined) throw new Error(`${provider} has no ${wanted}`)
  return raw
}

test.each([
  ['stripe', ['session-completed-subscription'], ['invoice-payment-failed'], 'in_1MtHbELkdIwHu7iy'],
  ['lemonsqueezy', ['order-created', 'subscription-created'], ['payment-failed'], '77'],
  [
    'paddle',
    ['transaction-completed-subscription'],
    ['transaction-payment-failed', 'transaction-past-due'],
    'txn_01hv8xbtmb6zc7c264ycteehth',
  ],
  [
    'polar',
    ['order-paid-subscription-create'],
    ['subscription-past-due'],
    'e5149aae-e521-42b9-b24c-abb3d71eea2e.2026-05-01T12:00:00.000Z',
  ],
] as const)(
  'a failed renewal of %s is one event, and the license goes on',
  async (provider, sale, failure, paymentId) => {
    await connect(provider)
    const own = (raw: string) => raw.replace('"account":"acct_1T8oxK0AcRNJbwd4",', '')
    for (const name of sale) expect(await send(provider, own(golden(provider, name)))).toBe(200)
    const before = await events()
    const [first, ...others] = failure.map((name) => own(golden(provider, name)))
    if (first === undefined) throw new Error('there is one')
    expect(await send(provider, first, 'another secret')).toBe(provider === 'stripe' ? 401 : 400)
    expect(await events()).toStrictEqual(before)
    for (const raw of [first, ...others, first]) expect(await send(provider, raw)).toBe(200)
    const after = await events()
    expect(after.slice(before.length)).toMatchObject([
      { event: 'license.renewal_failed', payment_id: paymentId, test: false },
    ])
    expect(after.at(-1)?.license.expiresAt).toBe(before.at(-1)?.license.expiresAt)
  },
)
