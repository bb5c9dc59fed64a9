/**
 * Guarantee: of floating seats, each minute's peak can be read, and how often none was free. What fewer seats would have refused follows
 * from the log. Only the tenant's own licenses, products and customers are answered.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'
import { type Minute, testRelay } from '../../signing/test-relay.ts'

let api: TestApi
let tenant: TestTenant
const at = (time: string) => `2026-03-01T${time}.000Z`

beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.set(at('12:00:00'))
  tenant = await makeTenant(api.ledger)
  // A long period: seats end by the clock of the database, and events happen by that of the test.
  const floatingSeats = {
    seatSeconds: 7_776_000,
    overdraft: { seats: 1 },
    scope: 'device',
    relays: { maxDays: 30 },
  }
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Team', deviceLimit: 2, seatPolicy: 'floating', floatingSeats },
      { name: 'Kept', deviceLimit: 1 },
    ],
  })
})

const make = (keyTypeId = 'team', more: object = {}) =>
  mint(api.ask, tenant.token, 'editor', { keyTypeId, ...more })

type Call = [time: string, call: 'activate' | 'deactivate', device: string]

/** Calls of devices, each at its time. */
async function happen(licenseKey: string, calls: readonly Call[]): Promise<void> {
  for (const [time, call, device] of calls) {
    api.ledger.clock.set(at(time))
    const body = { product_id: 'editor', license_key: licenseKey, device_id: device }
    const { status } = await api.ask('POST', `/v1/licenses/${call}`, { token: tenant.token, body })
    expect(status).toBe(200)
  }
}

const Use = z.looseObject({
  from: z.string(),
  to: z.string(),
  granularity: z.string(),
  points: z.array(z.strictObject({ at: z.string(), peak: z.int(), denied: z.int() })),
})

const ask = (path: string, query: Record<string, string> = {}, token = tenant.token) =>
  api.ask('GET', `/v1/${path}/seats?${new URLSearchParams(query)}`, { token })

/** `12:05 peak 3 denied 1`, without points at which no seat was in use. */
async function read(path: string, query: Record<string, string> = {}) {
  const { status, body } = await ask(path, query)
  expect(status).toBe(200)
  const { points, ...use } = Use.parse(body)
  const used = points.filter(({ peak, denied }) => peak + denied > 0)
  return { ...use, points: used.map((point) => `${point.at.slice(11, 16)} ${point.peak} ${point.denied}`) }
}

const busy: readonly Call[] = [
  ['12:00:10', 'activate', 'a'],
  ['12:00:20', 'activate', 'b'],
  ['12:02:00', 'activate', 'c'],
  ['12:02:30', 'activate', 'd'],
  ['12:02:40', 'activate', 'd'],
  ['12:04:00', 'deactivate', 'a'],
  ['12:04:59', 'activate', 'd'],
  ['12:06:00', 'deactivate', 'b'],
  ['12:06:01', 'deactivate', 'c'],
  ['12:06:02', 'deactivate', 'd'],
]

describe('the seats of a license', () => {
  test("are each minute's peak with the refused takings, also where nothing changed", async () => {
    const { id, licenseKey } = await make()
    await happen(licenseKey, busy)
    api.ledger.clock.set(at('12:30:30'))
    expect(await read(`licenses/${id}`, { from: at('12:00:00'), to: at('12:08:00') })).toStrictEqual({
      from: at('12:00:00'),
      to: at('12:08:00'),
      granularity: 'minute',
      licenses: 1,
      inUse: 0,
      atRelays: 0,
      limit: 2,
      overdraft: 1,
      points: ['12:00 2 0', '12:01 2 0', '12:02 3 2', '12:03 3 0', '12:04 3 0', '12:05 3 0', '12:06 3 0'],
    })
    // A range that begins amid them, and one after them.
    const later = await read(`licenses/${id}`, { from: at('12:03:10'), to: at('12:05:00') })
    expect(later.points).toStrictEqual(['12:03 3 0', '12:04 3 0'])
    expect((await read(`licenses/${id}`, { from: at('12:07:00') })).points).toStrictEqual([])
  })

  test('are the peaks of hours and days in longer ranges', async () => {
    const { id, licenseKey } = await make()
    await happen(licenseKey, busy)
    api.ledger.clock.set(at('13:30:00'))
    const hours = await read(`licenses/${id}`)
    expect(hours).toMatchObject({ granularity: 'hour', points: ['12:00 3 2'] })
    const days = await read(`licenses/${id}`, { from: '2025-03-01T00:00:00Z' })
    expect(days).toMatchObject({ granularity: 'day', points: ['00:00 3 2'] })
  })

  test('that a new key vacates are in use no more', async () => {
    const { id, licenseKey } = await make()
    await happen(licenseKey, busy.slice(0, 3))
    api.ledger.clock.set(at('12:10:00'))
    await api.ask('POST', `/v1/licenses/${id}/remint`, { token: tenant.token, body: { keepDevices: false } })
    api.ledger.clock.set(at('12:11:00'))
    const { points } = await read(`licenses/${id}`, { from: at('12:09:00') })
    expect(points).toStrictEqual(['12:09 3 0', '12:10 3 0'])
  })

  test('show what fewer of them would have refused', async () => {
    const { id, licenseKey } = await make()
    await happen(licenseKey, busy)
    api.ledger.clock.set(at('12:30:00'))
    const whatIf = async (seats: number, from = at('11:00:00')) => {
      const { body } = await ask(`licenses/${id}`, { from, seats: String(seats) })
      return z.looseObject({ whatIf: z.unknown() }).parse(body).whatIf
    }
    expect(await whatIf(3)).toStrictEqual({ seats: 3, takings: 4, refused: 0 })
    // c is refused, and d gets the seat of a.
    expect(await whatIf(2)).toStrictEqual({ seats: 2, takings: 4, refused: 1 })
    expect(await whatIf(0)).toStrictEqual({ seats: 0, takings: 4, refused: 4 })
    // Later, three were held before; only d was taken, and found the seat of a.
    expect(await whatIf(3, at('12:03:00'))).toStrictEqual({ seats: 3, takings: 1, refused: 0 })
    expect(await whatIf(1, at('12:03:00'))).toStrictEqual({ seats: 1, takings: 1, refused: 1 })
  })

  test('are not counted where devices keep them', async () => {
    const { id } = await make('kept')
    expect(await ask(`licenses/${id}`)).toMatchObject({ status: 409 })
  })
})

