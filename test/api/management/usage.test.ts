/**
 * Guarantee: usage counts activations and validations per hour or day in UTC, with zeros for gaps, including this
 * process' counts so far; the number of active devices is that of the current licenses.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listDevicesOfTenant } from '../../../projections/licenses/device-list.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Three', deviceLimit: 3 }] })
  await makeProduct(api.ask, tenant.token, 'player')
})

const usage = async (query = '', token = tenant.token) => {
  const { status, body } = await api.ask('GET', `/v1/usage${query}`, { token })
  return { status, body }
}
const Usage = z.looseObject({
  totals: z.looseObject({ activeDevices: z.int() }),
  series: z.array(z.looseObject({ at: z.string() })),
  limits: z.object({ devices: z.object({ used: z.int(), max: z.int().nullable() }) }),
})
const read = async (query = '', token = tenant.token) => Usage.parse((await usage(query, token)).body)

async function calls(
  what: 'activate' | 'validate' | 'deactivate',
  product: string,
  key: string,
  device: string,
) {
  const body = { product_id: product, license_key: key, device_id: device }
  await api.ask('POST', `/v1/licenses/${what}`, { token: tenant.token, body })
}

const none = { activations: 0, deactivations: 0, validations: 0, rejected: 0 }

describe('usage', () => {
  test('is 30 days of zeros for a new tenant, with a poll interval', async () => {
    const { status, body, headers } = await api.ask('GET', '/v1/usage', { token: tenant.token })
    const days = Array.from({ length: 30 }, (_, day) => new Date(Date.UTC(2026, 0, 31 + day)).toISOString())
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        from: '2026-01-31T00:00:00.000Z',
        to: '2026-03-02T00:00:00.000Z',
        granularity: 'day',
        totals: { ...none, activeDevices: 0 },
        series: days.map((at) => ({ at, ...none })),
        limits: { devices: { used: 0, max: null } },
      },
    })
    expect(headers['retry-after']).toMatch(/^\d+$/)
  })

  test('has each count per hour and in total, for one product or all', async () => {
    const { clock } = api.ledger
    const editor = await mint(api.ask, tenant.token, 'editor')
    const player = await mint(api.ask, tenant.token, 'player')
    clock.set('2026-03-01T10:15:00.000Z')
    await calls('activate', 'editor', editor.licenseKey, 'laptop')
    await calls('activate', 'editor', editor.licenseKey, 'desktop')
    await calls('validate', 'editor', editor.licenseKey, 'laptop')
    await calls('activate', 'player', player.licenseKey, 'phone')
    clock.set('2026-03-01T12:59:59.999Z')
    await calls('validate', 'editor', editor.licenseKey, 'laptop')
    await calls('validate', 'editor', editor.licenseKey, 'stranger')
    await calls('deactivate', 'editor', editor.licenseKey, 'desktop')
    await calls('validate', 'player', player.licenseKey, 'phone')

    const hours = '?granularity=hour&from=2026-03-01T10:00:00Z'
    const at = (hour: number) => `2026-03-01T${hour}:00:00.000Z`
    expect(await usage(`${hours}&product=editor`)).toStrictEqual({
      status: 200,
      body: {
        from: at(10),
        to: at(13),
        granularity: 'hour',
        totals: { activations: 2, deactivations: 1, validations: 2, rejected: 1, activeDevices: 1 },
        series: [
          { at: at(10), ...none, activations: 2, validations: 1 },
          { at: at(11), ...none },
          { at: at(12), ...none, deactivations: 1, validations: 1, rejected: 1 },
        ],
        limits: { devices: { used: 2, max: null } },
      },
    })
    expect(await read(hours)).toMatchObject({
      totals: { activations: 3, deactivations: 1, validations: 3, rejected: 1, activeDevices: 2 },
      series: [{ activations: 3 }, none, { validations: 2 }],
    })
    expect(await read('?from=2026-02-28T00:00:00Z')).toMatchObject({
      totals: { activations: 3 },
      series: [
        { at: '2026-02-28T00:00:00.000Z', ...none },
        { at: '2026-03-01T00:00:00.000Z', activations: 3 },
      ],
    })
    const before = await read('?granularity=hour&from=2026-03-01T11:00:00Z&to=2026-03-01T12:00:00Z')
    expect(before).toMatchObject({ totals: { ...none, activeDevices: 2 }, series: [none] })
  })

  test('includes recent counts before they are flushed', async () => {
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
    for (let n = 1; n <= 5; n++) {
      await calls('validate', 'editor', licenseKey, 'stranger')
      expect(await read()).toMatchObject({ totals: { rejected: n } })
    }
  })

  test('contains only the calls of the tenant', async () => {
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'editor')
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
    await calls('activate', 'editor', licenseKey, 'laptop')
    expect(await read('', other.token)).toMatchObject({ totals: { activations: 0, activeDevices: 0 } })
    expect(await read('?product=editor', other.token)).toMatchObject({ totals: { activations: 0 } })
  })
})

describe('active devices', () => {
  test('are the devices that have a seat now', async () => {
    const { ledger } = api
    const at = beginning
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    const active = async () => (await read('?product=editor')).totals.activeDevices
    await calls('activate', 'editor', licenseKey, 'laptop')
    await calls('activate', 'editor', licenseKey, 'laptop')
    await calls('activate', 'editor', licenseKey, 'desktop')
    expect(await active()).toBe(2)
    await calls('deactivate', 'editor', licenseKey, 'laptop')
    await calls('deactivate', 'editor', licenseKey, 'laptop')
    expect(await active()).toBe(1)
    const key = { keyHash: 'a'.repeat(64), displayKey: 'ACME…AAAA' }
    await commandLicense(ledger, id, { type: 'RemintLicense', ...key, keepDevices: false, at })
    expect(await active()).toBe(0)
  })

  test('are those of valid licenses; the plan counts the devices of all licenses, which may come back', async () => {
    const { licenseKey, id } = await mint(api.ask, tenant.token, 'editor')
    const lapsing = await mint(api.ask, tenant.token, 'editor', { expiresAt: '2026-03-02T00:00:00.000Z' })
    await calls('activate', 'editor', licenseKey, 'laptop')
    await calls('activate', 'editor', licenseKey, 'desktop')
    await calls('activate', 'editor', lapsing.licenseKey, 'phone')
    const { ledger } = api
    const counted = async (change: Parameters<typeof commandLicense>[2], license = id) => {
      await commandLicense(ledger, license, change)
      const { totals, limits } = await read('?product=editor')
      const listed = await listDevicesOfTenant(
        ledger.db,
        tenant.tenantId,
        { status: 'active' },
        { after: undefined, limit: 10 },
        ledger.clock.now().toISOString(),
      )
      return [totals.activeDevices, listed.items.length, limits.devices.used]
    }
    const at = beginning
    expect(await counted({ type: 'SuspendLicense', reason: null, at })).toStrictEqual([1, 1, 3])
    expect(await counted({ type: 'ResumeLicense', reason: null, at })).toStrictEqual([3, 3, 3])
    ledger.clock.set('2026-03-02T00:00:00.000Z')
    const ended = { type: 'EndPaidPeriod', at: '2026-03-02T00:00:00.000Z' } as const
    expect(await counted(ended, lapsing.id)).toStrictEqual([2, 2, 3])
    const renewed = { type: 'RenewLicense', expiresAt: '2026-04-02T00:00:00.000Z', at } as const
    expect(await counted(renewed, lapsing.id)).toStrictEqual([3, 3, 3])
    expect(await counted({ type: 'RevokeLicense', reason: null, at })).toStrictEqual([1, 1, 3])
  })

  test("count toward the plan's limit across all products", async () => {
    tenant = await makeTenant(api.ledger, 'free')
    await makeProduct(api.ask, tenant.token, 'editor')
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { deviceLimit: null })
    await calls('activate', 'editor', licenseKey, 'laptop')
    await makeProduct(api.ask, tenant.token, 'player')
    const { totals, limits } = await read('?product=player')
    expect({ totals, limits }).toMatchObject({
      totals: { activeDevices: 0 },
      limits: { devices: { used: 1, max: 100 } },
    })
  })
})

describe('GET /v1/usage', () => {
  const cases: [query: string, status: number, message: RegExp][] = [
    ['?granularity=week', 400, /^granularity (?:must|is) /],
    ['?from=yesterday', 400, /^from (?:must|is) /],
    ['?from=2026-02-30T00:00:00Z', 400, /^from (?:must|is) /],
    ['?to=2026-03-01', 400, /^to (?:must|is) /],
    ['?product=Editor', 400, /^product (?:must|is) /],
    [
      '?since=2026-03-01T00:00:00Z',
      400,
      /unknown query parameter "since"; this route has product, from, to, granularity/,
    ],
    ['?product=absent', 404, /^product not found$/],
    ['?product=absent&from=2027-01-01T00:00:00Z', 404, /^product not found$/],
    ['?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z', 422, /^from must lie before to/],
    ['?from=2027-01-01T00:00:00Z', 422, /^from must lie before to/],
    ['?from=2024-01-01T00:00:00Z', 422, /^the range has more than 400 points/],
    ['?granularity=hour&from=2026-02-01T00:00:00Z', 422, /coarser granularity$/],
    ['?from=0000-01-01T00:00:00Z&to=0000-01-05T00:00:00Z', 422, /1970/],
    ['?to=0000-01-01T00:00:00Z', 422, /1970/],
  ]
  test.each(cases)('%s returns %i', async (query, status, message) => {
    const answer = await usage(query)
    expect(answer.status).toBe(status)
    expect(z.object({ error: z.string() }).parse(answer.body).error).toMatch(message)
  })

  test.each(['?to=9999-12-31T23:59:59Z', '?from=2026-03-01T14:30:00.5%2B02:00&granularity=hour'])(
    '%s returns 200',
    async (query) => expect(await usage(query)).toMatchObject({ status: 200 }),
  )
})
