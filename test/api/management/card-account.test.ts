/**
 * Guarantee: a tenant has one account at the card provider despite crashes and races; a person who returns from
 * Stripe completes its connection, but only with the link that keyledger has issued.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { closeTenant } from '../../../src/commands/tenants.ts'
import { integrationStream } from '../../../src/domain/streams.ts'
import { createProviders } from '../../../src/payments/providers.ts'
import { type Method, makeTenant, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn, origin } from '../../harness/ledger.ts'
import type { ProviderStandIns } from '../../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'

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
  standIns.stripe.health = 'well'
  standIns.stripe.asked.length = 0
  standIns.stripe.accounts.clear()
  api.ledger.ports.providers = createProviders(standIns.settings)
})

const asks = async (method: Method, url: string, body?: unknown) => {
  const { status, body: answered } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered }
}
const connect = () => asks('POST', '/v1/integrations/stripe/connect')
const statusNow = async () => (await asks('GET', '/v1/integrations/stripe/status')).body
/** Opened by a browser, without a token. */
const visit = (url: string) => api.ask('GET', url.replace('http://localhost:8080', ''))
const events = async () =>
  (await eventsIn(api.ledger.ports.ledger, integrationStream(tenant.tenantId, 'stripe'))).map((entry) =>
    entry.readable ? entry.event.type : entry,
  )
const accountIds = () => [...standIns.stripe.accounts.keys()]
const [noAccount, notSubmitted] = [
  {
    provider: 'stripe',
    connected: false,
    status: 'not_connected',
    connectedAt: null,
    mode: null,
    test: false,
    accountId: null,
    account: null,
  },
  { detailsSubmitted: false, chargesEnabled: false, payoutsEnabled: false },
]

/** The last return URL that Stripe received. */
function comeback(): { returnUrl: string; refreshUrl: string } {
  const link = standIns.stripe.asked.findLast(({ path }) => path === '/v1/account_links')
  const { return_url, refresh_url } = z
    .object({ return_url: z.string(), refresh_url: z.string() })
    .parse(Object.fromEntries(new URLSearchParams(link?.body)))
  return { returnUrl: return_url, refreshUrl: refresh_url }
}

/** Simulates that the person has completed the form. */
function submit(chargesEnabled = true): void {
  for (const id of accountIds()) standIns.stripe.accounts.set(id, { detailsSubmitted: true, chargesEnabled })
}

