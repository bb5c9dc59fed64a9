/** Guarantee: Gumroad's ping follows the contract exactly: authentication, effect and response. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { closeTenant, reinstateTenant, suspendTenant } from '../../../src/commands/tenants.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let address: string
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  const { body } = await manage('POST', '/v1/integrations/gumroad/connect')
  const { pingUrl } = z.object({ pingUrl: z.url() }).parse(body)
  address = pingUrl.replace('http://localhost:8080', '')
  await manage('POST', '/v1/products/editor/integrations/gumroad', { permalinks: ['editor'] })
})

const manage = (method: 'GET' | 'POST', url: string, body?: unknown) =>
  api.ask(method, url, { token: tenant.token, body })

const sale = {
  resource_name: 'sale',
  sale_id: 'FO8TXN-dbxYaBdahG97Y-Q==',
  email: 'ada@example.com',
  full_name: 'Ada Lovelace',
  product_permalink: 'https://acme.gumroad.com/l/editor',
  price: '2900',
}

async function ping(form: Record<string, string>, url = address) {
  const { status, body } = await api.ask('POST', url, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  return { status, body }
}
const refused = (status: number, error: string) => ({ status, body: { error } })
const nothing = { status: 204, body: '' }
const licenses = async () =>
  z
    .object({ items: z.array(z.looseObject({ id: z.string() })) })
    .parse((await manage('GET', '/v1/licenses')).body).items

test('a sale issues a license, and only the first response contains its key', async () => {
  const { status, body } = await ping(sale)
  const {
    license_key: licenseKey,
    license_id: id,
    ...rest
  } = z.looseObject({ license_key: z.string() }).parse(body)
  expect({ status, rest }).toStrictEqual({ status: 200, rest: { received: true } })
  expect(await licenses()).toMatchObject([
    { id, source: 'sale', saleId: sale.sale_id, email: 'ada@example.com', keyTypeId: 'default', test: false },
  ])
  const validate = await manage('POST', '/v1/licenses/activate', {
    product_id: 'editor',
    license_key: licenseKey,
    device_id: 'laptop',
    name: 'Laptop',
  })
  expect(validate.body).toMatchObject({ activated: true })
  const again = { status: 200, body: { received: true, duplicate: true } }
  expect(await ping(sale)).toStrictEqual(again)
  expect(await ping({ ...sale, price: '1' })).toStrictEqual(again)
  expect(await licenses()).toHaveLength(1)
})

test('ten concurrent pings of one sale issue one license', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => ping(sale)))
  expect(
    answers.filter(({ body }) => z.object({ license_key: z.string() }).safeParse(body).success),
  ).toHaveLength(1)
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(await licenses()).toHaveLength(1)
})

test.each([
  ['a test ping', { ...sale, test: 'true' }],
  ['a refund', { ...sale, resource_name: 'refund', refunded: 'true' }],
  ['an unknown resource', { ...sale, resource_name: 'Sale' }],
  ['an empty form', {}],
])('%s returns 204 and has no effect', async (_, form) => {
  expect(await ping(form)).toStrictEqual(nothing)
  expect(await licenses()).toStrictEqual([])
})

test('a preorder is licensed once, by its charge', async () => {
  const preorder = { ...sale, sale_id: 'authorization', is_preorder_authorization: 'true' }
  expect(await ping(preorder)).toStrictEqual(nothing)
  expect(await ping(preorder)).toStrictEqual(nothing)
  expect(await licenses()).toStrictEqual([])
  expect(await ping({ ...sale, sale_id: 'charge' })).toMatchObject({ status: 200 })
  expect(await ping(preorder)).toStrictEqual(nothing)
  expect(await licenses()).toMatchObject([{ saleId: 'charge' }])
})

test('repeated test pings are listed once, with the reason', async () => {
  const form = { ...sale, test: 'true' }
  for (let times = 0; times < 2; times++) expect(await ping(form)).toStrictEqual(nothing)
  const { body } = await api.ask('GET', '/v1/sales/ignored', { token: tenant.token })
  expect(body).toMatchObject({ items: [{ provider: 'gumroad', reason: 'gumroad_test', times: 2 }] })
})

test.each([
  ['no token', (url: string) => url.replace(/\?.*/, '')],
  ['an empty token', (url: string) => url.replace(/token=.*/, 'token=')],
  ['another token', (url: string) => url.replace(/token=./, 'token=~')],
  ['a token and more', (url: string) => `${url}x`],
  ['two tokens', (url: string) => `${url}&token=x`],
  ['an unknown tenant', (url: string) => url.replace(/gumroad\/[^?]+/, 'gumroad/nobody')],
  ['an invalid tenant id', (url: string) => url.replace(/gumroad\/[^?]+/, 'gumroad/%00')],
])('%s gets the same error as all the others', async (_, change) => {
  for (const path of ['', '/resources']) {
    const url = change(address).replace('?', `${path}?`)
    expect(await ping(sale, url)).toStrictEqual(refused(400, 'Invalid request'))
    expect(await ping({ resource_name: 'refund' }, url)).toStrictEqual(refused(400, 'Invalid request'))
  }
  expect(await licenses()).toStrictEqual([])
})

