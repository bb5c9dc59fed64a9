/**
 * Guarantee: an import takes every valid row: an invalid row affects no other, a known key is a duplicate and never
 * a second license, and imported licenses behave like minted ones.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verify } from '../../../projections/runner/verify.ts'
import { suspendTenant } from '../../../src/commands/tenants.ts'
import { licenseStream } from '../../../src/domain/streams.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn, origin } from '../../harness/ledger.ts'
import { importRows as importInto, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyPrefix: 'ACME',
    keyTypes: [
      { name: 'Pro', deviceLimit: 2, entitlements: ['pro'] },
      { name: 'Year', duration: { count: 1, unit: 'year' }, sellInMultiples: true, maxQuantity: 5 },
      {
        name: 'Kept',
        duration: { count: 1, unit: 'month' },
        onExpiry: 'fallback',
        fallbackEntitlements: ['read'],
      },
    ],
  })
})
afterAll(() => api.close())

const importRows = (licenses: unknown[], { productId = 'editor', token = tenant.token } = {}) =>
  importInto(api.ask, token, productId, licenses)

let keys = 0
const newKey = () => `OLD-SHOP-KEY-${++keys}`

const licenseOf = async (id: string | undefined, token = tenant.token) =>
  (await api.ask('GET', `/v1/licenses/${id}`, { token })).body

const runtime = async (call: string, license_key: string, device_id: string) =>
  (
    await api.ask('POST', `/v1/licenses/${call}`, {
      token: tenant.token,
      body: { product_id: 'editor', license_key, device_id },
    })
  ).body

const ofReceipt = expect.stringMatching(/\/v1\/licenses\/lic_[0-9a-z]{26}\/receipt$/) as string
const ofLicense = expect.stringMatching(/^lic_[0-7][0-9a-hjkmnp-tv-z]{25}$/) as string

describe('an imported license', () => {
  test('with only a key gets the first key type and the current time', async () => {
    const { imported, skipped, results } = await importRows([{ licenseKey: 'Old-shop key 4711/B' }])
    expect({ imported, skipped, results }).toStrictEqual({
      imported: 1,
      skipped: 0,
      results: [{ index: 0, status: 'imported', id: ofLicense, displayKey: '…11/B', receiptUrl: ofReceipt }],
    })
    expect(await licenseOf(results[0]?.id)).toStrictEqual({
      license: {
        id: results[0]?.id,
        productId: 'editor',
        keyTypeId: 'pro',
        displayKey: '…11/B',
        status: 'active',
        quantity: 1,
        deviceLimit: 2,
        seatsUsed: 0,
        entitlements: ['pro'],
        expiresAt: null,
        email: null,
        customerId: null,
        source: 'import',
        saleId: null,
        test: false,
        metadata: {},
        createdAt: beginning,
        devices: [],
      },
    })
    expect(await runtime('activate', 'old-SHOPkey4711/b', 'laptop')).toMatchObject({ activated: true })
  })

  test('keeps all its fields and gives its devices seats', async () => {
    const licenseKey = newKey()
    const row = {
      licenseKey,
      keyTypeId: 'year',
      email: 'Ada@example.com',
      name: 'Ada',
      quantity: 3,
      createdAt: '2025-06-01T10:00:00.5+02:00',
      metadata: { order: '17' },
      devices: [{ deviceId: 'laptop', name: 'Laptop' }, { deviceId: 'phone' }],
    }
    const { results } = await importRows([row])
    const device = { platform: null, status: 'active', activatedAt: beginning, deactivatedAt: null }
    const instanceId = expect.stringMatching(/^ins_/) as string
    expect(await licenseOf(results[0]?.id)).toMatchObject({
      license: {
        keyTypeId: 'year',
        status: 'active',
        quantity: 3,
        deviceLimit: 3,
        seatsUsed: 2,
        // A year from its issue, not from today.
        expiresAt: '2026-06-01T08:00:00.000Z',
        email: 'Ada@example.com',
        metadata: { order: '17' },
        createdAt: '2025-06-01T08:00:00.500Z',
        devices: [
          { ...device, deviceId: 'laptop', name: 'Laptop', instanceId },
          { ...device, deviceId: 'phone', name: 'phone', instanceId },
        ],
      },
    })
    expect(await runtime('validate', licenseKey, 'phone')).toMatchObject({ valid: true })
    expect(await runtime('validate', licenseKey, 'tablet')).toMatchObject({
      valid: false,
      status: 'inactive',
    })
  })

  test.each([
    ['revoked', { status: 'revoked', devices: [{ deviceId: 'd' }] }, 'revoked'],
    ['expired with its expiresAt', { status: 'expired', expiresAt: '2026-02-01T00:00:00Z' }, 'expired'],
    [
      'active with an expiresAt in the past',
      { status: 'active', expiresAt: '2026-02-01T00:00:00Z' },
      'expired',
    ],
    [
      "older than its key type's duration",
      { keyTypeId: 'year', createdAt: '2024-01-01T00:00:00Z' },
      'expired',
    ],
    ['in fallback', { keyTypeId: 'kept', status: 'fallback', createdAt: '2026-01-01T00:00:00Z' }, 'fallback'],
    ['active', { status: 'active', expiresAt: null }, 'active'],
    ['active, expiring within the second', { expiresAt: '2026-03-01T12:00:00.001Z' }, 'expired'],
    ['active, expiring a second later', { expiresAt: '2026-03-01T12:00:01Z' }, 'active'],
  ])('that is %s gets the status as of now', async (_, row, status) => {
    const licenseKey = newKey()
    const { results } = await importRows([{ licenseKey, ...row }])
    expect(await licenseOf(results[0]?.id)).toMatchObject({ license: { status } })
    const verdict = await runtime('validate', licenseKey, 'd')
    // No device has a seat on it.
    const seatless = status === 'active' || status === 'fallback'
    expect(verdict).toMatchObject({ valid: false, status: seatless ? 'inactive' : status })
  })

  test('is recorded together with its devices and its revocation', async () => {
    const { results } = await importRows([
      { licenseKey: newKey(), status: 'revoked', devices: [{ deviceId: 'a' }, { deviceId: 'b' }] },
    ])
    const events = await eventsIn(api.ledger.ports.ledger, licenseStream(results[0]?.id ?? ''))
    const types = events.map((entry) => (entry.readable ? entry.event.type : 'unreadable'))
    expect(types).toStrictEqual(['LicenseImported', 'DeviceActivated', 'DeviceActivated', 'LicenseRevoked'])
  })
})

describe('an imported key', () => {
  test('is a duplicate in any spelling when it was imported before, and its license does not change', async () => {
    const first = await importRows([{ licenseKey: 'some old key 1', email: 'ada@example.com' }])
    const before = await licenseOf(first.results[0]?.id)
    const again = await importRows([
      { licenseKey: 'SOME-OLD-KEY-1', email: 'eve@example.com', status: 'revoked' },
      { licenseKey: 'ｓｏｍｅｏｌｄｋｅｙ１' },
    ])
    const { id, displayKey, receiptUrl } = first.results[0] ?? {}
    expect(again).toStrictEqual({
      imported: 0,
      skipped: 2,
      results: [0, 1].map((index) => ({ index, status: 'duplicate', id, displayKey, receiptUrl })),
    })
    expect(await licenseOf(id)).toStrictEqual(before)
  })

  test('that occurs several times in a request is imported once, from its first valid row', async () => {
    const licenseKey = newKey()
    const { imported, skipped, results } = await importRows([
      { licenseKey, quantity: 2 },
      { licenseKey, email: 'first@example.com' },
      { licenseKey, email: 'second@example.com' },
    ])
    const id = results[1]?.id
    expect({ imported, skipped, results }).toMatchObject({
      imported: 1,
      skipped: 2,
      results: [{ status: 'invalid' }, { status: 'imported' }, { status: 'duplicate', id }],
    })
    expect(await licenseOf(id)).toMatchObject({ license: { email: 'first@example.com' } })
  })

  test('is a duplicate when it was minted here, for this product or another', async () => {
    await makeProduct(api.ask, tenant.token, 'player')
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    for (const productId of ['editor', 'player']) {
      const { results } = await importRows([{ licenseKey }], { productId })
      expect(results).toMatchObject([{ status: 'duplicate', id }])
    }
  })

  test('is a duplicate when it is the old key of a reminted license', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    const imported = await importRows([{ licenseKey: 'reminted later' }])
    for (const licenseId of [id, imported.results[0]?.id]) {
      const answer = await api.ask('POST', `/v1/licenses/${licenseId}/remint`, { token: tenant.token })
      expect(answer.status).toBe(200)
    }
    const again = await importRows([{ licenseKey }, { licenseKey: 'reminted later' }])
    expect(again.results).toMatchObject([
      { status: 'duplicate', id },
      { status: 'duplicate', id: imported.results[0]?.id },
    ])
    expect(await runtime('validate', 'reminted later', 'd')).toMatchObject({ status: 'reminted' })
  })

  test('can be imported by several tenants, with different license ids', async () => {
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'editor')
    const licenseKey = newKey()
    const mine = await importRows([{ licenseKey }])
    const theirs = await importRows([{ licenseKey }], { token: other.token })
    expect(theirs.results).toMatchObject([{ status: 'imported' }])
    expect(theirs.results[0]?.id).not.toBe(mine.results[0]?.id)
  })

  test('in the format of keys minted here keeps its prefix in the masked key', async () => {
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'elsewhere', { keyPrefix: 'ELSE' })
    const { licenseKey } = await mint(api.ask, other.token, 'elsewhere')
    const { results } = await importRows([{ licenseKey: licenseKey.toLowerCase().replaceAll('0', 'o') }])
    expect(results).toMatchObject([{ status: 'imported', displayKey: `ELSE…${licenseKey.slice(-6, -2)}` }])
    expect(await runtime('validate', licenseKey, 'd')).toMatchObject({ status: 'inactive' })
  })

  test.each([
    ['SECRET', '…T'],
    ['SECRETKEY', '…EY'],
    ['SECRET-KEY-12345', '…345'],
    ['SECRET-KEY-1234567', '…4567'],
    ['key with 😀😀😀😀😀😀', '…😀😀😀'],
  ])('%s is masked as %s', async (licenseKey, displayKey) => {
    const { results } = await importRows([{ licenseKey }])
    expect(results).toMatchObject([{ status: 'imported', displayKey }])
  })
})

test('the read models after an import equal a replay of the log', async () => {
  const { imported } = await importRows([
    { licenseKey: newKey(), createdAt: '1970-01-01T00:00:00Z' },
    { licenseKey: newKey(), expiresAt: '1970-01-01T00:00:00.001Z' },
    { licenseKey: newKey(), expiresAt: '9999-12-31T23:59:59.999Z' },
  ])
  expect(imported).toBe(3)
  const { ports, db, parked } = api.ledger
  expect(parked).toStrictEqual([])
  const { differences, rows } = await verify(db, ports.ledger, () => undefined)
  expect(differences).toStrictEqual([])
  expect(rows).toBeGreaterThan(50)
})

describe('an import request', () => {
  const send = async (body: unknown) => {
    const { status, body: answered } = await api.ask('POST', '/v1/licenses/import', {
      token: tenant.token,
      body,
    })
    return { status, body: answered }
  }

  test('accepts a thousand full rows', async () => {
    const rows = Array.from({ length: 1000 }, (_, n) => ({
      licenseKey: `full row number ${n}`,
      email: `person${n}@example.com`,
      name: 'x'.repeat(200),
      metadata: Object.fromEntries(Array.from({ length: 5 }, (__, pair) => [`k${pair}`, 'v'.repeat(1000)])),
      devices: [{ deviceId: 'laptop', name: 'Laptop' }],
    }))
    expect(JSON.stringify(rows).length).toBeGreaterThan(5_000_000)
    const { imported, results } = await importRows(rows)
    expect(imported).toBe(1000)
    expect(new Set(results.map(({ id }) => id)).size).toBe(1000)
    expect(await licenseOf(results[999]?.id)).toMatchObject({
      license: { email: 'person999@example.com', seatsUsed: 1 },
    })
    expect(await importRows(rows)).toMatchObject({ imported: 0, skipped: 1000 })
  })

  test('without rows imports nothing', async () =>
    expect(await importRows([])).toStrictEqual({ imported: 0, skipped: 0, results: [] }))

  test.each([
    [
      'more than a thousand rows',
      { productId: 'editor', licenses: Array.from({ length: 1001 }, () => ({})) },
    ],
    ['no list of licenses', { productId: 'editor' }],
    ['licenses that are no list', { productId: 'editor', licenses: {} }],
    ['an unknown field', { productId: 'editor', licenses: [], dryRun: true }],
    ['more than 8 MiB', { productId: 'editor', licenses: ['x'.repeat(8 * 1_048_576)] }],
  ])('with %s returns 400 as a whole', async (_, body) => {
    expect(await send(body)).toStrictEqual({ status: 400, body: { error: expect.any(String) as string } })
  })

  test('returns 403 while the tenant is suspended', async () => {
    const own = await makeTenant(api.ledger)
    await suspendTenant(api.ledger.ports, own.tenantId, 'unpaid', origin)
    const body = { productId: 'editor', licenses: [] }
    const answer = await api.ask('POST', '/v1/licenses/import', { token: own.token, body })
    expect(answer).toMatchObject({
      status: 403,
      body: { error: 'the tenant is suspended; it cannot issue or activate licenses' },
    })
  })

  test('returns 404 for an unknown product', async () => {
    expect(await send({ productId: 'absent', licenses: [{ licenseKey: newKey() }] })).toStrictEqual({
      status: 404,
      body: { error: 'product not found' },
    })
  })

  test('imports each key once when several requests with the same keys run concurrently', async () => {
    const rows = Array.from({ length: 40 }, () => ({ licenseKey: newKey() }))
    const answers = await Promise.all(Array.from({ length: 6 }, () => importRows(rows)))
    for (const [index] of rows.entries()) {
      const outcomes = answers.map(({ results }) => results[index])
      const statuses = outcomes.map((result) => result?.status).toSorted()
      expect(statuses).toStrictEqual([...Array<string>(5).fill('duplicate'), 'imported'])
      expect(new Set(outcomes.map((result) => result?.id)).size).toBe(1)
      const events = await eventsIn(api.ledger.ports.ledger, licenseStream(outcomes[0]?.id ?? ''))
      expect(events).toHaveLength(1)
    }
  })
})

describe("the plan's device limit", () => {
  const withDevices = (count: number) => ({
    licenseKey: newKey(),
    devices: Array.from({ length: count }, (_, n) => ({ deviceId: `d${n}` })),
  })
  const freeTenant = async () => {
    const free = await makeTenant(api.ledger, 'free')
    await makeProduct(api.ask, free.token, 'editor', { keyTypes: [{ name: 'Site', deviceLimit: null }] })
    return free
  }

  test('admits rows in order while they fit, and rows without devices always', async () => {
    const { token } = await freeTenant()
    const refused = withDevices(41)
    const { results } = await importRows(
      [withDevices(60), refused, withDevices(40), withDevices(1), withDevices(0), refused],
      { token },
    )
    const beyond = {
      status: 'invalid',
      error: 'the plan allows no more active devices; upgrade to a higher plan',
    }
    expect(results).toMatchObject([
      { status: 'imported' },
      beyond,
      { status: 'imported' },
      beyond,
      { status: 'imported' },
      beyond,
    ])
  })

  test('returns 402 when no row fits', async () => {
    const { token } = await freeTenant()
    const body = { productId: 'editor', licenses: [withDevices(101)] }
    expect(await api.ask('POST', '/v1/licenses/import', { token, body })).toMatchObject({
      status: 402,
      body: { error: 'the plan allows no more active devices; upgrade to a higher plan' },
    })
    expect((await api.ask('GET', '/v1/licenses', { token })).body).toStrictEqual({
      items: [],
      nextCursor: null,
    })
  })
})