describe('connecting an account', () => {
  test('creates an account and returns the URL of its onboarding', async () => {
    expect(await statusNow()).toStrictEqual(noAccount)
    const { status, body } = await connect()
    const [accountId = ''] = accountIds()
    expect(status).toBe(200)
    expect(body).toStrictEqual({
      url: expect.stringContaining(`https://connect.stripe.com/setup/s/${accountId}/`) as string,
    })
    expect(await statusNow()).toStrictEqual({
      ...noAccount,
      mode: 'connect',
      status: 'onboarding',
      accountId,
      account: notSubmitted,
    })
    const { returnUrl, refreshUrl } = comeback()
    const place = `http://localhost:8080/api/stripe/connect/${tenant.tenantId}`
    expect(returnUrl).toMatch(new RegExp(`^${place}/return\\?state=[\\w-]{43}$`))
    expect(refreshUrl).toMatch(new RegExp(`^${place}/refresh\\?state=[\\w-]{43}$`))
  })

  test('continues with the same account when repeated, each time with a new URL', async () => {
    const first = await connect()
    const second = await connect()
    expect(second.body).not.toStrictEqual(first.body)
    expect(accountIds()).toHaveLength(1)
    expect(await events()).toStrictEqual(['CardOnboardingStarted'])
  })

  test('creates one account when 10 requests run concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, connect))
    expect(answers.map(({ status }) => status)).toStrictEqual(Array<number>(10).fill(200))
    expect(accountIds()).toHaveLength(1)
    expect(await events()).toStrictEqual(['CardOnboardingStarted'])
  })

  test('continues with the same account after a crash between creating and recording it', async () => {
    const { execute } = api.ledger.ports
    api.ledger.ports.execute = () => Promise.reject(new Error('the process was killed'))
    expect(await connect()).toMatchObject({ status: 500 })
    api.ledger.ports.execute = execute
    expect(accountIds()).toHaveLength(1)
    expect(await statusNow()).toStrictEqual(noAccount)
    expect(await connect()).toMatchObject({ status: 200 })
    expect(accountIds()).toHaveLength(1)
  })

  test.each(['silent', 'cut', 'garbled', 500] as const)(
    'changes nothing and returns 503 while Stripe is %s',
    async (health) => {
      standIns.stripe.health = health
      const answer = await api.ask('POST', '/v1/integrations/stripe/connect', { token: tenant.token })
      expect({ status: answer.status, body: answer.body }).toStrictEqual({
        status: 503,
        body: { error: 'stripe does not respond; nothing was changed, so retry' },
      })
      expect(answer.headers['retry-after']).toMatch(/^\d+$/)
      expect(await events()).toStrictEqual([])
    },
  )

  test('accepts only an empty body', async () => {
    const body = { account: 'acct_1' }
    expect(await asks('POST', '/v1/integrations/stripe/connect', body)).toMatchObject({ status: 400 })
    expect(await asks('POST', '/v1/integrations/stripe/connect', {})).toMatchObject({ status: 200 })
  })

  test.each([
    [undefined, 'ask its operator to set KEYLEDGER_STRIPE_SECRET_KEY'],
    ['sk_test_wrong', 'ask its operator to set a valid KEYLEDGER_STRIPE_SECRET_KEY'],
  ])("names the setting to fix when the platform's key is %s", async (stripeSecretKey, message) => {
    api.ledger.ports.providers = createProviders({ ...standIns.settings, stripeSecretKey })
    expect(await connect()).toStrictEqual({
      status: 422,
      body: { error: expect.stringContaining(message) as string },
    })
    expect(await events()).toStrictEqual([])
    expect(await statusNow()).toStrictEqual(noAccount)
  })
})