test('a tenant without Gumroad gets the same error', async () => {
  await api.ask('DELETE', '/v1/integrations/gumroad', { token: tenant.token })
  expect(await ping(sale)).toStrictEqual(refused(400, 'Invalid request'))
})

test('a sale without its id or an email address returns 400', async () => {
  for (const field of ['sale_id', 'email']) {
    expect(await ping({ ...sale, [field]: '' })).toStrictEqual(refused(400, 'Missing required fields'))
  }
})

test('an unmapped sale returns 400 and is parked; after the mapping is added, the next ping issues the license', async () => {
  const other = { ...sale, product_permalink: 'https://acme.gumroad.com/l/player' }
  const message = "No product mapping for permalink 'https://acme.gumroad.com/l/player'"
  expect(await ping(other)).toStrictEqual(refused(400, message))
  await manage('POST', '/v1/products/editor/integrations/gumroad', { permalinks: ['player'] })
  expect(await ping(other)).toMatchObject({
    status: 200,
    body: { received: true, license_key: expect.any(String) as string },
  })
})

test('a sale returns 403 when the tenant is suspended or closed', async () => {
  const { ports } = api.ledger
  await suspendTenant(ports, tenant.tenantId, null, origin)
  expect(await ping(sale)).toMatchObject({ status: 403 })
  await reinstateTenant(ports, tenant.tenantId, origin)
  expect(await ping(sale)).toMatchObject({ status: 200 })
  await closeTenant(ports, tenant.tenantId, null, origin)
  expect(await ping({ ...sale, sale_id: 'another' })).toMatchObject({ status: 403 })
})

test('a refund or dispute at the resources URL revokes the license, and a won dispute reinstates it', async () => {
  await ping(sale)
  const resources = address.replace('?', '/resources?')
  const tell = (form: Record<string, string>) => ping({ ...sale, ...form }, resources)
  const taken = { status: 200, body: { received: true } }
  expect(await tell({ resource_name: 'dispute', disputed: 'true' })).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ status: 'revoked' }])
  expect(await tell({ resource_name: 'dispute_won', disputed: 'true' })).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ status: 'active' }])
  expect(await tell({ resource_name: 'refund', refunded: 'true' })).toStrictEqual(taken)
  expect(await licenses()).toMatchObject([{ status: 'revoked' }])
  for (const resource_name of ['cancellation', 'subscription_updated', 'subscription_restarted', 'sale']) {
    expect(await tell({ resource_name })).toStrictEqual(nothing)
  }
  expect(await tell({ resource_name: 'refund', sale_id: '' })).toStrictEqual(
    refused(400, 'Missing required fields'),
  )
})

const gift = {
  ...sale,
  product_id: '32-nPAicqbLj8B_WswVlMw==',
  sale_id: 'of the receiver',
  sale_timestamp: '2026-03-01T12:00:04Z',
  email: 'grace@example.com',
  full_name: 'Grace Hopper',
  price: '0',
  is_gift_receiver_purchase: 'true',
  gift_price: '2900',
  gifter_email: 'ada@example.com',
}
/** The giver's purchase, which is never pinged. */
const given = {
  ...sale,
  product_id: gift.product_id,
  sale_id: 'of the giver',
  sale_timestamp: '2026-03-01T12:00:03Z',
  is_gift_receiver_purchase: 'false',
}

test.each(['gift first', 'refund first'])(
  'the refund of the purchase of a giver revokes the license of the receiver, %s',
  async (order) => {
    const resources = address.replace('?', '/resources?')
    const steps = [
      () => ping(gift),
      () => ping({ ...given, resource_name: 'refund', refunded: 'true' }, resources),
    ]
    if (order === 'refund first') steps.reverse()
    for (const step of steps) expect(await step()).toMatchObject({ status: 200 })
    expect(await licenses()).toMatchObject([
      { saleId: gift.sale_id, email: 'grace@example.com', status: 'revoked' },
    ])
    const { body } = await manage('GET', '/v1/sales')
    expect(body).toMatchObject({
      items: [{ gift: { giverEmail: 'ada@example.com' }, amount: 2900, currency: 'usd', refunded: 'fully' }],
    })
  },
)

test.each([
  ['of another product', { product_id: 'another' }],
  ['at another price', { price: '2800' }],
  ['by another giver', { email: 'eve@example.com' }],
  ['at another time', { sale_timestamp: '2026-03-01T12:01:03Z' }],
  ['of a receiver', { is_gift_receiver_purchase: 'true' }],
])('a refund of a purchase %s does not touch a gift', async (_, other) => {
  const resources = address.replace('?', '/resources?')
  await ping(gift)
  const refund = { ...given, ...other, resource_name: 'refund', refunded: 'true' }
  expect(await ping(refund, resources)).toMatchObject({ status: 200 })
  expect(await licenses()).toMatchObject([{ status: 'active' }])
})

