/**
 * Guarantee: what was used by hour and by day adds up to the lines and to the counters, to the last digit: of a license, and of all
 * licenses of a product or a customer that are no tests.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rebuild } from '../../../projections/runner/rebuild.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, noProgress } from '../../harness/ledger.ts'
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

const meters = [
  { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'allow' },
  { meter: 'tokens', unit: 'tokens', included: '5', period: 'license', overage: 'block' },
]
const makeApi = (productId: string) =>
  makeProduct(api.ask, tenant.token, productId, { keyTypes: [{ name: 'Pro', deviceLimit: 1, meters }] })
const post = async (path: string, body: object, token = tenant.token) => {
  const answer = await api.ask('POST', path, { token, body })
  expect(answer.status).toBeLessThan(300)
  return answer.body
}
let keys = 0
const consume = (product_id: string, license_key: string, amount: string, more: object = {}) =>
  post(
    '/v1/licenses/consume',
    { product_id, license_key, meter: 'calls', amount, idempotency_key: `key-${++keys}`, ...more },
    runtime,
  )

const Points = z.array(z.strictObject({ at: z.string(), used: z.string(), overage: z.string() }))
const Use = z.strictObject({
  from: z.string(),
  to: z.string(),
  granularity: z.enum(['hour', 'day']),
  meters: z.array(
    z.strictObject({
      productId: z.string().nullable(),
      meter: z.string(),
      unit: z.string(),
      used: z.string(),
      overage: z.string(),
      points: Points,
      heaviest: z.array(z.unknown()).optional(),
    }),
  ),
})
const read = async (path: string, query = '') => {
  const { body, status } = await api.ask('GET', `${path}/usage${query}`, { token: tenant.token })
  expect(status).toBe(200)
  return Use.parse(body)
}
const filled = (points: z.infer<typeof Points>) => points.filter(({ used }) => used !== '0')

describe('of a license', () => {
  test('has the sums of each day and hour, with corrections and what is beyond', async () => {
    await makeApi('sums')
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'sums')
    await consume('sums', licenseKey, '7.5')
    await consume('sums', licenseKey, '0.000001')
    api.ledger.clock.set('2026-03-02T10:30:00.000Z')
    await consume('sums', licenseKey, '4', { used_at: Date.parse('2026-03-02T09:10:00.000Z') / 1000 })
    await post(`/v1/licenses/${id}/meters/calls/corrections`, {
      amount: '0.5',
      reason: 'r',
      idempotencyKey: 'c',
    })
    await consume('sums', licenseKey, '1', { meter: 'tokens' })

    const use = await read(`/v1/licenses/${id}`)
    expect(use).toMatchObject({ granularity: 'day', to: '2026-03-03T00:00:00.000Z' })
    const [calls, tokens] = use.meters
    expect(calls).toMatchObject({
      productId: 'sums',
      meter: 'calls',
      unit: 'calls',
      used: '11.000001',
      overage: '1.000001',
    })
    expect(calls?.points).toHaveLength(30)
    expect(filled(calls?.points ?? [])).toStrictEqual([
      { at: '2026-03-01T00:00:00.000Z', used: '7.500001', overage: '0' },
      { at: '2026-03-02T00:00:00.000Z', used: '3.5', overage: '1.000001' },
    ])
    expect(tokens).toMatchObject({ meter: 'tokens', used: '1', overage: '0' })
    const hours = await read(`/v1/licenses/${id}`, '?granularity=hour&from=2026-03-02T09:00:00Z')
    expect(hours.meters[0]?.points).toStrictEqual([
      { at: '2026-03-02T09:00:00.000Z', used: '4', overage: '1.500001' },
      { at: '2026-03-02T10:00:00.000Z', used: '-0.5', overage: '-0.5' },
    ])
    const { body } = await api.ask('GET', `/v1/licenses/${id}/meters`, { token: tenant.token })
    expect(body).toMatchObject({ meters: [{ used: '11.000001', overage: '1.000001' }, { used: '1' }] })
  })

  test('is exact above what a floating-point number holds, and survives a rebuild', async () => {
    await makeApi('large')
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'large')
    for (let each = 0; each < 12; each++) await consume('large', licenseKey, '999999999999.999999')
    const use = await read(`/v1/licenses/${id}`)
    expect(use.meters[0]).toMatchObject({ used: '11999999999999.999988' })
    await rebuild(api.ledger.db, api.ledger.ports.ledger, noProgress)
    expect(await read(`/v1/licenses/${id}`)).toStrictEqual(use)
  })

  test('without any is empty; of another tenant, and in a wrong range, is refused', async () => {
    await makeApi('empty')
    const { id } = await mint(api.ask, tenant.token, 'empty')
    expect((await read(`/v1/licenses/${id}`)).meters).toStrictEqual([])
    const other = await makeTenant(api.ledger)
    expect((await api.ask('GET', `/v1/licenses/${id}/usage`, { token: other.token })).status).toBe(404)
    const early = `/v1/licenses/${id}/usage?from=2020-01-01T00:00:00Z`
    expect((await api.ask('GET', early, { token: tenant.token })).status).toBe(422)
  })
})

describe('of a product and of a customer', () => {
  test('adds up their licenses and names those that use most; test licenses do not count', async () => {
    await makeApi('one')
    await makeApi('two')
    const customerId = await makeCustomer(api.ask, tenant.token)
    const first = await mint(api.ask, tenant.token, 'one', { customerId })
    const second = await mint(api.ask, tenant.token, 'one')
    const other = await mint(api.ask, tenant.token, 'two', { customerId })
    const trial = await mint(api.ask, tenant.token, 'one', { customerId })
    // As a test purchase would have issued it.
    await api.ledger.db.query('update licenses set test = true where license_id = $1', [trial.id])
    await consume('one', first.licenseKey, '1.5')
    await consume('one', second.licenseKey, '12')
    await consume('two', other.licenseKey, '3')
    await consume('one', trial.licenseKey, '100')

    const ofProduct = await read('/v1/products/one')
    expect(ofProduct.meters).toMatchObject([
      {
        productId: 'one',
        meter: 'calls',
        used: '13.5',
        overage: '2',
        heaviest: [
          { licenseId: second.id, used: '12', overage: '2' },
          { licenseId: first.id, used: '1.5', overage: '0' },
        ],
      },
    ])
    const ofCustomer = await read(`/v1/customers/${customerId}`)
    expect(ofCustomer.meters).toMatchObject([
      { productId: 'one', used: '1.5', heaviest: [{ licenseId: first.id }] },
      { productId: 'two', used: '3', heaviest: [{ licenseId: other.id }] },
    ])
  })
})

test('of a meter that licenses share, each has what it used of it, and the customer all of it', async () => {
  await makeApi('pool')
  const customerId = await makeCustomer(api.ask, tenant.token, {
    meters: [{ meter: 'calls', unit: 'calls', included: '15', period: 'month', overage: 'allow' }],
  })
  const [first, second] = [
    await mint(api.ask, tenant.token, 'pool', { customerId }),
    await mint(api.ask, tenant.token, 'pool', { customerId }),
  ]
  await consume('pool', first.licenseKey, '10.5')
  await consume('pool', second.licenseKey, '6')
  await consume('pool', second.licenseKey, '2', { meter: 'tokens' })
  api.ledger.clock.advance(2 * 86_400_000)
  await consume('pool', first.licenseKey, '1')

  const shared = { productId: null, meter: 'calls', unit: 'calls' }
  const own = { productId: 'pool', meter: 'tokens', used: '2' }
  expect((await read(`/v1/licenses/${first.id}`)).meters).toMatchObject([
    { ...shared, used: '11.5', overage: '1' },
  ])
  expect((await read(`/v1/licenses/${second.id}`)).meters).toMatchObject([{ ...shared, used: '6' }, own])
  const heaviest = [
    { licenseId: first.id, used: '11.5' },
    { licenseId: second.id, used: '6' },
  ]
  for (const path of [`/v1/customers/${customerId}`, '/v1/products/pool'])
    expect((await read(path)).meters).toMatchObject([
      { ...shared, used: '17.5', overage: '2.5', heaviest },
      own,
    ])
  const { body } = await api.ask('GET', `/v1/customers/${customerId}/meters`, { token: tenant.token })
  expect(body).toMatchObject({ meters: [{ used: '17.5', overage: '2.5', forecast: null }] })

  const csv = async (query: string) =>
    (await api.ask('GET', `/v1/usage/export?of=lines&${query}`, { token: tenant.token })).text
  api.ledger.clock.advance(1000)
  const lines = await csv(`customer=${customerId}`)
  expect(lines).toContain(`${customerId},${first.id},,calls,calls,`)
  expect(lines.trim().split('\r\n')).toHaveLength(5)
  expect((await csv('product=pool')).trim().split('\r\n')).toHaveLength(2)
})
