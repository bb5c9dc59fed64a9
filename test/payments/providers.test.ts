/**
 * A provider's answers are distinguished into success, rejection and no answer. "No answer" takes no longer
 * than the time limit, and no error repeats what was sent.
 */
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../src/domain/refusal.ts'
import { ProviderRefused, ProviderUnavailable } from '../../src/payments/errors.ts'
import { createProviders, type Providers } from '../../src/payments/providers.ts'
import { goodKey, type ProviderStandIns, platformKey, poorKey, startProviders } from '../harness/providers.ts'

let standIns: ProviderStandIns
let providers: Providers
beforeAll(async () => {
  standIns = await startProviders()
  providers = createProviders({ ...standIns.settings, timeLimitMs: 800 })
})
afterAll(() => standIns.close())
beforeEach(() => {
  for (const standIn of [standIns.stripe, standIns.paddle, standIns.polar, standIns.lemonsqueezy]) {
    standIn.health = 'well'
    standIn.asked.length = 0
  }
})

const badKey = 'key_canary_bad_0000'

/** The fields of an error, and everything that a log line could hold of it. */
async function errorFrom(work: Promise<unknown>) {
  try {
    await work
  } catch (error) {
    for (const secret of [badKey, goodKey, poorKey, platformKey]) {
      expect(`${(error as Error).message} ${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain(
        secret,
      )
    }
    if (error instanceof ProviderRefused) return { provider: error.provider, refused: error.reason }
    if (error instanceof ProviderUnavailable) {
      return { provider: error.provider, retryAfterSeconds: error.retryAfterSeconds }
    }
    if (error instanceof Refusal) return { refusal: error.code }
    throw error
  }
  return 'none'
}

const sick = ['silent', 'cut', 'garbled', 500, 502, 503, 429] as const

describe.each(['lemonsqueezy', 'paddle', 'polar'] as const)('an API key of %s', (provider) => {
  const check = (key: string) => errorFrom(providers.checkApiKey(provider, key))

  test('that is valid passes, with one request that changes nothing', async () => {
    expect(await check(goodKey)).toBe('none')
    expect(standIns[provider].asked.map(({ method, key }) => ({ method, key }))).toStrictEqual([
      { method: 'GET', key: goodKey },
    ])
  })

  test('that is invalid, or lacks rights, is refused', async () => {
    expect(await check(badKey)).toStrictEqual({ provider, refused: 'key' })
    expect(await check(poorKey)).toStrictEqual({ provider, refused: 'permission' })
  })

  test.each(sick)('cannot be tested while the provider is %s, which is reported in time', async (health) => {
    standIns[provider].health = health
    const found = await check(goodKey)
    const read = typeof health === 'number' && provider !== 'paddle'
    expect(found).toStrictEqual({ provider, retryAfterSeconds: read ? 17 : 5 })
  })
})

test.each([
  ['pdl_sdbx_apikey_1', 'https://api.paddle.com', 'https://sandbox-api.paddle.com/event-types'],
  ['pdl_live_apikey_1', 'https://api.paddle.com', 'https://api.paddle.com/event-types'],
  ['pdl_sdbx_apikey_1', 'https://proxy.example.com', 'https://proxy.example.com/event-types'],
])('the key %s of paddle is tested at %s, or at its sandbox: %s', async (key, paddle, asked) => {
  const request = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no connection'))
  try {
    const { apiUrls } = standIns.settings
    const at = createProviders({ ...standIns.settings, apiUrls: { ...apiUrls, paddle } })
    expect(await errorFrom(at.checkApiKey('paddle', key))).toStrictEqual({
      provider: 'paddle',
      retryAfterSeconds: 5,
    })
    expect(request.mock.calls.map(([url]) => url)).toStrictEqual([asked])
  } finally {
    request.mockRestore()
  }
})

describe('the card provider', () => {
  test('opens one account for one idempotency key, of the standard type, named after the tenant', async () => {
    const { card } = providers
    const first = await card.openAccount('acme', 'once')
    expect(await card.openAccount('acme', 'once')).toBe(first)
    expect(await card.openAccount('acme', 'twice')).not.toBe(first)
    expect(Object.fromEntries(new URLSearchParams(standIns.stripe.asked[0]?.body))).toStrictEqual({
      type: 'standard',
      'metadata[keyledger_tenant]': 'acme',
    })
  })

  test('gives a link that leads through the onboarding and back', async () => {
    const { card } = providers
    const accountId = await card.openAccount('acme', 'link')
    const url = await card.onboardingLink(
      accountId,
      'http://localhost/back?state=1',
      'http://localhost/again',
    )
    expect(url).toContain(`https://connect.stripe.com/setup/s/${accountId}/`)
    expect(Object.fromEntries(new URLSearchParams(standIns.stripe.asked.at(-1)?.body))).toStrictEqual({
      account: accountId,
      type: 'account_onboarding',
      return_url: 'http://localhost/back?state=1',
      refresh_url: 'http://localhost/again',
    })
  })

  test('returns what an account may do', async () => {
    const { card } = providers
    const accountId = await card.openAccount('acme', 'read')
    standIns.stripe.accounts.set(accountId, { detailsSubmitted: true, chargesEnabled: false })
    expect(await card.readAccount({ accountId })).toStrictEqual({
      detailsSubmitted: true,
      chargesEnabled: false,
      payoutsEnabled: false,
    })
    expect(await errorFrom(card.readAccount({ accountId: 'acct_of_another' }))).toStrictEqual({
      provider: 'stripe',
      refused: 'permission',
    })
  })

  test('finds prices on the connected account, and with a key of the product its own', async () => {
    const { card } = providers
    const accountId = await card.openAccount('acme', 'prices')
    const { prices, keys, asked } = standIns.stripe
    keys.add('sk_test_own')
    prices.set('price_year', { owner: accountId, recurring: { interval: 'year', interval_count: 1 } })
    prices.set('price_quarter', { owner: accountId, recurring: { interval: 'month', interval_count: 3 } })
    prices.set('price_tiered', { owner: accountId, unit_amount: null, currency: 'eur' })
    prices.set('price_old', { owner: accountId, active: false })
    prices.set('price_own', { owner: 'sk_test_own', unit_amount: 0 })
    const ids = [
      'price_year',
      'price_quarter',
      'price_tiered',
      'price_old',
      'price_own',
      'price_none',
      '.',
      '../x?y',
    ]
    const usd = { active: true, unitAmount: 2900, currency: 'usd', interval: null }
    expect(Object.fromEntries(await card.readPrices({ accountId }, ids))).toStrictEqual({
      price_year: { ...usd, interval: 'year' },
      price_quarter: { ...usd, interval: '3 months' },
      price_tiered: { ...usd, unitAmount: null, currency: 'eur' },
      price_old: { ...usd, active: false },
    })
    expect(new Set(asked.slice(1).map(({ headers }) => headers['stripe-account']))).toStrictEqual(
      new Set([accountId]),
    )
    expect(Object.fromEntries(await card.readPrices({ key: 'sk_test_own' }, ids))).toStrictEqual({
      price_own: { ...usd, unitAmount: 0 },
    })
    expect(asked.at(-1)?.headers['stripe-account']).toBeUndefined()
    expect(await card.readPrices({ accountId }, [])).toStrictEqual(new Map())
  })

  test('returns no prices when some cannot be read', async () => {
    const accountId = await providers.card.openAccount('acme', 'prices')
    expect(
      await errorFrom(providers.card.readPrices({ accountId: 'acct_lost' }, ['price_year'])),
    ).toStrictEqual({
      provider: 'stripe',
      refused: 'permission',
    })
    standIns.stripe.health = 503
    expect(
      await errorFrom(providers.card.readPrices({ accountId }, ['price_year', 'price_none'])),
    ).toStrictEqual({
      provider: 'stripe',
      retryAfterSeconds: 5,
    })
  })

  test('that answers every single price in time, but not all of them, has not answered', async () => {
    const { stripe } = standIns
    stripe.delayMs = 600
    const ids = Array.from({ length: 100 }, (_, index) => `price_${index}`)
    try {
      expect(await errorFrom(providers.card.readPrices({ key: platformKey }, ids))).toMatchObject({
        provider: 'stripe',
        retryAfterSeconds: 5,
      })
      const asked = stripe.asked.length
      await setTimeout(1000)
      // The rest is not requested.
      expect(stripe.asked.length - asked).toBeLessThanOrEqual(8)
    } finally {
      stripe.delayMs = 0
    }
  })

  test.each(sick)('that is %s is reported in time', async (health) => {
    standIns.stripe.health = health
    expect(await errorFrom(providers.card.readAccount({ accountId: 'acct_1' }))).toMatchObject({
      provider: 'stripe',
    })
  })

  test("distinguishes an invalid key of the platform from a vendor's", async () => {
    const settings = { ...standIns.settings, stripeSecretKey: badKey }
    const { card } = createProviders(settings)
    expect(await errorFrom(card.readAccount({ accountId: 'acct_1' }))).toStrictEqual({
      refusal: 'platform_key_refused',
    })
    expect(await errorFrom(card.readPrices({ key: 'sk_test_unknown' }, ['price_1']))).toStrictEqual({
      provider: 'stripe',
      refused: 'key',
    })
    const none = createProviders({ ...settings, stripeSecretKey: undefined }).card
    expect(await errorFrom(none.readAccount({ accountId: 'acct_1' }))).toStrictEqual({
      refusal: 'platform_key_missing',
    })
    expect(await errorFrom(none.readPrices({ accountId: 'acct_1' }, ['price_1']))).toStrictEqual({
      refusal: 'platform_key_missing',
    })
  })
})

