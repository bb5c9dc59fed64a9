/**
 * Guarantee: the same as `orders`, over HTTP: notifications signed as by the five providers, each sent twice and in
 * any order, concurrently. When no notification says which sale a refunded payment belongs to, Stripe is asked.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findLicense } from '../../projections/licenses/queries.ts'
import { listSales } from '../../projections/sales/queries.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { uniqueId } from '../harness/ledger.ts'
import { platformWebhookSecret } from '../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { makeProduct } from '../http/samples.ts'
import { saleIdOf, sentOf } from './five-providers.ts'
import { type Life, lifeOf, limits, type Sent, wantedOf } from './lives.ts'
import { signatureOf } from './signed.ts'
import { stripeAccount } from './told-by-stripe.ts'

const wantedNotifications = wholeVariable('KEYLEDGER_TEST_NOTIFICATIONS', 60)
const secret = 'whsec_canary_of_the_provider'

let api: SellingApi
let tenant: TestTenant
let accountId: string
/** Whether Stripe is connected with a key of the tenant's own account. */
let isOwn: boolean
let pingPath: string
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())

const manage = (url: string, body?: object) => api.ask('POST', url, { token: tenant.token, body })

beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const day = { count: 1, unit: 'day' }
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Solo', keyTypeId: 'solo', deviceLimit: limits.solo, duration: day, sellInMultiples: true },
      { name: 'Team', keyTypeId: 'team', deviceLimit: limits.team, duration: day, sellInMultiples: true },
    ],
  })
  isOwn = false
  accountId = uniqueId('acct')
  api.standIns.stripe.accounts.set(accountId, { detailsSubmitted: true, chargesEnabled: true })
  await connectAccount(api.ledger.ports, tenant.tenantId, accountId)
  const recurring = { interval: 'month', interval_count: 1 }
  for (const id of ['price_solo', 'price_team'])
    api.standIns.stripe.prices.set(id, { owner: accountId, recurring })
  const prices = { solo: 'price_solo', team: 'price_team' }
  expect((await manage('/v1/products/editor/integrations/stripe', { prices })).status).toBe(200)
  for (const [provider, mapping] of [
    ['lemonsqueezy', { variants: { variant_solo_month: 'solo', variant_team: 'team' } }],
    ['paddle', { prices: { pri_solo_month: 'solo', pri_team: 'team' } }],
    ['polar', { products: { prod_solo_month: 'solo', prod_team: 'team' } }],
  ] as const) {
    expect((await manage(`/v1/integrations/${provider}/connect`, { webhookSecret: secret })).status).toBe(200)
    await manage(`/v1/products/editor/integrations/${provider}`, mapping)
  }
  const { body } = await manage('/v1/integrations/gumroad/connect')
  pingPath = new URL(/https?:[^"]+token=[^"]+/.exec(JSON.stringify(body))?.[0] ?? '').href.replace(
    /^https?:\/\/[^/]+/,
    '',
  )
  await manage('/v1/products/editor/integrations/gumroad', { permalinks: ['monthly'] })
})

/** As the provider sends it: where, and signed. */
function requestOf({ provider }: Life, { raw: bare, address }: Sent, id: number) {
  const raw = bare.replaceAll(stripeAccount, accountId).replaceAll('"solo-month"', '"solo"')
  const now = api.ledger.clock.now()
  const signed = (text: string, own = secret) => ({
    raw: text,
    headers: signatureOf(provider, text, { secret: own, now, id: `msg_${id}` }),
  })
  switch (provider) {
    case 'stripe':
      return isOwn
        ? {
            url: `/api/stripe/webhook/${tenant.tenantId}`,
            ...signed(raw.replace(`"account":"${accountId}",`, '')),
          }
        : { url: '/api/stripe/webhook/connect', ...signed(raw, platformWebhookSecret) }
    case 'gumroad': {
      const url = address === 'resource' ? pingPath.replace('?', '/resources?') : pingPath
      return { url, ...signed(raw) }
    }
    default:
      return { url: `/webhooks/${provider}/${tenant.tenantId}`, ...signed(raw) }
  }
}

/** Sends a notification, again after a 503 as providers do: a busy machine may not answer within the four seconds. */
async function send(life: Life, sent: Sent, id: number): Promise<void> {
  const { url, raw, headers } = requestOf(life, sent, id)
  let { status } = await api.ask('POST', url, { raw, headers })
  while (status === 503) ({ status } = await api.ask('POST', url, { raw, headers }))
  expect({ url, raw, status: status === 204 ? 200 : status }).toStrictEqual({ url, raw, status: 200 })
}

async function licenseOf(life: Life) {
  const { ports } = api.ledger
  const { items } = await listSales(ports.db, tenant.tenantId, {}, { after: undefined, limit: 100 })
  const sale = items.find(({ saleId, provider }) => saleId === saleIdOf(life) && provider === life.provider)
  const entry = sale && (await findLicense(ports.db, tenant.tenantId, sale.licenseId))
  if (!entry) throw new Error(`${saleIdOf(life)} has no license`)
  const { revokedAt, refundedPayments, keyTypeId, quantity, deviceLimit, expiresAt, createdAt } =
    entry.license
  const refunded = refundedPayments.length
  const shown = { isAlive: revokedAt === null, refunded, keyTypeId, quantity, deviceLimit, expiresAt }
  return { shown, createdAt }
}

