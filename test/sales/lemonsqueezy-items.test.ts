/**
 * Guarantee: each mapped item of an order of Lemon Squeezy has one license in its quantity. With an API key the items are
 * read, and while they cannot be read nothing is recorded; without one, the first item is what the notification says.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findLicense } from '../../projections/licenses/queries.ts'
import { listSales } from '../../projections/sales/queries.ts'
import { itemsOf } from '../../src/domain/sales/items.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { goodKey } from '../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { makeProduct } from '../http/samples.ts'

const secret = 'whsec_canary_of_the_provider'
let api: SellingApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())

async function connect(apiKey?: string) {
  tenant = await makeTenant(api.ledger)
  const { token } = tenant
  const keyTypes = [
    { name: 'Solo', duration: null },
    { name: 'Team', duration: null, deviceLimit: 2, sellInMultiples: true },
  ]
  await makeProduct(api.ask, token, 'editor', { keyTypes })
  await api.ask('POST', '/v1/integrations/lemonsqueezy/connect', {
    token,
    body: { webhookSecret: secret, ...(apiKey && { apiKey }) },
  })
  const body = { variants: { 1: 'solo', 2: 'team' } }
  await api.ask('POST', '/v1/products/editor/integrations/lemonsqueezy', { token, body })
}

beforeEach(() => {
  const { lemonsqueezy } = api.standIns
  lemonsqueezy.health = 'well'
  lemonsqueezy.orders.set('7', [
    { variant: 1, quantity: 1 },
    { variant: 2, quantity: 3 },
    { variant: 3, quantity: 1 },
  ])
})

async function order() {
  const at = '2026-03-01T12:00:00.000000Z'
  const attributes = {
    user_email: 'ada@example.com',
    currency: 'USD',
    total: 9900,
    status: 'paid',
    first_order_item: { variant_id: 1, quantity: 1, product_name: 'Acme Editor' },
    created_at: at,
    updated_at: at,
  }
  const raw = JSON.stringify({ meta: { event_name: 'order_created' }, data: { id: '7', attributes } })
  const headers = { 'x-signature': createHmac('sha256', secret).update(raw).digest('hex') }
  const { status } = await api.ask('POST', `/webhooks/lemonsqueezy/${tenant.tenantId}`, { raw, headers })
  return status
}

async function licensesNow() {
  const { db } = api.ledger.ports
  const { items } = await listSales(db, tenant.tenantId, {}, { after: undefined, limit: 100 })
  const licensed = items.flatMap(itemsOf).filter(({ licensedAt }) => licensedAt !== null)
  return Promise.all(
    licensed.map(async ({ licenseId }) => (await findLicense(db, tenant.tenantId, licenseId))?.license),
  )
}

test('all pages of the items are read, and each mapped one is licensed once', async () => {
  await connect(goodKey)
  expect([await order(), await order()]).toStrictEqual([200, 200])
  expect(await licensesNow()).toMatchObject([
    { keyTypeId: 'solo', quantity: 1 },
    { keyTypeId: 'team', quantity: 3, deviceLimit: 6 },
  ])
})

test.each(['cut', 'garbled', 500] as const)(
  'while the items cannot be read (%s) nothing is recorded, and the repetition licenses each',
  async (health) => {
    await connect(goodKey)
    api.standIns.lemonsqueezy.health = health
    expect(await order()).toBe(503)
    expect(await licensesNow()).toStrictEqual([])
    api.standIns.lemonsqueezy.health = 'well'
    expect(await order()).toBe(200)
    expect(await licensesNow()).toMatchObject([{ keyTypeId: 'solo' }, { keyTypeId: 'team' }])
  },
)

test.each([
  ['without a key', undefined],
  ['with a key that is refused', goodKey],
])('%s, the first item is sold', async (_, apiKey) => {
  await connect(apiKey)
  api.standIns.lemonsqueezy.health = 401
  expect(await order()).toBe(200)
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'solo', quantity: 1 }])
})
