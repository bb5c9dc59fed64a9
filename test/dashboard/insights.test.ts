/**
 * Guarantee: the figures are those of the recorded sales, licenses, versions and trials: in each currency for itself, on
 * the UTC day of the payment, without test purchases, and for the member's own tenant only.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBeaconReceiver } from '../../src/commands/devices/beacons.ts'
import { rangeOf } from '../../src/dashboard/insights/range.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { mint } from '../http/samples.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let shop: Shop
let owner: Client
beforeAll(async () => {
  api = await openTestApi()
  api.ledger.clock.set('2026-03-03T10:00:00.000Z')
  shop = await openShop(api)
  const { tell } = shop
  const first = purchase('first')
  await tell(first.sold())
  await tell(first.refunded('re_1', 1000))
  await tell(purchase('second').sold({ at: '2026-03-02T23:59:59.000Z' }))
  await tell(purchase('third').sold({ currency: 'jpy', amount: 500, provider: 'paddle' }))
  await tell(purchase('unmapped').sold({ sold: { productId: 'unknown' } }))
  await tell(purchase('try').sold({ test: true }))
  owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, shop.tenantId, 'owner'))
})
afterAll(() => api.close())

const march = 'from=2026-03-01&to=2026-03-31'
const file = async (name: string, query = march) => {
  const { status, text, headers } = await owner.get(`/dashboard/insights/${name}.csv?${query}`)
  expect({ status, type: headers['content-type'] }).toStrictEqual({
    status: 200,
    type: 'text/csv; charset=utf-8',
  })
  return text.trimEnd().split('\r\n').slice(1)
}

test('sales are by day, provider, product and currency, with refunds on the day of their payment', async () => {
  expect(await file('sales')).toStrictEqual([
    '2026-03-01,paddle,editor,jpy,1,1,500,0,500',
    '2026-03-01,stripe,,usd,1,1,49.00,0.00,49.00',
    '2026-03-01,stripe,editor,usd,1,1,49.00,10.00,39.00',
    '2026-03-02,stripe,editor,usd,1,1,49.00,0.00,49.00',
  ])
  expect(await file('sales', 'from=2026-03-02&to=2026-03-02')).toHaveLength(1)
})

test('the page shows revenue in each currency, and the same as a plot with its values', async () => {
  const { text } = await owner.get(`/dashboard/insights?${march}`)
  const shown = text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  expect(shown).toContain('Revenue in USD $137.00')
  expect(shown).toContain('Revenue in JPY ¥500')
  expect(text).toContain('<title>2 Mar 2026: $49.00 revenue, $0.00 refunded</title>')
  expect(shown).toContain('Not mapped to a product')
})

test('a renewal is another payment on its own day, and renews the license', async () => {
  const subscription = purchase('subscription', { sold: { productId: 'editor', keyTypeId: 'monthly' } })
  await shop.tell(
    subscription.sold({ at: '2026-02-01T00:00:00.000Z', paidUntil: '2026-03-01T12:00:00.000Z' }),
  )
  await shop.tell({ ...subscription.renewed('in_1', month.second), at: '2026-03-03T08:00:00.000Z' })
  expect(await file('sales', 'from=2026-03-03&to=2026-03-03')).toStrictEqual([
    '2026-03-03,stripe,editor,usd,0,1,49.00,0.00,49.00',
  ])
  expect(await file('licenses', 'from=2026-03-03&to=2026-03-03')).toStrictEqual(['2026-03-03,4,1'])
})

test('licenses are counted while they are active, and while they expire within 30 days', async () => {
  const cards = async () => {
    const { text } = await owner.get('/dashboard/insights')
    const shown = text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    const number = (label: string) => Number(new RegExp(`${label} (\\d+)`).exec(shown)?.[1])
    return { active: number('Active now'), expiring: number('Expiring within 30 days') }
  }
  const before = await cards()
  const { token } = shop
  await mint(api.ask, token, 'editor', { keyTypeId: 'forever' })
  await mint(api.ask, token, 'editor', { keyTypeId: 'monthly', expiresAt: '2026-03-20T00:00:00.000Z' })
  const ending = await mint(api.ask, token, 'editor', { expiresAt: '2026-03-04T00:00:00.000Z' })
  expect(await cards()).toStrictEqual({ active: before.active + 3, expiring: before.expiring + 2 })
  api.ledger.clock.set('2026-03-05T10:00:00.000Z')
  expect(ending.id).toMatch(/^lic_/)
  await owner.signIn(await makeMember(api.ledger, shop.tenantId, 'owner'))
  expect((await cards()).active).toBe(before.active + 2)
})

test('trials count when they start, and when a license is first activated in their place', async () => {
  const { ports } = api.ledger
  const report = createBeaconReceiver(ports, {
    admitNew: () => undefined,
    onShared: () => undefined,
    onFailure: () => undefined,
  })
  const telemetry = { appVersion: '4.2.0', sdkVersion: '0.12.1', platform: 'macos', sdk: 'swift' }
  for (const instanceId of ['one', 'two', 'three']) {
    const place = { tenantId: shop.tenantId, productId: 'editor', instanceId }
    const state = instanceId === 'three' ? 'free_tier' : 'trial'
    await report({ ...place, state, machineHash: undefined, telemetry, trialDays: 14 }, origin)
  }
  await ports.installs.flush()
  for (const instanceId of ['one', 'three', 'one'])
    ports.installs.convert({ tenantId: shop.tenantId, productId: 'editor', instanceId })
  await ports.installs.flush()
  ports.installs.convert({ tenantId: shop.tenantId, productId: 'editor', instanceId: 'one' })
  await ports.installs.flush()
  expect(await file('trials', 'from=2026-03-05&to=2026-03-05')).toStrictEqual(['2026-03-05,2,1'])
})

test('a device counts once, with the version that its app first reported', async () => {
  const { ports } = api.ledger
  const { id: licenseId } = await mint(api.ask, shop.token, 'editor', {})
  const telemetry = { appVersion: '=4.2.0', sdkVersion: null, platform: 'macos', sdk: null }
  ports.telemetry.record({ instanceId: 'ins_1', licenseId }, telemetry)
  await ports.telemetry.flush()
  ports.telemetry.record({ instanceId: 'ins_1', licenseId }, { ...telemetry, appVersion: '5' })
  ports.telemetry.record({ instanceId: 'ins_2', licenseId }, { ...telemetry, platform: null })
  await ports.telemetry.flush()
  // What a spreadsheet would run as a formula is written as text.
  expect(await file('versions')).toStrictEqual(["'=4.2.0,macos,1", "'=4.2.0,,1"])
})

test('another tenant has other figures', async () => {
  const other = await openShop(api)
  const stranger = clientOf(api.app, '192.0.2.9')
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  const { text } = await stranger.get(`/dashboard/insights?${march}`)
  expect(text).toContain('No sales in these days')
  expect(text).toContain('No app has reported its version in these days')
})

test('a range that cannot be shown is refused with the reason', async () => {
  const backwards = await owner.get('/dashboard/insights?from=2026-03-02&to=2026-03-01')
  expect(backwards).toMatchObject({ status: 422 })
  expect(backwards.text).toContain('The first day must be before the last.')
  expect((await owner.get('/dashboard/insights?from=2001-01-01')).text).toContain('Choose at most 400 days.')
  expect((await owner.get('/dashboard/insights?to=0001-01-01')).text).toContain(
    'The first day must not be before 1970.',
  )
  expect((await owner.get('/dashboard/insights/nothing.csv')).status).toBe(404)
})

test.each([
  [{}, '2026-03-02', '2026-03-31'],
  [{ days: '7' }, '2026-03-25', '2026-03-31'],
  [{ days: '8' }, '2026-03-02', '2026-03-31'],
  [{ from: '2026-03-01', to: '' }, '2026-03-01', '2026-03-31'],
  [{ from: '2026-03-01', to: '2026-03-05' }, '2026-03-01', '2026-03-05'],
  [{ from: '2026-03-01', to: '2027-01-01' }, '2026-03-01', '2026-03-31'],
  [{ from: 'nonsense' }, '2026-03-02', '2026-03-31'],
])('%j is the range from %s to %s', (query, from, to) => {
  const { days, all, problem } = rangeOf(query, '2026-03-31T23:00:00.000Z')
  expect({ days, problem }).toStrictEqual({ days: { from, to }, problem: undefined })
  expect([all[0], all.at(-1)]).toStrictEqual([from, to])
})
