/**
 * Guarantee: a device gets an amount to spend without a network as a signed claim that the SDK verifies; it is kept for that device alone,
 * what it reports comes out of it, also when its license has ended meanwhile, and the rest comes back.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { type Keyset, licenseKeyHash, verifyLease2 } from '../../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense, origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
const calls = { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId } = tenant
  await makeProduct(api.ask, tenant.token, 'api', {
    keyTypes: [{ name: 'Pro', deviceLimit: 2, meters: [calls] }, { name: 'None' }],
  })
  app = appOf(api.ask, { tenantId, productId: 'api' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const begin = Date.parse(beginning) / 1000
const march = Date.parse('2026-04-01T00:00:00.000Z') / 1000
const Granted = z.object({
  granted: z.literal(true),
  allowance: z.object({ id: z.string(), amount: z.string(), ends_at: z.int() }),
  lease2: z.string(),
  remaining: z.string(),
})
async function activated(license_key: string, instance_name: string) {
  const { body } = await app.post('activate', { license_key, instance_name })
  return { license_key, instance_id: z.object({ instance_id: z.string() }).parse(body).instance_id }
}
async function device() {
  const { licenseKey, id } = await mint(api.ask, tenant.token, 'api', { keyTypeId: 'pro' })
  return { id, licenseKey, holder: await activated(licenseKey, 'one') }
}
const ask = async (holder: object, amount: string, idempotency_key: string, more: object = {}) => {
  const body = { ...holder, meter: 'calls', amount, idempotency_key, seconds: 86_400, ...more }
  const { status, body: answer } = await app.post('allowance', body)
  return { status, body: answer }
}
const granted = async (...asked: Parameters<typeof ask>) => Granted.parse((await ask(...asked)).body)
const use = (idempotency_key: string, amount: string, more: object = {}) => ({
  ...{ meter: 'calls', amount, idempotency_key, ...more },
})
const Reported = z.object({
  uses: z.array(z.looseObject({ allowed: z.boolean(), reason: z.string().optional() })),
})
const report = async (holder: object, uses: object[], more: object = {}) => {
  const { body } = await app.post('uses', { ...holder, batch: 1, uses, ...more })
  return Reported.parse(body).uses
}
const meterOf = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}/meters`, { token: tenant.token })
  return z.object({ meters: z.array(z.looseObject({})) }).parse(body).meters[0]
}

test('is a claim in a lease that the SDK verifies, the same for a repeated request', async () => {
  const { licenseKey, holder } = await device()
  const first = await granted(holder, '4', 'one')
  expect(first).toMatchObject({ allowance: { amount: '4', ends_at: begin + 86_400 }, remaining: '6' })
  expect(await granted(holder, '4', 'one')).toMatchObject({ allowance: first.allowance, remaining: '6' })
  const { tenantId } = tenant
  const keyset = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const { instance_id: instanceId } = holder
  const expected = { tenantId, productId: 'api', licenseKeyHash: licenseKeyHash(licenseKey), instanceId }
  expect(verifyLease2(first.lease2, expected, keyset, begin)).toMatchObject({
    ok: true,
    lease: { allowance: { id: first.allowance.id, meter: 'calls', amount: '4', endsAt: begin + 86_400 } },
  })
  expect(verifyLease2(first.lease2, { ...expected, instanceId: 'another' }, keyset, begin)).toMatchObject({
    ok: false,
  })
})

describe('what a device asks for', () => {
  test('is refused when not so much is left, and ends with the month', async () => {
    const { holder } = await device()
    expect(await ask(holder, '11', 'one')).toStrictEqual({
      status: 200,
      body: {
        ...{ granted: false, reason: 'meter_exhausted', meter: 'calls', remaining: '10', overage: '0' },
        resets_at: march,
      },
    })
    const long = await granted(holder, '10', 'one', { seconds: 31 * 86_400 })
    expect(long.allowance.ends_at).toBe(Math.min(begin + 31 * 86_400, march))
  })

  test('is refused a sixth time, without a meter, without a seat and with the key of another device', async () => {
    const { licenseKey, holder } = await device()
    for (const key of ['a', 'b', 'c', 'd', 'e']) await granted(holder, '1', key)
    expect((await ask(holder, '1', 'f')).body).toMatchObject({ reason: 'allowance_limit_reached' })
    const other = await activated(licenseKey, 'two')
    expect((await ask(other, '1', 'a')).status).toBe(422)
    expect((await ask(other, '1', 'g', { meter: 'nothing' })).body).toMatchObject({ reason: 'no_such_meter' })
    expect(await ask({ ...holder, instance_id: 'none' }, '1', 'h')).toMatchObject({
      status: 422,
      body: { reason: 'inactive' },
    })
    expect(await ask({ ...holder, license_key: 'nonsense' }, '1', 'h')).toMatchObject({ status: 404 })
    expect((await ask(holder, '1', 'h', { seconds: 32 * 86_400 })).status).toBe(400)
  })
})

describe('what a device reports', () => {
  test('comes out of its allowance once, and what it gives back is free at once', async () => {
    const { id, holder } = await device()
    const { allowance } = await granted(holder, '6', 'one')
    const uses = [use('a', '2', { allowance: allowance.id }), use('b', '1.5', { allowance: allowance.id })]
    expect(await report(holder, uses)).toMatchObject([{ allowed: true, remaining: '4' }, { allowed: true }])
    expect(await report(holder, uses)).toMatchObject([{ allowed: true, remaining: '4' }, { allowed: true }])
    expect(await meterOf(id)).toMatchObject({ used: '3.5', remaining: '4', allowances: [{ left: '2.5' }] })
    await report(holder, [], { returned: [allowance.id] })
    expect(await meterOf(id)).toMatchObject({ used: '3.5', remaining: '6.5', allowances: [] })
    expect(await report(holder, uses, { returned: [allowance.id, 'nonsense'] })).toMatchObject([
      { allowed: true, remaining: '6.5' },
      { allowed: true },
    ])
    expect((await ask(holder, '6', 'one')).body).toMatchObject({ granted: false, reason: 'allowance_over' })
    const lines = await api.ask('GET', `/v1/licenses/${id}/meters/calls/uses?order=oldest`, {
      token: tenant.token,
    })
    expect(lines.body).toMatchObject({
      items: [
        { kind: 'allowance', key: 'one', amount: '6', allowanceId: allowance.id, holdId: null },
        { kind: 'use', key: 'a', allowanceId: allowance.id },
        { kind: 'use', key: 'b', allowanceId: allowance.id },
      ],
    })
  })

  test('beyond its allowance counts like any other use', async () => {
    const { holder } = await device()
    const { allowance } = await granted(holder, '6', 'one')
    const under = { allowance: allowance.id }
    expect(
      await report(holder, [use('a', '7', under), use('b', '6', under), use('c', '4', under)]),
    ).toMatchObject([
      { allowed: false, reason: 'meter_exhausted' },
      { allowed: true },
      { allowed: true, remaining: '0' },
    ])
  })

  test('counts a week after the end at most, and late after that', async () => {
    const { holder } = await device()
    const { allowance } = await granted(holder, '10', 'one')
    const during = { allowance: allowance.id, used_at: begin + 3600 }
    api.ledger.clock.set(new Date((begin + 8 * 86_400 - 1) * 1000).toISOString())
    expect(await report(holder, [use('a', '9', during)])).toMatchObject([{ allowed: true }])
    api.ledger.clock.advance(1000)
    expect(await report(holder, [use('b', '1', during)])).toMatchObject([{ allowed: true, remaining: '0' }])
    expect(await report(holder, [use('c', '1', during)])).toMatchObject([
      { allowed: false, reason: 'meter_exhausted' },
    ])
  })

  test.each(['revoked', 'suspended', 'without its seat', 'of another key type'])(
    'counts out of what was kept on a license that is %s meanwhile',
    async (how) => {
      const { id, holder } = await device()
      const { allowance } = await granted(holder, '6', 'one')
      if (how === 'revoked') await revokeLicense(api.ledger.ports, tenant.tenantId, id, 'because', origin)
      if (how === 'suspended')
        await commandLicense(api.ledger, id, { type: 'SuspendLicense', reason: 'because', at: beginning })
      if (how === 'without its seat') await app.post('deactivate', holder)
      if (how === 'of another key type')
        await api.ask('PATCH', `/v1/licenses/${id}`, { token: tenant.token, body: { keyTypeId: 'none' } })
      expect(await report(holder, [use('a', '2', { allowance: allowance.id }), use('b', '1')])).toMatchObject(
        [{ allowed: true }, { allowed: false, reason: expect.any(String) as unknown }],
      )
    },
  )

  test('under the allowance of another device is counted without it', async () => {
    const { id, licenseKey, holder } = await device()
    const { allowance } = await granted(holder, '6', 'one')
    const other = await activated(licenseKey, 'two')
    const under = { allowance: allowance.id }
    expect(
      await report(other, [use('a', '4', under), use('b', '1', under)], { returned: [allowance.id] }),
    ).toMatchObject([{ allowed: true, remaining: '0' }, { allowed: false }])
    expect(await meterOf(id)).toMatchObject({ allowances: [{ left: '6' }] })
  })
})
// To append to test/api/client/allowances.test.ts
test('comes out of what the customer of the license shares, and each line names the license', async () => {
  const { id, licenseKey, holder } = await device()
  const meters = [{ ...calls, included: '20' }]
  const send = async (path: string, body: object) =>
    (await api.ask('POST', path, { token: tenant.token, body })).body
  const made = await send('/v1/customers', { email: 'team@example.com', meters })
  const { customer } = z.object({ customer: z.looseObject({ id: z.string() }) }).parse(made)
  await send(`/v1/customers/${customer.id}/link-license`, { licenseId: id })
  const { allowance, remaining } = await granted(holder, '15', 'one')
  expect(remaining).toBe('5')
  const uses = [use('a', '12', { allowance: allowance.id })]
  expect(await report(holder, uses)).toMatchObject([{ allowed: true, remaining: '5' }])
  expect(await report(holder, uses, { returned: [allowance.id] })).toMatchObject([
    { allowed: true, remaining: '5' },
  ])
  const validated = await app.post('validate', { ...holder, meters: true })
  expect(validated.body).toMatchObject({ meters: [{ meter: 'calls', used: '12', remaining: '8' }] })
  const path = `/v1/customers/${customer.id}/meters/calls/uses?order=oldest`
  expect((await api.ask('GET', path, { token: tenant.token })).body).toMatchObject({
    items: [
      { kind: 'allowance', licenseId: id, amount: '15' },
      { kind: 'use', licenseId: id, amount: '12', allowanceId: allowance.id },
    ],
  })
  // What was kept before is reported after the license has left its customer, too.
  const again = await granted(holder, '5', 'two')
  await send(`/v1/customers/${customer.id}/unlink-license`, { licenseId: id })
  const later = [use('b', '5', { allowance: again.allowance.id }), use('c', '10')]
  expect(await report({ ...holder, license_key: licenseKey }, later)).toMatchObject([
    { allowed: true },
    { allowed: true, remaining: '0' },
  ])
})