test('a refused connection counts as no answer', async () => {
  const nowhere = 'http://127.0.0.1:1'
  const away = createProviders({
    ...standIns.settings,
    apiUrls: { stripe: nowhere, lemonsqueezy: nowhere, paddle: nowhere, polar: nowhere },
  })
  for (const provider of ['lemonsqueezy', 'paddle', 'polar'] as const) {
    expect(await errorFrom(away.checkApiKey(provider, goodKey))).toStrictEqual({
      provider,
      retryAfterSeconds: 5,
    })
  }
  expect(await errorFrom(away.card.readAccount({ accountId: 'acct_1' }))).toStrictEqual({
    provider: 'stripe',
    retryAfterSeconds: 5,
  })
})

describe('the page of an invoice', () => {
  const first = { saleId: 'order_1', paymentId: null, links: ['payment:pi_1'] }
  const page = (
    provider: 'lemonsqueezy' | 'paddle' | 'polar',
    payment: typeof first | { paymentId: string },
  ) => providers.invoicePage(provider, goodKey, { ...first, ...payment })
  const stripePage = (payment: object) =>
    providers.card.readInvoicePage({ key: platformKey }, { ...first, ...payment })

  test('is that of the first payment, or of a later one', async () => {
    expect({
      lemonsqueezy: [await page('lemonsqueezy', first), await page('lemonsqueezy', { paymentId: '7' })],
      paddle: [await page('paddle', first), await page('paddle', { paymentId: 'txn_2' })],
      polar: [await page('polar', first), await page('polar', { paymentId: 'order_2' })],
      stripe: [
        await stripePage({}),
        await stripePage({ links: ['payment:pi_1', 'invoice:in_1'] }),
        await stripePage({ paymentId: 'in_2' }),
      ],
    }).toStrictEqual({
      lemonsqueezy: [
        'https://app.lemonsqueezy.com/my-orders/order_1?signature=1',
        'https://app.lemonsqueezy.com/my-orders/invoices/7?signature=1',
      ],
      paddle: [
        'https://paddle-production-invoice-service-pdfs.example/order_1.pdf?inline',
        'https://paddle-production-invoice-service-pdfs.example/txn_2.pdf?inline',
      ],
      polar: ['https://polar-invoices.example/order_1.pdf', 'https://polar-invoices.example/order_2.pdf'],
      stripe: [
        'https://pay.stripe.com/receipts/pi_1',
        'https://invoice.stripe.com/i/in_1',
        'https://invoice.stripe.com/i/in_2',
      ],
    })
  })

  test('is none where the provider has none', async () => {
    expect(await page('lemonsqueezy', { paymentId: '7_none' })).toBeUndefined()
    expect(await page('polar', { paymentId: 'order_none' })).toBeUndefined()
    expect(await errorFrom(page('paddle', { paymentId: 'txn_none' }))).toMatchObject({ provider: 'paddle' })
    expect(await stripePage({ paymentId: 'in_none' })).toBeUndefined()
    expect(await stripePage({ links: ['subscription:sub_1'] })).toBeUndefined()
  })

  test.each(sick)('cannot be read while the provider is %s, which is reported in time', async (health) => {
    for (const provider of ['lemonsqueezy', 'paddle', 'polar', 'stripe'] as const) {
      standIns[provider].health = health
      const found = await errorFrom(provider === 'stripe' ? stripePage({}) : page(provider, first))
      expect(found).toMatchObject({ provider })
    }
  })
})
