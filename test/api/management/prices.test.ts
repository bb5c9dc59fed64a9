/**
 * Guarantee: a product is sold at prices that exist at the card provider: a verification is recorded as a whole or
 * not at all.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { productStream } from '../../../src/domain/streams.ts'
import { createProviders } from '../../../src/payments/providers.ts'
import { type Method, makeTenant, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn } from '../../harness/ledger.ts'
import type { ProviderStandIns } from '../../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'

let standIns: ProviderStandIns
let api: SellingApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openSellingApi()
  ;({ standIns } = api)
})
afterAll(() => api.close())

const accountId = 'acct_connected'
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const { stripe } = standIns
  stripe.health = 'well'
  stripe.asked.length = 0
  stripe.prices.clear()
  stripe.accounts.set(accountId, { detailsSubmitted: true, chargesEnabled: true })
  api.ledger.ports.providers = createProviders(standIns.settings)
})

const asks = async (method: Method, url: string, body?: unknown) => {
  const { status, body: answered } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered }
}
const recorded = async (productId = 'editor') =>
  (await eventsIn(api.ledger.ports.ledger, productStream(tenant.tenantId, productId))).map((entry) =>
    entry.readable ? entry.event.type : entry.problem,
  )
/** Connects Stripe, as an onboarding does. */
const connectStripe = () => connectAccount(api.ledger.ports, tenant.tenantId, accountId)

const unverified = { verified: false, unitAmount: null, currency: null, interval: null }

describe('verifying prices', () => {
  const verify = (productId = 'editor') => asks('POST', `/v1/products/${productId}/key-types/verify-prices`)
  const keyTypes = [
    { name: 'Pro', price: { priceId: 'price_pro' } },
    { name: 'Team', price: { priceId: 'price_team' } },
    { name: 'Old', price: { priceId: 'price_old' } },
    { name: 'Gone', price: { priceId: 'price_gone' } },
    { name: 'Free' },
  ]
  beforeEach(async () => {
    await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
    const { prices } = standIns.stripe
    prices.set('price_pro', { owner: accountId })
    prices.set('price_team', {
      owner: accountId,
      unit_amount: 9900,
      currency: 'eur',
      recurring: { interval: 'year', interval_count: 1 },
    })
    prices.set('price_old', { owner: accountId, active: false })
  })

  const found = [
    {
      priceId: 'price_pro',
      verified: true,
      unitAmount: 2900,
      currency: 'usd',
      interval: null,
      verifiedAt: beginning,
    },
    {
      priceId: 'price_team',
      verified: true,
      unitAmount: 9900,
      currency: 'eur',
      interval: 'year',
      verifiedAt: beginning,
    },
    {
      priceId: 'price_old',
      verified: false,
      unitAmount: 2900,
      currency: 'usd',
      interval: null,
      verifiedAt: beginning,
    },
    { priceId: 'price_gone', ...unverified, verifiedAt: beginning },
    null,
  ]

  test('reads each price from the connected account and records the result', async () => {
    await connectStripe()
    const { status, body } = await verify()
    const { keyTypes: shown, skipped } = body as { keyTypes: { price: unknown }[]; skipped: boolean }
    expect({ status, skipped, prices: shown.map(({ price }) => price) }).toStrictEqual({
      status: 200,
      skipped: false,
      prices: found,
    })
    expect((await asks('GET', '/v1/products/editor/key-types')).body).toStrictEqual({ keyTypes: shown })
    expect((await recorded()).slice(6)).toStrictEqual(['PricesVerified'])
    const asked = standIns.stripe.asked
      .map(({ path, headers }) => `${path} ${headers['stripe-account']}`)
      .sort()
    expect(asked).toStrictEqual(
      ['gone', 'old', 'pro', 'team'].map((name) => `/v1/prices/price_${name} ${accountId}`),
    )
  })

  test('reads the prices from Stripe each time', async () => {
    await connectStripe()
    await verify()
    standIns.stripe.prices.set('price_pro', { owner: accountId, active: false })
    api.ledger.clock.advance(1000)
    const { body } = await verify()
    api.ledger.clock.set(beginning)
    expect(body).toMatchObject({
      keyTypes: [{ price: { verified: false, verifiedAt: '2026-03-01T12:00:01.000Z' } }, {}, {}, {}, {}],
    })
  })

  test('uses the test keys in test mode, connected or not', async () => {
    standIns.stripe.keys.add('sk_test_own')
    standIns.stripe.prices.set('price_pro', { owner: 'sk_test_own', unit_amount: 100 })
    const keys = { publishableKey: 'pk_test_own', secretKey: 'sk_test_own' }
    await asks('POST', '/v1/products/editor/test-mode', keys)
    for (const connect of [async () => undefined, connectStripe]) {
      await connect()
      expect(await verify()).toMatchObject({
        status: 200,
        body: {
          skipped: false,
          keyTypes: [{ price: { verified: true, unitAmount: 100 } }, { price: unverified }, {}, {}, {}],
        },
      })
    }
    expect(new Set(standIns.stripe.asked.map(({ key }) => key))).toStrictEqual(new Set(['sk_test_own']))
  })

  test('returns 422 when Stripe rejects the test keys', async () => {
    const keys = { publishableKey: 'pk_test_own', secretKey: 'sk_test_unknown' }
    await asks('POST', '/v1/products/editor/test-mode', keys)
    expect(await verify()).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('stripe rejects the key') as string },
    })
  })

  test('is skipped without a connection or without prices', async () => {
    const { body: before } = await asks('GET', '/v1/products/editor/key-types')
    expect(await verify()).toStrictEqual({ status: 200, body: { ...(before as object), skipped: true } })
    await connectStripe()
    await makeProduct(api.ask, tenant.token, 'unpriced')
    expect(await verify('unpriced')).toMatchObject({ status: 200, body: { skipped: true } })
    expect(standIns.stripe.asked).toStrictEqual([])
    expect(await recorded()).toHaveLength(6)
  })

  test.each(['silent', 'cut', 'garbled', 500] as const)(
    'records nothing when Stripe is %s for the second price',
    async (health) => {
      await connectStripe()
      const { asked } = standIns.stripe
      const push = asked.push.bind(asked)
      // From the second request on it fails.
      asked.push = (...more) => {
        if (asked.length > 0) standIns.stripe.health = health
        return push(...more)
      }
      try {
        expect(await verify()).toStrictEqual({
          status: 503,
          body: { error: 'stripe does not respond; nothing was changed, so retry' },
        })
      } finally {
        Reflect.deleteProperty(asked, 'push')
      }
      expect(asked.length).toBeGreaterThan(1)
      expect(await recorded()).toHaveLength(6)
    },
  )

  test('returns 422 when the account has revoked access', async () => {
    await connectStripe()
    standIns.stripe.accounts.delete(accountId)
    expect(await verify()).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('reconnect') as string },
    })
    expect(await recorded()).toHaveLength(6)
  })

  test("names the setting to fix when the platform's key is missing", async () => {
    await connectStripe()
    api.ledger.ports.providers = createProviders({ ...standIns.settings, stripeSecretKey: undefined })
    expect(await verify()).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('KEYLEDGER_STRIPE_SECRET_KEY') as string },
    })
  })

  test('keeps a price that was changed during the request to Stripe', async () => {
    await connectStripe()
    const { execute } = api.ledger.ports
    api.ledger.ports.execute = async (...args) => {
      api.ledger.ports.execute = execute
      const change = { price: { priceId: 'price_other' } }
      await asks('PATCH', '/v1/products/editor/key-types/pro', change)
      return execute(...args)
    }
    expect(await verify()).toMatchObject({
      status: 200,
      body: {
        keyTypes: [
          { price: { priceId: 'price_other', ...unverified } },
          { price: { verified: true } },
          {},
          {},
          {},
        ],
      },
    })
  })
})