describe('the return from Stripe', () => {
  test('connects the account when the onboarding is complete', async () => {
    await connect()
    submit()
    const { returnUrl, refreshUrl } = comeback()
    for (let times = 0; times < 2; times++) {
      const { status, text, headers } = await visit(returnUrl)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(text).toContain('Stripe is connected')
    }
    const connected = { connected: true, connectedAt: beginning }
    expect(await statusNow()).toStrictEqual({
      ...noAccount,
      ...connected,
      mode: 'connect',
      status: 'connected',
      accountId: accountIds()[0],
      account: { detailsSubmitted: true, chargesEnabled: true, payoutsEnabled: true },
    })
    const { body } = await asks('GET', '/v1/integrations?limit=1')
    expect(body).toMatchObject({ items: [{ provider: 'stripe', kind: 'card', ...connected }] })
    expect(await events()).toStrictEqual(['CardOnboardingStarted', 'CardAccountConnected'])
    expect(await connect()).toMatchObject({ status: 409 })
    // There is nothing to continue.
    expect(await visit(refreshUrl)).toMatchObject({ status: 404 })
  })

  test('links to the rest of the onboarding when it is not complete', async () => {
    await connect()
    const { returnUrl, refreshUrl } = comeback()
    const { status, text } = await visit(returnUrl)
    expect({ status, text }).toMatchObject({
      status: 200,
      text: expect.stringContaining(`<a href="${refreshUrl}">`) as string,
    })
    expect(await events()).toStrictEqual(['CardOnboardingStarted'])
    expect(await visit(refreshUrl)).toMatchObject({
      status: 303,
      headers: { location: expect.stringContaining(`/setup/s/${accountIds()[0]}/`) as string },
    })
    submit(false)
    expect((await visit(returnUrl)).text).toContain('Stripe is connected')
    expect(await statusNow()).toMatchObject({
      connected: true,
      account: { detailsSubmitted: true, chargesEnabled: false },
    })
  })

  test('redirects to a new URL when the onboarding URL has expired', async () => {
    await connect()
    const { status, headers } = await visit(comeback().refreshUrl)
    expect({ status, location: headers.location }).toStrictEqual({
      status: 303,
      location: expect.stringContaining('https://connect.stripe.com/setup/s/') as string,
    })
    expect(headers['cache-control']).toBe('no-store')
  })

  test('returns 503 with Retry-After while Stripe does not respond', async () => {
    await connect()
    submit()
    const { returnUrl, refreshUrl } = comeback()
    standIns.stripe.health = 503
    expect(await visit(returnUrl)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(await visit(refreshUrl)).toMatchObject({ status: 503 })
    standIns.stripe.health = 'well'
    expect(await visit(returnUrl)).toMatchObject({ status: 200 })
    expect(await statusNow()).toMatchObject({ connected: true })
  })

  test('returns 404 when the state is wrong, of another tenant, or of an earlier connection', async () => {
    await connect()
    submit()
    const { returnUrl, refreshUrl } = comeback()
    const other = await makeTenant(api.ledger)
    for (const url of [returnUrl, refreshUrl]) {
      for (const wrong of [
        url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        url.replace(/state=.*/, 'state='),
        url.replace(/\?.*/, ''),
        `${url}&state=twice`,
        url.replace(tenant.tenantId, other.tenantId),
        url.replace(tenant.tenantId, 'absent'),
        url.replace(tenant.tenantId, 'a%7Cb'),
      ]) {
        const { status, text } = await visit(wrong)
        expect({ wrong, status, text }).toMatchObject({
          status: 404,
          text: expect.stringContaining('Link not valid') as string,
        })
      }
    }
    await asks('DELETE', '/v1/integrations/stripe')
    expect(await visit(returnUrl)).toMatchObject({ status: 404 })
    expect(await statusNow()).toStrictEqual(noAccount)
    // Earlier links do not work again after the next connection.
    await connect()
    expect(await visit(returnUrl)).toMatchObject({ status: 404 })
    expect(await visit(comeback().returnUrl)).toMatchObject({ status: 200 })
  })

  test('returns 404 when the tenant is closed', async () => {
    await connect()
    submit()
    await closeTenant(api.ledger.ports, tenant.tenantId, null, origin)
    expect(await visit(comeback().returnUrl)).toMatchObject({ status: 404 })
    expect(await events()).toStrictEqual(['CardOnboardingStarted'])
  })
})

describe('a connected account', () => {
  const connectFully = async () => {
    await connect()
    submit()
    await visit(comeback().returnUrl)
  }

  test('is reused when it is disconnected and connected again', async () => {
    await connectFully()
    const [accountId] = accountIds()
    expect(await asks('DELETE', '/v1/integrations/stripe')).toMatchObject({
      status: 200,
      body: { integration: { connected: false, connectedAt: null } },
    })
    await connectFully()
    expect(accountIds()).toStrictEqual([accountId])
    expect(await statusNow()).toMatchObject({ connected: true, accountId })
  })

  test('shows no details when it has revoked access; the next connection creates another account', async () => {
    await connectFully()
    const [lost = ''] = accountIds()
    standIns.stripe.accounts.delete(lost)
    expect(await statusNow()).toMatchObject({ connected: true, accountId: lost, account: null })
    await asks('DELETE', '/v1/integrations/stripe')
    await connectFully()
    const [found] = accountIds()
    expect(found).not.toBe(lost)
    expect(await statusNow()).toMatchObject({ connected: true, accountId: found })
  })

  test('has a status of 503 while Stripe does not respond', async () => {
    await connectFully()
    standIns.stripe.health = 502
    expect(await asks('GET', '/v1/integrations/stripe/status')).toMatchObject({ status: 503 })
  })
})
