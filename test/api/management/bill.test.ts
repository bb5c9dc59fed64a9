/**
 * Guarantee: an export to be billed has every line that was recorded in its range once, to the last digit, of the own tenant; its totals are the
 * sums of the lines, and no text in it is run by a spreadsheet.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { amountOf } from '../../../src/domain/meters/amount.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning } from '../../harness/ledger.ts'
import { parseCsv } from '../../http/parse-csv.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const makeApi = (productId: string) =>
  makeProduct(api.ask, tenant.token, productId, {
    keyTypes: [
      {
        name: 'Pro',
        meters: [
          { meter: 'calls', unit: '=calls', included: '10', period: 'day', overage: 'allow', rollover: true },
        ],
      },
    ],
  })
const post = async (path: string, body: object, token = tenant.token) =>
  expect((await api.ask('POST', path, { token, body })).status).toBeLessThan(300)
const consume = (
  product_id: string,
  license_key: string,
  amount: string,
  idempotency_key: string,
  more: object = {},
) =>
  post(
    '/v1/licenses/consume',
    { product_id, license_key, meter: 'calls', amount, idempotency_key, ...more },
    runtime,
  )

type Row = Record<string, string>
const read = async (query: string): Promise<Row[]> => {
  const { status, text } = await api.ask('GET', `/v1/usage/export?${query}`, { token: tenant.token })
  expect(status).toBe(200)
  const [head = [], ...rows] = parseCsv(text)
  return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ''])))
}
const sumOf = (rows: readonly Row[], column: string) =>
  rows.reduce((sum, row) => sum + amountOf(row[column] || '0'), 0n)

test('has each use, hold, credit and correction of its range, with what it was taken from', async () => {
  await makeApi('one')
  const customerId = await makeCustomer(api.ask, tenant.token)
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'one', { customerId })
  await post(`/v1/licenses/${id}/credits`, {
    meter: 'calls',
    amount: '5',
    order: '=1+1',
    idempotencyKey: '@order',
  })
  await consume('one', licenseKey, '12.000001', '+use')
  api.ledger.clock.set('2026-03-02T01:00:00.000Z')
  await consume('one', licenseKey, '3', 'late', { used_at: Date.parse('2026-03-01T13:00:00.000Z') / 1000 })
  await consume('one', licenseKey, '999999999999.999999', 'next')
  await post(`/v1/licenses/${id}/meters/calls/corrections`, {
    amount: '0.000009',
    reason: '-oops',
    idempotencyKey: 'c',
  })

  api.ledger.clock.set('2026-03-03T00:00:00.000Z')
  const lines = await read('product=one&of=lines')
  expect(
    lines.map(({ kind, amount, counted, prepaid, overage, key, note }) => [
      kind,
      amount,
      counted,
      prepaid,
      overage,
      key,
      note,
    ]),
  ).toStrictEqual([
    ['credit', '5', '', '', '', "'@order", "'=1+1"],
    ['use', '12.000001', '12.000001', '2.000001', '0', "'+use", ''],
    ['use', '3', '3', '2.999999', '0.000001', 'late', ''],
    ['use', '999999999999.999999', '999999999999.999999', '0', '999999999989.999999', 'next', ''],
    ['correction', '0.000009', '-0.000009', '0', '-0.000009', 'c', "'-oops"],
  ])
  expect(lines[1]).toMatchObject({
    customerId,
    licenseId: id,
    productId: 'one',
    meter: 'calls',
    unit: "'=calls",
  })

  const totals = await read('product=one')
  expect(totals).toMatchObject([
    {
      periodStartsAt: '2026-03-01T00:00:00.000Z',
      uses: '2',
      used: '15.000001',
      included: '10',
      prepaid: '5',
      overage: '0.000001',
    },
    {
      periodStartsAt: '2026-03-02T00:00:00.000Z',
      uses: '1',
      used: '999999999999.99999',
      included: '10',
      prepaid: '0',
      overage: '999999999989.99999',
    },
  ])
  for (const query of ['product=one&of=lines', `customer=${customerId}&of=lines`, `license=${id}&of=lines`])
    expect(await read(query)).toStrictEqual(lines)
})

test('has each line in one of adjoining ranges, over meters and pages of any number', async () => {
  await makeApi('many')
  const licenses = await Promise.all(Array.from({ length: 103 }, () => mint(api.ask, tenant.token, 'many')))
  const [busy] = licenses
  for (const { licenseKey } of licenses) await consume('many', licenseKey, '0.5', 'first')
  for (let each = 0; each < 5; each++) {
    api.ledger.clock.advance(1000)
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        consume('many', busy?.licenseKey ?? '', '1.000001', `${each}-${index}`),
      ),
    )
  }
  const middle = new Date(Date.parse(beginning) + 3000).toISOString()
  api.ledger.clock.advance(1000)
  const parts = [
    ...(await read(`product=many&of=lines&to=${middle}`)),
    ...(await read(`product=many&of=lines&from=${middle}`)),
  ]
  expect(new Set(parts.map(({ licenseId, key }) => `${licenseId} ${key}`)).size).toBe(2603)
  expect(parts).toHaveLength(2603)
  expect(sumOf(parts, 'counted')).toBe(amountOf('51.5') + 2500n * amountOf('1.000001'))
  const totals = await read('product=many')
  expect(totals).toHaveLength(103)
  expect(sumOf(totals, 'used')).toBe(sumOf(parts, 'counted'))
})

test('leaves out test licenses and other tenants, and refuses what is unknown', async () => {
  await makeApi('test')
  const trial = await mint(api.ask, tenant.token, 'test')
  // As a test purchase would have issued it.
  await api.ledger.db.query('update licenses set test = true where license_id = $1', [trial.id])
  await consume('test', trial.licenseKey, '1', 'a')
  api.ledger.clock.advance(1000)
  expect(await read('product=test')).toStrictEqual([])
  expect(await read(`license=${trial.id}`)).toMatchObject([{ used: '1' }])
  const other = await makeTenant(api.ledger)
  const { text } = await api.ask('GET', '/v1/usage/export', { token: other.token })
  expect(parseCsv(text)).toHaveLength(1)
  for (const [query, status] of [
    ['product=nothing', 404],
    ['customer=cus_none', 404],
    ['of=everything', 400],
    ['from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 422],
    ['from=2027-01-01T00:00:00Z', 422],
  ] as const)
    expect((await api.ask('GET', `/v1/usage/export?${query}`, { token: tenant.token })).status).toBe(status)
})