describe('mapping prices', () => {
  const map = (prices: Record<string, string>) =>
    asks('POST', '/v1/products/editor/integrations/stripe', { prices })
  beforeEach(async () => {
    await makeProduct(api.ask, tenant.token, 'editor', {
      keyTypes: [{ name: 'Pro', price: { priceId: 'price_typed' } }, { name: 'Team' }],
    })
    await connectStripe()
    standIns.stripe.prices.set('price_1', { owner: accountId })
    standIns.stripe.prices.set('price_old', { owner: accountId, active: false })
    standIns.stripe.prices.set('price_foreign', { owner: 'acct_other' })
  })

  test('stores verified prices with the key types, and removes those not named', async () => {
    expect(await map({ team: 'price_1' })).toMatchObject({
      status: 200,
      body: {
        integration: {
          provider: 'stripe',
          products: [{ productId: 'editor', mapping: { prices: { team: 'price_1' } } }],
        },
      },
    })
    expect((await asks('GET', '/v1/products/editor/key-types')).body).toMatchObject({
      keyTypes: [
        { keyTypeId: 'pro', price: null },
        {
          keyTypeId: 'team',
          price: { priceId: 'price_1', verified: true, unitAmount: 2900, verifiedAt: beginning },
        },
      ],
    })
    expect(await map({})).toMatchObject({ body: { integration: { products: [] } } })
  })

  test.each(['price_gone', 'price_old', 'price_foreign', '.', '../accounts/acct_connected'])(
    'rejects %s and changes nothing',
    async (priceId) => {
      expect(await map({ pro: 'price_1', team: priceId })).toStrictEqual({
        status: 422,
        body: { error: 'the mapping names a price that Stripe does not have or has archived' },
      })
      expect(await recorded()).toHaveLength(3)
    },
  )

  test('rejects an unknown key type', async () => {
    expect(await map({ gone: 'price_1' })).toMatchObject({ status: 422 })
    expect(standIns.stripe.asked).toStrictEqual([])
  })

  test('changes nothing while Stripe does not respond', async () => {
    standIns.stripe.health = 'cut'
    expect(await map({ pro: 'price_1' })).toMatchObject({ status: 503 })
    expect(await recorded()).toHaveLength(3)
  })
})
