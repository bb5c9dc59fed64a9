/**
 * Guarantee: what was bought in a session of Stripe is read from Stripe, which the notification does not hold. Each mapped
 * line item has one license in its quantity; while Stripe cannot be read, nothing is recorded and Stripe sends again.
 */
import { Stripe } from 'stripe'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findLicense } from '../../projections/licenses/queries.ts'
import { listSales } from '../../projections/sales/queries.ts'
import { itemsOf } from '../../src/domain/sales/items.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { uniqueId } from '../harness/ledger.ts'
import { platformWebhookSecret } from '../harness/providers.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { makeProduct } from '../http/samples.ts'
import { month } from './notifications.ts'

let api: SellingApi
let stripe: SellingApi['standIns']['stripe']
let tenant: TestTenant
let account: string
beforeAll(async () => {
  api = await openSellingApi()
  ;({ stripe } = api.standIns)
})
afterAll(() => api.close())

beforeEach(async () => {
  stripe.health = 'well'
  stripe.lineItems.clear()
  stripe.lineItemsInPage = 100
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Monthly', duration: { count: 1, unit: 'month' }, sellInMultiples: true },
      { name: 'Team', duration: null, deviceLimit: 2, sellInMultiples: true },
    ],
  })
  account = uniqueId('acct')
  stripe.accounts.set(account, { detailsSubmitted: true, chargesEnabled: true })
  await connectAccount(api.ledger.ports, tenant.tenantId, account)
  for (const id of ['price_month', 'price_team']) stripe.prices.set(id, { owner: account })
  await map({ prices: { monthly: 'price_month', team: 'price_team' } })
  stripe.asked.length = 0
})

async function map(mapping: object) {
  const { token } = tenant
  const { status } = await api.ask('POST', '/v1/products/editor/integrations/stripe', {
    token,
    body: mapping,
  })
  expect(status).toBe(200)
}

const secondsOf = (moment: string) => Date.parse(moment) / 1000

/** Sends an event of the account, signed. @returns the answer's status */
async function send(type: string, object: object, more: { previous?: object; live?: boolean } = {}) {
  const raw = JSON.stringify({
    id: uniqueId('evt'),
    object: 'event',
    account,
    type,
    livemode: more.live ?? true,
    created: secondsOf('2026-03-01T12:00:00.000Z'),
    data: { object, ...(more.previous && { previous_attributes: more.previous }) },
  })
  const timestamp = Math.floor(api.ledger.clock.now().getTime() / 1000)
  const signed = { payload: raw, timestamp, secret: platformWebhookSecret }
  const headers = { 'stripe-signature': Stripe.webhooks.generateTestHeaderString(signed) }
  const { status, body } = await api.ask('POST', '/api/stripe/webhook/connect', { raw, headers })
  return { status, body }
}

const session = (own: object = {}) => ({
  id: 'cs_1',
  object: 'checkout.session',
  mode: 'payment',
  payment_status: 'paid',
  amount_total: 12_900,
  currency: 'usd',
  customer_details: { email: 'ada@example.com', name: 'Ada Lovelace' },
  metadata: {},
  payment_intent: 'pi_1',
  ...own,
})
const complete = (own: object = {}, live = true) => send('checkout.session.completed', session(own), { live })
const bought = (...items: [price: string | null, quantity: number | null][]) =>
  stripe.lineItems.set(
    'cs_1',
    items.map(([price, quantity]) => ({ price, quantity })),
  )
const reads = () => stripe.asked.filter(({ path }) => path.endsWith('/line_items'))

async function sales() {
  const page = { after: undefined, limit: 100 }
  return (await listSales(api.ledger.ports.db, tenant.tenantId, {}, page)).items
}
/** The licenses of the only sale, in the order of its items. */
async function licensesNow() {
  const [sale, ...others] = await sales()
  if (!sale || others.length > 0) throw new Error('there is not exactly one sale')
  const licensed = itemsOf(sale).filter(({ licensedAt }) => licensedAt !== null)
  const { db } = api.ledger.ports
  return Promise.all(
    licensed.map(async ({ licenseId }) => (await findLicense(db, tenant.tenantId, licenseId))?.license),
  )
}
async function notices() {
  const [sale] = await sales()
  const { body } = await api.ask('GET', `/v1/sales/${sale?.id}`, { token: tenant.token })
  return (body as { sale: { notices: unknown[] } }).sale.notices
}

test('each mapped line item is licensed in its quantity, whatever page it is on; the others are notices', async () => {
  bought(['price_icons', 1], ['price_team', 3], [null, 2], ['price_left_out', 0], ['price_month', null])
  stripe.lineItemsInPage = 2
  expect(await complete()).toStrictEqual({ status: 200, body: { received: true } })
  expect(await complete()).toStrictEqual({ status: 200, body: { received: true, duplicate: true } })
  expect(await licensesNow()).toMatchObject([
    { keyTypeId: 'team', quantity: 3, deviceLimit: 6, saleId: 'cs_1' },
    { keyTypeId: 'monthly', quantity: 1, saleId: 'cs_1' },
  ])
  expect(await notices()).toMatchObject([
    { code: 'item_not_mapped', message: expect.stringMatching(/^price_icons/) as string },
    { code: 'item_not_mapped', message: expect.stringMatching(/^2 × li_cs_1_2/) as string },
  ])
  // Three pages, and not again for the repetition.
  expect(reads().map(({ headers }) => headers['stripe-account'])).toStrictEqual([account, account, account])
})

