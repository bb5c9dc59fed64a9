/**
 * Guarantee: what an app or its server consumes is answered exactly, counts once under its key, and is never more than is allowed;
 * what is held, credited and corrected adds up, line by line.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense, origin } from '../../harness/ledger.ts'
import { appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string
const calls = { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }
const tokens = { meter: 'tokens', unit: 'tokens', included: '0', period: 'license', overage: 'block' }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  await makeProduct(api.ask, tenant.token, 'api', {
    keyTypes: [
      { name: 'Pro', deviceLimit: 1, meters: [calls, tokens] },
      { name: 'Packs', duration: { count: 1, unit: 'month' }, meters: [{ ...calls, period: 'purchase' }] },
      { name: 'More', meters: [{ ...calls, included: '20' }] },
      { name: 'None' },
    ],
  })
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const make = (keyTypeId = 'pro') => mint(api.ask, tenant.token, 'api', { keyTypeId })
const send = async (method: Method, path: string, body?: object, token = tenant.token) => {
  const answer = await api.ask(method, path, { token, ...(body && { body }) })
  return { status: answer.status, body: answer.body }
}
const consume = (license_key: string, amount: string, idempotency_key: string, more: object = {}) =>
  send(
    'POST',
    '/v1/licenses/consume',
    { product_id: 'api', license_key, meter: 'calls', amount, idempotency_key, ...more },
    runtime,
  )
const march = Date.parse('2026-04-01T00:00:00.000Z') / 1000
const ok = (body: object) => ({ status: 200, body })
const counted = (remaining: string, more: object = {}) =>
  ok({
    ...{ allowed: true, status: 'active', meter: 'calls', remaining, overage: '0', resets_at: march },
    ...more,
  })
const exhausted = (remaining: string) =>
  counted(remaining, { allowed: false, status: 'plan_limit', reason: 'meter_exhausted' })
const Meters = z.object({ meters: z.array(z.looseObject({ meter: z.string() })) })
const meterOf = async (id: string, name = 'calls') => {
  const { body } = await send('GET', `/v1/licenses/${id}/meters`)
  return Meters.parse(body).meters.find(({ meter }) => meter === name)
}
const Lines = z.object({ items: z.array(z.looseObject({})), nextCursor: z.string().nullable() })
const linesOf = async (id: string, query = '', name = 'calls') => {
  const { body } = await send('GET', `/v1/licenses/${id}/meters/${name}/uses${query}`)
  return Lines.parse(body)
}

describe('consume', () => {
  test('counts each key once, and refuses what does not fit', async () => {
    const { licenseKey, id } = await make()
    expect(await consume(licenseKey, '7.5', 'a')).toStrictEqual(counted('2.5'))
    expect(await consume(licenseKey, '7.5', 'a')).toStrictEqual(counted('2.5'))
    expect(await consume(licenseKey, '3', 'b')).toStrictEqual(exhausted('2.5'))
    expect(await consume(licenseKey, '2.5', 'b')).toStrictEqual(counted('0'))
    expect(await consume(licenseKey, '0.000001', 'c')).toStrictEqual(exhausted('0'))
    expect(await meterOf(id)).toMatchObject({ used: '10', remaining: '0' })
  })

  test('that is refused is listed under refusals, as a hold is', async () => {
    const { licenseKey, id } = await make()
    await consume(licenseKey, '11', 'a')
    await consume(licenseKey, '1', 'b', { meter: 'minutes' })
    const holding = { product_id: 'api', license_key: licenseKey, meter: 'calls', amount: '11' }
    await send('POST', '/v1/licenses/hold', { ...holding, idempotency_key: 'c', seconds: 60 }, runtime)
    await consume(licenseKey, '1', 'd', { device_id: 'unseated' })
    const { body } = await send('GET', `/v1/licenses/${id}/refusals`)
    const { items } = Lines.parse(body)
    expect(items.map(({ call, reason, count }) => `${call} ${reason} ${count}`).toSorted()).toStrictEqual([
      'consume inactive 1',
      'consume meter_exhausted 1',
      'consume no_such_meter 1',
      'hold meter_exhausted 1',
    ])
  })

  test('refuses a key that was used for something else', async () => {
    const { licenseKey } = await make()
    await consume(licenseKey, '1', 'a')
    expect(await consume(licenseKey, '2', 'a')).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_request' } },
    })
  })

  test.each([
    [{ amount: '0' }],
    [{ amount: '-1' }],
    [{ amount: '1.0000001' }],
    [{ amount: 1 }],
    [{ idempotency_key: '' }],
    [{ used_at: Date.parse(beginning) / 1000 - 36 * 86_400 }],
    [{ used_at: Date.parse(beginning) / 1000 + 301 }],
  ])('of %j is a bad request', async (wrong) => {
    const { licenseKey } = await make()
    expect((await consume(licenseKey, '1', 'a', wrong)).status).toBe(400)
  })

  test('begins anew with the period, and counts late uses in their own while it is open', async () => {
    const { licenseKey } = await make()
    await consume(licenseKey, '6', 'a')
    const usedAt = Date.parse('2026-03-31T23:00:00.000Z') / 1000
    api.ledger.clock.set('2026-04-02T00:00:00.000Z')
    const may = Date.parse('2026-05-01T00:00:00.000Z') / 1000
    expect(await consume(licenseKey, '10', 'b')).toStrictEqual(counted('0', { resets_at: may }))
    expect(await consume(licenseKey, '3', 'c', { used_at: usedAt })).toStrictEqual(counted('1'))
    api.ledger.clock.set('2026-04-09T00:00:00.000Z')
    expect(await consume(licenseKey, '1', 'd', { used_at: usedAt })).toMatchObject(
      ok({ allowed: false, reason: 'meter_exhausted' }),
    )
  })

  test.each([
    ['none', 'active', 'no_such_meter'],
    ['revoked', 'revoked', 'revoked'],
    ['unknown', 'not_found', 'not_found'],
    ['without a seat', 'inactive', 'inactive'],
  ])('of a license that is %s counts nothing', async (how, status, reason) => {
    const { licenseKey, id } = await make(how === 'none' ? 'none' : 'pro')
    if (how === 'revoked') {
      await revokeLicense(api.ledger.ports, tenant.tenantId, id, 'because', origin)
    }
    const key = how === 'unknown' ? 'API-0000-0000' : licenseKey
    const more = how === 'without a seat' ? { device_id: 'one' } : {}
    expect(await consume(key, '1', 'a', more)).toStrictEqual(
      ok({
        ...{ allowed: false, status, reason, meter: 'calls', remaining: '0', overage: '0', resets_at: null },
      }),
    )
  })

  test('of another tenant finds no product', async () => {
    const other = await makeTenant(api.ledger)
    const { licenseKey } = await make()
    const body = {
      product_id: 'api',
      license_key: licenseKey,
      meter: 'calls',
      amount: '1',
      idempotency_key: 'a',
    }
    expect((await send('POST', '/v1/licenses/consume', body, other.token)).status).toBe(404)
  })

  test('after a remint, another key type and a renewal goes on as the rules say', async () => {
    const { id } = await make()
    const reminted = z
      .object({ licenseKey: z.string() })
      .parse((await send('POST', `/v1/licenses/${id}/remint`, {})).body)
    expect(await consume(reminted.licenseKey, '8', 'a')).toStrictEqual(counted('2'))
    await send('PATCH', `/v1/licenses/${id}`, { keyTypeId: 'more' })
    expect(await consume(reminted.licenseKey, '1', 'b')).toStrictEqual(counted('11'))

    const pack = await make('packs')
    await consume(pack.licenseKey, '10', 'a')
    api.ledger.clock.advance(1000)
    // A correction of its end includes nothing anew; a renewal does.
    await send('PATCH', `/v1/licenses/${pack.id}`, { expiresAt: '2026-06-01T00:00:00.000Z' })
    expect(await consume(pack.licenseKey, '1', 'b')).toStrictEqual({
      ...exhausted('0'),
      body: { ...exhausted('0').body, resets_at: null },
    })
    const renewal = { expiresAt: '2026-07-01T00:00:00.000Z', at: api.ledger.clock.now().toISOString() }
    await commandLicense(api.ledger, pack.id, { type: 'RenewLicense', ...renewal })
    expect(await consume(pack.licenseKey, '1', 'c')).toStrictEqual(counted('9', { resets_at: null }))
  })
})

describe('holds', () => {
  const hold = (license_key: string, amount: string, idempotency_key: string, seconds = 600) =>
    send(
      'POST',
      '/v1/licenses/hold',
      { product_id: 'api', license_key, meter: 'calls', amount, idempotency_key, seconds },
      runtime,
    )
  const Hold = z.object({ hold_id: z.string() })
  const idOf = ({ body }: { body: unknown }) => Hold.parse(body).hold_id
  const commit = (hold_id: string, amount: string, token = runtime) =>
    send('POST', '/v1/licenses/hold/commit', { hold_id, amount }, token)
  const release = (hold_id: string, token = runtime) =>
    send('POST', '/v1/licenses/hold/release', { hold_id }, token)

  test('keep their amount, and are committed with what was used', async () => {
    const { licenseKey, id } = await make()
    const placed = await hold(licenseKey, '8', 'h')
    expect(placed).toMatchObject(ok({ allowed: true, remaining: '2' }))
    expect(await hold(licenseKey, '8', 'h')).toStrictEqual(placed)
    expect(await hold(licenseKey, '3', 'i')).toMatchObject(
      ok({ allowed: false, status: 'plan_limit', reason: 'meter_exhausted', hold_id: null, remaining: '2' }),
    )
    expect(await commit(idOf(placed), '9')).toMatchObject({ status: 409 })
    expect(await commit(idOf(placed), '5.5')).toStrictEqual(ok({ committed: true }))
    expect(await commit(idOf(placed), '5.5')).toStrictEqual(ok({ committed: true }))
    expect(await commit(idOf(placed), '5')).toMatchObject({ status: 409 })
    expect(await consume(licenseKey, '4.5', 'a')).toStrictEqual(counted('0'))
    expect(await meterOf(id)).toMatchObject({ used: '10', holds: [] })
  })

  test('end by themselves, and can be released again and again', async () => {
    const { licenseKey } = await make()
    const ended = idOf(await hold(licenseKey, '10', 'h', 60))
    api.ledger.clock.advance(60_000)
    const other = await hold(licenseKey, '10', 'i', 60)
    expect(other).toMatchObject(ok({ allowed: true }))
    expect(await commit(ended, '1')).toMatchObject({ status: 409 })
    expect(await release(idOf(other))).toStrictEqual(ok({ released: true }))
    expect(await release(idOf(other))).toStrictEqual(ok({ released: true }))
    expect(await consume(licenseKey, '10', 'a')).toStrictEqual(counted('0'))
  })

  test('of another tenant are not found', async () => {
    const other = await makeTenant(api.ledger)
    const { licenseKey } = await make()
    const held = idOf(await hold(licenseKey, '1', 'h'))
    expect(await commit(held, '1', other.token)).toMatchObject({ status: 409 })
    expect(await release(held, other.token)).toMatchObject({ status: 409 })
    expect(await commit('nonsense', '1')).toMatchObject({ status: 409 })
    expect(await commit(held, '1')).toStrictEqual(ok({ committed: true }))
  })
})

describe('credits and corrections', () => {
  const credit = (id: string, amount: string, idempotencyKey: string, more: object = {}) =>
    send('POST', `/v1/licenses/${id}/credits`, { meter: 'calls', amount, idempotencyKey, ...more })

  test('are spent by their ends, taken back, and shown line by line', async () => {
    const { licenseKey, id } = await make()
    const early = await credit(id, '5', 'order-1', { expiresAt: '2026-03-10T00:00:00.000Z', order: '1' })
    expect(early).toMatchObject({ status: 201, body: { amount: '5', endsAt: '2026-03-10T00:00:00.000Z' } })
    expect(await credit(id, '5', 'order-1')).toStrictEqual(early)
    expect(await credit(id, '6', 'order-1')).toMatchObject({ status: 422 })
    expect(await credit(id, '1', 'x', { expiresAt: '2020-01-01T00:00:00.000Z' })).toMatchObject({
      status: 422,
    })
    expect(await credit(id, '1', 'x', { meter: 'nothing' })).toMatchObject({ status: 404 })
    const late = await credit(id, '5', 'order-2')
    expect(await consume(licenseKey, '12', 'a')).toStrictEqual(counted('8'))
    const corrections = `/v1/licenses/${id}/meters/calls/corrections`
    const correction = { amount: '3', reason: 'counted twice', idempotencyKey: 'c' }
    expect(await send('POST', corrections, correction)).toStrictEqual(ok({ corrected: true }))
    expect(await send('POST', corrections, correction)).toStrictEqual(ok({ corrected: true }))
    expect(
      await send('POST', corrections, { ...correction, amount: '100', idempotencyKey: 'd' }),
    ).toMatchObject({
      status: 422,
    })
    expect(await meterOf(id)).toMatchObject({ used: '9', remaining: '11' })
    const { creditId } = z.object({ creditId: z.string() }).parse(late.body)
    const withdraw = `/v1/licenses/${id}/meters/calls/credits/${creditId}/withdraw`
    expect(await send('POST', withdraw, { reason: 'refunded' })).toStrictEqual(ok({ withdrawn: true }))
    expect(await send('POST', withdraw, { reason: 'refunded' })).toMatchObject({ status: 404 })
    expect(await meterOf(id)).toMatchObject({ remaining: '6', credits: [{ left: '5' }] })

    const first = await linesOf(id, '?limit=2&order=oldest')
    const rest = await linesOf(id, `?limit=50&order=oldest&cursor=${first.nextCursor}`)
    expect([...first.items, ...rest.items]).toMatchObject([
      { kind: 'credit', key: 'order-1', amount: '5', note: '1' },
      { kind: 'credit', key: 'order-2', amount: '5' },
      { kind: 'use', key: 'a', amount: '12', from: { included: '10', credits: {} } },
      { kind: 'correction', key: 'c', amount: '3', note: 'counted twice' },
      { kind: 'withdrawal', creditId, note: 'refunded' },
    ])
  })
})

test('an app consumes with its instance, and gets the errors of its interface', async () => {
  const { tenantId } = tenant
  const app = appOf(api.ask, { tenantId, productId: 'api' }, await sdkKeyOf(api.ledger, tenantId))
  const { licenseKey: license_key } = await make()
  const activated = await app.post('activate', { license_key, instance_name: 'one' })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  const use = { license_key, instance_id, meter: 'calls', amount: '10', idempotency_key: 'a' }
  const { status: _, ...body } = counted('0').body as Record<string, unknown>
  expect(await app.post('consume', use)).toMatchObject({ status: 200, body })
  expect(await app.post('consume', { ...use, amount: '1', idempotency_key: 'b' })).toMatchObject({
    status: 200,
    body: { allowed: false, reason: 'meter_exhausted' },
  })
  expect(await app.post('consume', { ...use, instance_id: 'another' })).toMatchObject({
    status: 422,
    body: { reason: 'inactive' },
  })
  expect(await app.post('consume', { ...use, license_key: 'nonsense' })).toMatchObject({
    status: 404,
    body: { reason: 'not_found' },
  })
})