test('of relays are added to those of devices by the minute, as they were reported', async () => {
  const { id, licenseKey } = await make()
  await happen(licenseKey, [
    ['12:00:10', 'activate', 'a'],
    ['12:02:30', 'deactivate', 'a'],
  ])
  api.ledger.clock.set(at('12:30:00'))
  const relay = testRelay({ tenantId: tenant.tenantId, productId: 'editor' }, licenseKey, { seats: 2 })
  const reports = (...minutes: [time: string, peak: number, taken: number, denied: number][]) =>
    relay.report(
      ...minutes.map(([time, ...counts]): Minute => [Math.floor(Date.parse(at(time)) / 60_000), ...counts]),
    )
  const renew = () =>
    api.ask('POST', `/v1/licenses/${id}/relays`, { token: tenant.token, body: { request: relay.request() } })
  reports(['12:01:00', 2, 2, 0], ['12:04:00', 1, 0, 3])
  expect((await renew()).status).toBe(201)
  const use = await read(`licenses/${id}`, { from: at('12:00:00'), to: at('12:08:00') })
  expect(use).toMatchObject({ inUse: 0, atRelays: 2, limit: 2 })
  // Between its two minutes the relay had no more seats in use than the smaller of their peaks.
  expect(use.points).toStrictEqual(['12:00 1 0', '12:01 3 0', '12:02 2 0', '12:03 1 0', '12:04 1 3'])
  // Ranges that begin amid its minutes, and one after them.
  for (const [time, points] of [
    ['12:01', ['12:01 3 0', '12:02 2 0', '12:03 1 0', '12:04 1 3']],
    ['12:03', ['12:03 1 0', '12:04 1 3']],
    ['12:05', []],
  ] as const)
    expect((await read(`licenses/${id}`, { from: at(`${time}:00`) })).points).toStrictEqual(points)

  // A minute that is reported again counts once, with the greatest of its numbers.
  reports(['12:04:00', 2, 1, 3])
  expect((await renew()).status).toBe(201)
  const again = await read(`licenses/${id}`, { from: at('12:03:00') })
  expect(again.points).toStrictEqual(['12:03 2 0', '12:04 2 3'])
  expect((await read('products/editor', { from: at('12:03:00') })).points).toStrictEqual(again.points)
})

test('of a product and a customer they are added up by the minute, without tests of others', async () => {
  const [one, other] = [await make(), await make()]
  const customerId = await makeCustomer(api.ask, tenant.token)
  const link = { token: tenant.token, body: { licenseId: one.id } }
  expect((await api.ask('POST', `/v1/customers/${customerId}/link-license`, link)).status).toBe(200)
  await happen(one.licenseKey, busy.slice(0, 6))
  await happen(other.licenseKey, [
    ['12:03:00', 'activate', 'x'],
    ['12:05:00', 'deactivate', 'x'],
  ])
  api.ledger.clock.set(at('12:06:00'))
  const range = { from: at('12:00:00'), to: at('12:06:00') }
  expect(await read('products/editor', range)).toMatchObject({
    licenses: 2,
    limit: 4,
    overdraft: 2,
    inUse: 2,
    points: ['12:00 2 0', '12:01 2 0', '12:02 3 2', '12:03 4 0', '12:04 4 0', '12:05 3 0'],
  })
  expect(await read(`customers/${customerId}`, range)).toMatchObject({
    licenses: 1,
    points: ['12:00 2 0', '12:01 2 0', '12:02 3 2', '12:03 3 0', '12:04 3 0', '12:05 2 0'],
  })
})

test.each([
  ['after its end', { from: at('12:00:00'), to: at('11:00:00') }, 422],
  ['in the future', { from: at('13:00:00') }, 422],
  ['longer ago than it is kept', { from: '2024-12-01T00:00:00Z' }, 422],
  ['too long for what fewer seats would have refused', { from: '2026-01-01T00:00:00Z', seats: '1' }, 422],
  ['that is no time', { from: 'yesterday' }, 400],
  ['with a number of seats that is none', { seats: '-1' }, 400],
])('a range %s is refused with what to do', async (_, query, status) => {
  const { id } = await make()
  const { body, ...answered } = await ask(`licenses/${id}`, query as Record<string, string>)
  expect(answered.status).toBe(status)
  expect(z.object({ error: z.string() }).parse(body).error).toMatch(/from|seats/)
})

test('another tenant finds none of them', async () => {
  const { id } = await make()
  const { token } = await makeTenant(api.ledger)
  for (const path of [`licenses/${id}`, 'products/editor', 'customers/cus_06f5w3k8hx7vq2m4n9t1r0s5zc'])
    expect((await ask(path, {}, token)).status).toBe(404)
})