test.each([
  ['a mapped payment link', { payment_link: 'plink_1' }, 'team'],
  ['a payment link that is not mapped, with a mapped price', { payment_link: 'plink_2' }, 'monthly'],
  ['metadata of a payment link', { payment_link: 'plink_2', metadata: { product_id: 'editor' } }, 'monthly'],
] as const)(
  '%s says what the first line item is, in the quantity that the buyer chose',
  async (_, own, first) => {
    await map({ paymentLinks: { plink_1: 'team' } })
    bought(['price_month', 4], ['price_team', 2])
    expect(await complete(own)).toMatchObject({ status: 200 })
    expect(await licensesNow()).toMatchObject([
      { keyTypeId: first, quantity: 4 },
      { keyTypeId: 'team', quantity: 2 },
    ])
  },
)

test.each([
  ['does not answer', () => (stripe.health = 'cut'), 503],
  ['has an error', () => (stripe.health = 500), 503],
  ['answers something else', () => (stripe.health = 'garbled'), 503],
  ['has closed the account', () => stripe.accounts.delete(account), 422],
  ['does not know the session', () => stripe.lineItems.clear(), 422],
])('while Stripe %s nothing is recorded, and the repetition licenses every item', async (_, fail, status) => {
  bought(['price_month', 1], ['price_team', 2])
  fail()
  expect(await complete()).toMatchObject({ status })
  expect(await sales()).toStrictEqual([])
  stripe.health = 'well'
  stripe.accounts.set(account, { detailsSubmitted: true, chargesEnabled: true })
  bought(['price_month', 1], ['price_team', 2])
  expect(await complete()).toMatchObject({ status: 200 })
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'monthly' }, { keyTypeId: 'team', quantity: 2 }])
})

test('a payment link sells what it is mapped to when the key may not read the session', async () => {
  await map({ paymentLinks: { plink_1: 'team' } })
  stripe.accounts.delete(account)
  expect(await complete({ payment_link: 'plink_1' })).toMatchObject({ status: 200 })
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'team', quantity: 1 }])
})

test('a session whose metadata name the product needs no request, and sells that alone', async () => {
  stripe.health = 'cut'
  const metadata = { product_id: 'editor', key_type_id: 'team', quantity: '5' }
  expect(await complete({ metadata })).toMatchObject({ status: 200 })
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'team', quantity: 5 }])
  expect(reads()).toStrictEqual([])
})

test('a session of test mode that the key does not find is what its notification says', async () => {
  await map({ paymentLinks: { plink_1: 'team' } })
  await api.ask('POST', '/v1/products/editor/test-mode', { token: tenant.token, body: {} })
  expect(await complete({ payment_link: 'plink_1' }, false)).toMatchObject({ status: 200 })
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'team', quantity: 1, test: true }])
})

test('a session with more items than a sale can have is refused', async () => {
  bought(...Array.from({ length: 101 }, (_, index): [string, number] => [`price_${index}`, 1]))
  expect(await complete()).toMatchObject({ status: 400 })
  expect(await sales()).toStrictEqual([])
})

test('renewals and the end of a subscription concern all its licenses, a change that of its own item', async () => {
  await map({ paymentLinks: { plink_1: 'monthly' } })
  // Known by the link alone: a subscription names its price.
  bought(['price_by_link', 1], ['price_team', 2])
  await complete({
    mode: 'subscription',
    subscription: 'sub_1',
    payment_intent: null,
    payment_link: 'plink_1',
  })
  const invoice = {
    id: 'in_2',
    billing_reason: 'subscription_cycle',
    amount_paid: 12_900,
    currency: 'usd',
    parent: { subscription_details: { subscription: 'sub_1' } },
    lines: { data: ['price_by_link', 'price_team'].map(() => ({ period: { end: secondsOf(month.third) } })) },
  }
  await send('invoice.paid', invoice)
  expect(await licensesNow()).toMatchObject([
    { keyTypeId: 'monthly', quantity: 1, expiresAt: month.third },
    { keyTypeId: 'team', quantity: 2, expiresAt: null },
  ])
  const itemsWith = (...quantities: number[]) => ({
    data: ['price_by_link', 'price_team'].map((id, index) => ({
      price: { id },
      quantity: quantities[index],
    })),
  })
  const subscription = { id: 'sub_1', status: 'active', pause_collection: null }
  await send(
    'customer.subscription.updated',
    { ...subscription, items: itemsWith(1, 7) },
    { previous: { items: itemsWith(1, 2) } },
  )
  expect(await licensesNow()).toMatchObject([
    { keyTypeId: 'monthly', quantity: 1 },
    { keyTypeId: 'team', quantity: 7, deviceLimit: 14 },
  ])
  await send(
    'customer.subscription.updated',
    { ...subscription, items: itemsWith(3, 7) },
    { previous: { items: itemsWith(1, 7) } },
  )
  expect(await licensesNow()).toMatchObject([{ quantity: 3 }, { quantity: 7 }])
  await send('customer.subscription.deleted', { ...subscription, current_period_end: secondsOf(month.third) })
  expect(await licensesNow()).toMatchObject([{ expiresAt: month.third }, { expiresAt: month.third }])
})