/** When a license of a day ends that was issued then; the clock of these tests is far ahead of the payments. */
const dayAfter = (moment: string) => {
  const end = new Date(Date.parse(moment) + 24 * 60 * 60 * 1000)
  end.setUTCMilliseconds(0)
  return end.toISOString()
}

/** Connects the tenant's own account at Stripe in place of the platform's. */
async function connectOwnAccount(): Promise<void> {
  isOwn = true
  const apiKey = `rk_live_${uniqueId('key')}`
  api.standIns.stripe.keys.add(apiKey)
  await api.ask('DELETE', '/v1/integrations/stripe', { token: tenant.token })
  const { status } = await manage('/v1/integrations/stripe/own-account', { apiKey, webhookSecret: secret })
  expect(status).toBe(200)
}

test.each([
  ['the platform', false],
  ['an own account', true],
] as const)(
  `with Stripe through %s, ${wantedNotifications} signed notifications of five providers, each twice in any order, give the right licenses`,
  {
    timeout: testMs + wantedNotifications * 500,
  },
  async (_, own) => {
    if (own) await connectOwnAccount()
    let told = 0
    for (let round = 0; told < wantedNotifications; round++) {
      const lives = Array.from({ length: 6 }, (_, index) => `h${round}x${index}`).map((name) => {
        const [life] = fc.sample(lifeOf(name), 1)
        if (!life) throw new Error('there is one')
        return { ...life, isPerpetual: false }
      })
      const all = lives.flatMap((life) => sentOf(life).map((sent) => ({ life, sent })))
      told += all.length
      const waiting = [...all, ...all]
        .map((one, index) => ({ ...one, id: index % all.length, order: Math.random() }))
        .sort((a, b) => a.order - b.order)
      const lane = async () => {
        for (let next = waiting.pop(); next; next = waiting.pop()) await send(next.life, next.sent, next.id)
      }
      await Promise.all([lane(), lane(), lane()])
      for (const life of lives) {
        const { shown, createdAt } = await licenseOf(life)
        const wanted = wantedOf(life, dayAfter(createdAt))
        const isFirstLeft =
          life.fates[0] !== 'parts' && life.fates[0] !== 'refunded' && life.fates[0] !== 'lost'
        // Never shorter than it was issued, while what it was issued for is paid, or nothing is left.
        const own = isFirstLeft || !wanted.isAlive ? dayAfter(createdAt) : ''
        const expiresAt = [wanted.expiresAt ?? '', life.hasEnded ? '' : own].sort().at(-1)
        expect({ life, shown }).toStrictEqual({ life, shown: { ...wanted, expiresAt } })
      }
    }
  },
)

describe('a refund of an unknown payment', () => {
  const life: Life = {
    name: 'asked',
    provider: 'stripe',
    isSubscription: true,
    isPerpetual: false,
    amount: 4900,
    extras: 0,
    fates: ['refunded'],
    changes: [],
    hasEnded: false,
    isPaidInFull: false,
  }
  const typeOf = ({ raw }: Sent) => z.object({ type: z.string() }).parse(JSON.parse(raw)).type
  /** Of a vendor who has not chosen the event that names it. */
  const told = sentOf(life).filter((sent) => typeOf(sent) !== 'invoice_payment.paid')
  let stripe: SellingApi['standIns']['stripe']

  beforeEach(() => {
    ;({ stripe } = api.standIns)
    stripe.health = 'well'
    stripe.invoices.clear()
    stripe.asked.length = 0
  })

  test.each([
    [false, false],
    [true, false],
    [true, true],
  ])(
    'finds its sale by a request to Stripe (before the sale: %s, with an own key: %s)',
    async (before, own) => {
      if (own) await connectOwnAccount()
      stripe.invoices.set('pi_asked_0', 'in_asked_0')
      for (const sent of before ? told.toReversed() : told) await send(life, sent, 0)
      expect((await licenseOf(life)).shown).toMatchObject({ isAlive: false, refunded: 1 })
      expect(stripe.asked.filter(({ path }) => path === '/v1/invoice_payments')).toHaveLength(1)
      for (const sent of told) await send(life, sent, 0)
      expect(stripe.asked.filter(({ path }) => path === '/v1/invoice_payments')).toHaveLength(1)
    },
  )

  test('returns 503 while Stripe does not respond, and takes effect when sent again', async () => {
    const [session, invoice, refund] = told
    if (!session || !invoice || !refund) throw new Error('there are three')
    await send(life, session, 0)
    stripe.health = 503
    const { url, raw, headers } = requestOf(life, refund, 0)
    expect(await api.ask('POST', url, { raw, headers })).toMatchObject({ status: 503 })
    stripe.health = 'well'
    stripe.invoices.set('pi_asked_0', 'in_asked_0')
    await send(life, refund, 0)
    expect((await licenseOf(life)).shown).toMatchObject({ isAlive: false })
  })

  test('is kept when Stripe knows no invoice, and takes effect when its payment becomes known', async () => {
    for (const sent of told) await send(life, sent, 0)
    expect((await licenseOf(life)).shown).toMatchObject({ isAlive: true, refunded: 0 })
    for (const sent of sentOf(life)) await send(life, sent, 0)
    expect((await licenseOf(life)).shown).toMatchObject({ isAlive: false, refunded: 1 })
  })
})
