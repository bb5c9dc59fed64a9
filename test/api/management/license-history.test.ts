/**
 * Guarantee: a license's history is returned with public event names, in pages and in either order; explanations
 * name the events that decide. Another tenant's licenses and future times are refused.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { scheduleDelivery } from '../../../src/commands/deliveries.ts'
import { suspendTenant } from '../../../src/commands/tenants.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { beginning, origin } from '../../harness/ledger.ts'
import { importRows, makeCustomer, makeProduct, mint } from '../../http/samples.ts'
import { purchase } from '../../sales/notifications.ts'
import { openShop } from '../../sales/shop.ts'

let api: TestApi
let tenant: TestTenant
let license: { id: string; licenseKey: string }
let customer: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Pro', deviceLimit: 2, duration: { count: 1, unit: 'year' }, entitlements: ['export'] },
    ],
  })
  license = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  customer = await makeCustomer(api.ask, tenant.token)
  for (const act of [
    () => runtime('activate', 'laptop', 'MacBook'),
    () => runtime('activate', 'desktop', 'Tower'),
    () => runtime('deactivate', 'laptop'),
    () => send('POST', `/v1/licenses/${license.id}/remint`, { keepDevices: false }),
    () => send('POST', `/v1/customers/${customer}/link-license`, { licenseId: license.id }),
    () =>
      askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${license.id}/revoke`, {
        body: { reason: 'fraud' },
      }),
  ]) {
    api.ledger.clock.advance(1000)
    await act()
  }
  api.ledger.clock.advance(1000)
})
afterAll(() => api.close())

const send = (method: 'GET' | 'POST', url: string, body?: unknown, token = tenant.token) =>
  api.ask(method, url, { token, body })
const runtime = (call: string, device_id: string, name?: string, license_key = license.licenseKey) =>
  send('POST', `/v1/licenses/${call}`, {
    product_id: 'editor',
    license_key,
    device_id,
    ...(name && { name }),
  })

const at = (seconds: number) => new Date(Date.parse(beginning) + seconds * 1000).toISOString()
const Page = z.strictObject({
  items: z.array(z.looseObject({ sequence: z.int(), summary: z.string() })),
  nextCursor: z.string().nullable(),
})
const history = async (query = '') =>
  Page.parse((await send('GET', `/v1/licenses/${license.id}/history${query}`)).body)

const byToken = () => ({ kind: 'token', id: tenant.tokenId, name: 'test' })
const requestId = expect.stringMatching(/^req_/) as string
const ofAddress = expect.stringMatching(/^cus_/) as string
const noLinks = { saleId: null, customerId: null, confirmationId: null, deliveries: [] }

test('the history contains events with their time, actor and changes', async () => {
  const { items, nextCursor } = await history('?order=oldest')
  expect(nextCursor).toBeNull()
  expect(items).toStrictEqual([
    {
      sequence: 0,
      event: 'license.created',
      time: at(0),
      actor: byToken(),
      requestId,
      summary: 'Issued',
      device: null,
      changes: [
        { field: 'status', before: null, after: 'active' },
        { field: 'displayKey', before: null, after: expect.stringContaining('…') as string },
        { field: 'expiresAt', before: null, after: '2027-03-01T12:00:00.000Z' },
        { field: 'deviceLimit', before: null, after: 2 },
        { field: 'seatsUsed', before: null, after: 0 },
        { field: 'customerId', before: null, after: ofAddress },
      ],
      links: { ...noLinks, customerId: ofAddress },
    },
    {
      sequence: 1,
      event: 'license.activated',
      time: at(1),
      actor: byToken(),
      requestId,
      summary: '“MacBook” activated',
      device: { deviceId: 'laptop', name: 'MacBook' },
      changes: [
        { field: 'seatsUsed', before: 0, after: 1 },
        { field: 'device', before: null, after: 'active' },
      ],
      links: noLinks,
    },
    expect.objectContaining({ sequence: 2, summary: '“Tower” activated' }),
    {
      sequence: 3,
      event: 'license.deactivated',
      time: at(3),
      actor: byToken(),
      requestId,
      summary: '“MacBook” deactivated',
      device: { deviceId: 'laptop', name: 'MacBook' },
      changes: [
        { field: 'seatsUsed', before: 2, after: 1 },
        { field: 'device', before: 'active', after: 'deactivated' },
      ],
      links: noLinks,
    },
    expect.objectContaining({
      event: 'license.reminted',
      summary: 'Reminted; all seats were freed',
      changes: [
        expect.objectContaining({ field: 'displayKey' }),
        { field: 'seatsUsed', before: 1, after: 0 },
      ] as unknown,
    }),
    expect.objectContaining({
      event: 'license.linked',
      changes: [{ field: 'customerId', before: ofAddress, after: customer }],
      links: { ...noLinks, customerId: customer },
    }),
    expect.objectContaining({
      event: 'license.revoked',
      summary: 'Revoked: fraud',
      changes: [{ field: 'status', before: 'active', after: 'revoked' }],
      links: { ...noLinks, confirmationId: expect.stringMatching(/^cnf_/) as string },
    }),
  ])
})

test.each(['oldest', 'newest'])('paging with the %s first returns the same as one page', async (order) => {
  const { items: whole } = await history(`?order=${order}`)
  const found: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await history(`?order=${order}&limit=3${cursor && `&cursor=${cursor}`}`)
    found.push(...page.items)
    cursor = page.nextCursor
  }
  expect(found).toStrictEqual(whole)
})

test('a cursor is valid only for its own order and license', async () => {
  const { nextCursor } = await history('?order=oldest&limit=1')
  const other = await mint(api.ask, tenant.token, 'editor')
  for (const url of [
    `/v1/licenses/${license.id}/history?order=newest&cursor=${nextCursor}`,
    `/v1/licenses/${other.id}/history?order=oldest&cursor=${nextCursor}`,
  ]) {
    expect((await send('GET', url)).status).toBe(400)
  }
})

test('the history of a sold license links its sale and its deliveries', async () => {
  const shop = await openShop(api)
  const { sold, refunded } = purchase('story')
  await shop.tell(sold())
  const [sale] = await shop.sales()
  const licenseId = sale?.licenseId ?? ''
  const delivery = {
    channel: 'webhook',
    endpointId: 'first',
    event: 'license.created',
    licenseRevision: 0,
    sequence: 1,
  } as const
  await scheduleDelivery(api.ledger.ports, { tenantId: shop.tenantId, licenseId, ...delivery }, origin)
  await shop.tell(refunded('re_1'))
  const { body } = await send('GET', `/v1/licenses/${licenseId}/history?order=oldest`, undefined, shop.token)
  const bySale = { actor: { kind: 'provider', id: 'stripe', name: 'stripe' }, links: { saleId: sale?.id } }
  expect(Page.parse(body).items).toMatchObject([
    {
      summary: 'Issued for a sale',
      ...bySale,
      links: { saleId: sale?.id, deliveries: [{ channel: 'webhook', status: 'pending' }] },
    },
    { event: 'license.refunded', changes: [{ field: 'refundedAt' }], ...bySale },
    {
      event: 'license.revoked',
      changes: [{ field: 'status', before: 'active', after: 'revoked' }],
      ...bySale,
    },
    { event: 'license.sale_followed', changes: [], ...bySale },
  ])
})

const Explained = z.object({
  explanation: z.looseObject({
    validate: z.looseObject({ events: z.array(z.looseObject({ sequence: z.int() })) }),
    activate: z.looseObject({ events: z.array(z.looseObject({ sequence: z.int() })) }),
  }),
})
const explained = async (query: string, id = license.id) =>
  Explained.parse((await send('GET', `/v1/licenses/${id}/explain${query}`)).body).explanation
const sequences = ({ events }: { events: { sequence: number }[] }) => events.map(({ sequence }) => sequence)

test('the explanation of a refused activation names the seats and the events that took them', async () => {
  const { activate, validate, seats } = await explained('?device_id=phone&asOf=2')
  expect(activate).toMatchObject({
    succeeds: false,
    httpStatus: 200,
    status: 'seat_limit_reached',
    rule: 'seat_limit_reached',
    because:
      'denied: 2 of 2 seats are in use; seat 1 taken by “MacBook” on 2026-03-01 12:00:01 UTC; seat 2 taken by “Tower” on 2026-03-01 12:00:02 UTC',
  })
  expect(sequences(activate)).toStrictEqual([1, 2])
  expect(validate).toMatchObject({ status: 'inactive', rule: 'never_activated', events: [] })
  expect(seats).toMatchObject({ used: 2, limit: 2, taken: [{ name: 'MacBook' }, { name: 'Tower' }] })
})

test.each([
  ['?device_id=laptop&asOf=1', 'seated', [0, 1], 'seated', [1]],
  ['?device_id=laptop&asOf=3', 'deactivated', [3], 'seat_free', [0]],
  ['?device_id=desktop&asOf=4', 'seats_freed', [4], 'seat_free', [0]],
  [`?asOf=${at(0)}`, 'active', [0], 'seat_free', [0]],
  ['?device_id=desktop', 'revoked', [6], 'revoked', [6]],
])('%s: validate is decided by %s, events %j, activate by %s, events %j', async (query, ...decided) => {
  const { validate, activate } = await explained(query)
  expect([validate.rule, sequences(validate), activate.rule, sequences(activate)]).toStrictEqual(decided)
})

test('the explanation of an expired license names the event that set its expiry', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', { expiresAt: '2026-03-02T00:00:00.000Z' })
  const before = api.ledger.clock.now().toISOString()
  api.ledger.clock.set('2026-03-02T00:00:00.000Z')
  const { validate } = await explained('', id)
  expect(validate).toMatchObject({
    status: 'expired',
    because: 'denied: the license expired on 2026-03-02 00:00:00 UTC',
  })
  expect(sequences(validate)).toStrictEqual([0])
  expect((await explained(`?asOf=${before}`, id)).validate).toMatchObject({ status: 'active' })
  api.ledger.clock.set(before)
})

test('an undone action is explained as of before and after it', async () => {
  const { results } = await importRows(api.ask, tenant.token, 'editor', [{ licenseKey: 'TAKEN-BACK-0001' }])
  const id = results[0]?.id ?? ''
  await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${id}/take-back-import`)
  const { validate, activate } = await explained('?device_id=laptop', id)
  const takenBack = { succeeds: false, status: 'revoked', rule: 'taken_back' }
  expect([validate, activate]).toMatchObject([takenBack, takenBack])
  expect(sequences(validate)).toStrictEqual([1])
  const answered = await runtime('validate', 'laptop', undefined, 'TAKEN-BACK-0001')
  expect(answered.body).toMatchObject({ valid: false, status: 'revoked' })
  expect((await explained('?asOf=0', id)).validate).toMatchObject({ succeeds: true, rule: 'active' })

  const undone = await mint(api.ask, tenant.token, 'editor')
  await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${undone.id}/revoke`)
  await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${undone.id}/reinstate`)
  expect((await explained('?asOf=1', undone.id)).validate).toMatchObject({ status: 'revoked' })
  expect((await explained('', undone.id)).validate).toMatchObject({ status: 'active', rule: 'active' })
})

test('a full plan and a suspended tenant explain a refusal, now and as of the past', async () => {
  const small = await makeTenant(api.ledger, 'free')
  await makeProduct(api.ask, small.token, 'editor', { keyTypes: [{ name: 'Any', deviceLimit: null }] })
  const devices = Array.from({ length: 100 }, (_, index) => ({ deviceId: `d${index}`, name: 'A device' }))
  const rows = [{ licenseKey: 'FULL-PLAN-0001', devices }, { licenseKey: 'FULL-PLAN-0002' }]
  const { results } = await importRows(api.ask, small.token, 'editor', rows)
  const url = (query: string) => `/v1/licenses/${results[1]?.id}/explain${query}`
  const ask = async (query = '') =>
    Explained.parse((await send('GET', url(query), undefined, small.token)).body).explanation.activate
  const limited = { httpStatus: 200, status: 'plan_limit', rule: 'plan_limit' }
  expect(await ask()).toMatchObject(limited)
  const full = api.ledger.clock.now().toISOString()
  api.ledger.clock.advance(1000)
  await send('POST', `/v1/licenses/${results[0]?.id}/deactivate-device`, { deviceId: 'd0' }, small.token)
  expect(await ask()).toMatchObject({ status: 'active', rule: 'seat_free' })
  expect(await ask(`?asOf=${full}`)).toMatchObject(limited)
  const free = api.ledger.clock.now().toISOString()
  api.ledger.clock.advance(1000)
  await suspendTenant(api.ledger.ports, small.tenantId, null, origin)
  expect(await ask()).toMatchObject({ succeeds: false, httpStatus: 403, rule: 'tenant_suspended' })
  expect(await ask(`?asOf=${free}`)).toMatchObject({ succeeds: true })
})

test.each([
  ['', 'asOf=2100-01-01T00:00:00.000Z', 400],
  ['', 'asOf=7', 400],
  ['', 'asOf=yesterday', 400],
  ['', 'asOf=-1', 400],
  ['', 'asOf=99999999999', 400],
  ['', 'asOf=2026-02-30T00:00:00Z', 400],
  ['', 'asOf=2020-01-01T00:00:00Z', 404],
  ['/explain', 'asOf=2100-01-01T00:00:00.000Z', 400],
  ['/explain', 'asOf=2020-01-01T00:00:00Z', 404],
  ['/explain', 'device_id=', 400],
  ['/explain', 'device=laptop', 400],
  ['/history', 'order=random', 400],
  ['/history', 'cursor=AAAA', 400],
])('GET /v1/licenses/{id}%s?%s returns %i', async (path, query, status) => {
  expect((await send('GET', `/v1/licenses/${license.id}${path}?${query}`)).status).toBe(status)
})

test.each([
  [() => `/v1/customers/${customer}`, 'customer not found'],
  [() => '/v1/products/editor', 'product not found'],
])('asOf returns 404 before the creation, and 400 for a future time', async (url, message) => {
  const asked = async (asOf: string) => {
    const { status, body } = await send('GET', `${url()}?asOf=${asOf}`)
    return { status, body }
  }
  expect(await asked('2020-01-01T00:00:00Z')).toStrictEqual({ status: 404, body: { error: message } })
  const soon = { status: 400, body: { error: expect.stringContaining('asOf') as string } }
  expect(await asked('2100-01-01T00:00:00Z')).toStrictEqual(soon)
  expect(await asked('1000')).toStrictEqual(soon)
})