test('the dispute of a giver is undone when it is won, and the giver can be erased', async () => {
  const resources = address.replace('?', '/resources?')
  await ping(gift)
  await ping({ ...given, resource_name: 'dispute', disputed: 'true' }, resources)
  expect(await licenses()).toMatchObject([{ status: 'revoked' }])
  await ping({ ...given, resource_name: 'dispute_won', dispute_won: 'true' }, resources)
  expect(await licenses()).toMatchObject([{ status: 'active' }])
  const { ports } = api.ledger
  const { subjectId } = await ports.subjects.sealPerson(tenant.tenantId, 'ada@example.com', null)
  expect(await eraseSubject(ports, tenant.tenantId, subjectId, origin)).toMatchObject({ sales: 1 })
  const { body } = await manage('GET', '/v1/sales')
  expect(body).toMatchObject({ items: [{ email: 'grace@example.com', gift: { giverEmail: null } }] })
})

test('a perpetual license stays when its last installment is paid, unless its product chooses', async () => {
  const resources = address.replace('?', '/resources?')
  const installments = (name: string, ended_reason: string): [string, Record<string, string>][] => {
    const bought = { ...sale, sale_id: name, subscription_id: `sub_${name}`, recurrence: 'monthly' }
    const second = {
      sale_id: `${name}_2`,
      is_recurring_charge: 'true',
      sale_timestamp: '2026-02-01T12:00:00Z',
    }
    const ended = { resource_name: 'subscription_ended', ended_at: '2026-02-01T12:00:05Z', ended_reason }
    return [
      [address, { ...bought, sale_timestamp: '2026-01-01T12:00:00Z' }],
      [address, { ...bought, ...second }],
      [resources, { subscription_id: `sub_${name}`, ...ended }],
    ]
  }
  const expiryOf = async (name: string) => (await licenses()).find(({ saleId }) => saleId === name)?.expiresAt
  const pay = async (name: string, reason: string) => {
    for (const [url, form] of installments(name, reason)) expect((await ping(form, url)).status).toBe(200)
  }
  await pay('whole', 'fixed_subscription_period_ended')
  await pay('broken', 'failed_payment')
  expect(await expiryOf('whole')).toBeNull()
  expect(await expiryOf('broken')).toBe('2026-03-01T12:00:00.000Z')
  const body = { onPaidInFull: 'expire' }
  await api.ask('PATCH', '/v1/products/editor', { token: tenant.token, body })
  await pay('membership', 'fixed_subscription_period_ended')
  expect(await expiryOf('membership')).toBe('2026-03-01T12:00:00.000Z')
})

test('a body that is no form returns 204, and one that is too large 400', async () => {
  for (const [raw, type] of [
    ['{"resource_name":"sale"}', 'application/json'],
    ['\u0000%%%', 'text/plain'],
    ['', 'application/x-www-form-urlencoded'],
  ] as const) {
    expect((await api.ask('POST', address, { raw, headers: { 'content-type': type } })).status).toBe(204)
  }
  const raw = `resource_name=sale&email=${'a'.repeat(1_100_000)}`
  expect((await api.ask('POST', address, { raw })).status).toBe(400)
})

test.each([
  ['an empty permalink', { product_permalink: '' }],
  ['a permalink that is too long', { product_permalink: 'e'.repeat(5000) }],
  ['an empty sale id', { sale_id: '' }],
  ['a sale id that is too long', { sale_id: 's'.repeat(5000) }],
  ['a sale id of 498 characters', { sale_id: 's'.repeat(498) }],
  ['NUL in its sale id', { sale_id: 'a\0b' }],
  ['a control character in its sale id', { sale_id: 'a\u0007b' }],
  ['NUL in its email address', { email: 'ada\0@example.com' }],
  ['NUL in the name of its buyer', { full_name: 'Ada\0' }],
  ['an invalid currency', { currency: 'US$' }],
  [
    'a period that ends after the year 9999',
    { sale_timestamp: '9999-12-31T12:00:00Z', subscription_id: 's', recurrence: 'yearly' },
  ],
])('%s returns 400, and nothing is recorded', async (_what, odd) => {
  const before = await api.ledger.ports.ledger.head()
  const { status } = await ping({ ...sale, ...odd })
  expect({ status, licenses: await licenses() }).toStrictEqual({ status: 400, licenses: [] })
  expect(await api.ledger.ports.ledger.head()).toBe(before)
})

test('a sale is issued despite an invalid timestamp and a line break in the name', async () => {
  const odd = { sale_timestamp: '+275760-09-13T00:00:00.000Z', full_name: 'Ada\r\nLovelace' }
  expect(await ping({ ...sale, ...odd })).toMatchObject({ status: 200 })
  expect(await licenses()).toHaveLength(1)
  const { body } = await manage('GET', '/v1/sales')
  expect(body).toMatchObject({ items: [{ name: 'Ada Lovelace' }] })
})
