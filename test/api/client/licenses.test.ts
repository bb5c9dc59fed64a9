/**
 * Guarantee: an app with a license key gets a seat, an instance id and a lease that it can verify offline; every
 * response is in the contract, and the same device never takes a second seat.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { suspendTenant } from '../../../src/commands/tenants.ts'
import { newLicenseKey } from '../../../src/credentials/license-key.ts'
import { type Keyset, licenseKeyHash, verifyLease, verifyRefusal } from '../../../src/sdk/javascript/index.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense, origin } from '../../harness/ledger.ts'
import { type App, appOf, appOnFullPlan, sdkKeyOf } from '../../http/apps.ts'
import { importRows, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro', 'export'] },
      { name: 'Year', keyTypeId: 'year', duration: { count: 1, unit: 'year' }, entitlements: ['pro'] },
      {
        name: 'Soft',
        keyTypeId: 'soft',
        duration: { count: 1, unit: 'day' },
        onExpiry: 'fallback',
        entitlements: ['pro'],
        fallbackEntitlements: ['basic'],
      },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())

const begin = Date.parse(beginning) / 1000
const week = 604_800
const day = 86_400

const make = (keyTypeId = 'pro') => mint(api.ask, tenant.token, 'editor', { keyTypeId })
const activate = (licenseKey: string, name = 'MacBook', more: object = {}) =>
  app.post('activate', { license_key: licenseKey, instance_name: name, ...more })
const validate = (licenseKey: string, instanceId: string, more: object = {}) =>
  app.post('validate', { license_key: licenseKey, instance_id: instanceId, ...more })

const Activated = z.object({ instance_id: z.string(), lease: z.unknown() })
const instanceOf = ({ body }: Answer) => Activated.parse(body).instance_id

async function leased(licenseKey: string, instanceId: string, { body }: Answer) {
  const { tenantId } = tenant
  const { lease } = z.object({ lease: z.unknown() }).parse(body)
  const keyset = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const now = api.ledger.clock.now().getTime() / 1000
  const holder = { licenseKeyHash: licenseKeyHash(licenseKey), instanceId }
  return verifyLease(lease, { tenantId, productId: 'editor', ...holder }, keyset, now)
}

/** A refused validate: its message, its reason, and a signed refusal that the SDK believes. */
async function expectRefused(licenseKey: string, instanceId: string, error: string, reason: string) {
  const { status, body } = await validate(licenseKey, instanceId)
  expect({ status, body }).toMatchObject(refusal(422, error, { reason, ...settings }))
  const signed = z.object({ refusal: z.unknown() }).parse(body).refusal
  const { tenantId } = tenant
  const keyset = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const place = { tenantId, productId: 'editor', licenseKeyHash: licenseKeyHash(licenseKey), instanceId }
  const issuedAt = Math.floor(api.ledger.clock.now().getTime() / 1000)
  expect(verifyRefusal(signed, place, keyset)).toMatchObject({ ok: true, refusal: { reason, issuedAt } })
}

const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const refusal = (status: number, error: string, more = {}) => ({ status, body: { error, ...more } })
const settings = { free_tier_enabled: false }

describe('an activation', () => {
  test('returns an instance id and a lease for a week', async () => {
    const { licenseKey } = await make()
    const answer = await activate(licenseKey.toLowerCase().replaceAll('-', ' '))
    const instanceId = instanceOf(answer)
    expect(instanceId).toMatch(/^ins_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(answer.body).toStrictEqual({
      activated: true,
      instance_id: instanceId,
      license_expires_at: null,
      lease: expect.anything() as unknown,
    })
    expect(await leased(licenseKey, instanceId, answer)).toStrictEqual({
      ok: true,
      lease: {
        kid: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown,
        licenseKeyHash: licenseKeyHash(licenseKey),
        instanceId,
        issuedAt: begin,
        expiresAt: begin + week,
        status: 'active',
        entitlements: ['export', 'pro'],
        signature: expect.any(String) as unknown,
      },
    })
  })

  test('with the same name or the same anonymous id reuses the device', async () => {
    const named = await make()
    const byName = instanceOf(await activate(named.licenseKey, 'MacBook'))
    expect(instanceOf(await activate(named.licenseKey, 'MacBook'))).toBe(byName)
    const { licenseKey } = await make()
    const first = instanceOf(await activate(licenseKey, 'MacBook', { free_tier_instance_id: 'anon-1' }))
    expect(instanceOf(await activate(licenseKey, 'Renamed', { free_tier_instance_id: 'anon-1' }))).toBe(first)
    const second = instanceOf(await activate(licenseKey, 'Desktop', { free_tier_instance_id: 'anon-2' }))
    expect(second).not.toBe(first)
    // The anonymous id is more specific than the name.
    expect(instanceOf(await activate(licenseKey, 'MacBook', { free_tier_instance_id: 'anon-2' }))).toBe(
      second,
    )
    expect(statusAndBody(await activate(licenseKey, 'Phone'))).toStrictEqual(
      refusal(422, 'activation limit reached; deactivate another device first', {
        reason: 'seat_limit_reached',
      }),
    )
  })

  test('with the name of an imported device reuses that device', async () => {
    const { licenseKey } = newLicenseKey('ACME', api.ledger.ports.randomBytes)
    const devices = [{ deviceId: 'old-1', name: 'Old Mac' }]
    await importRows(api.ask, tenant.token, 'editor', [{ licenseKey, keyTypeId: 'pro', devices }])
    const instanceId = instanceOf(await activate(licenseKey, 'Old Mac'))
    expect((await validate(licenseKey, instanceId)).body).toMatchObject({ valid: true })
    expect((await app.post('deactivate', { license_key: licenseKey, instance_id: instanceId })).status).toBe(
      200,
    )
    expect((await validate(licenseKey, instanceId)).status).toBe(422)
  })

  test('takes one seat when ten requests with the same name run concurrently', async () => {
    const { id, licenseKey } = await make()
    const answers = await Promise.all(Array.from({ length: 10 }, () => activate(licenseKey, 'Laptop')))
    expect(new Set(answers.map(instanceOf)).size).toBe(1)
    const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
    expect(body).toMatchObject({ license: { seatsUsed: 1 } })
  })

  test("returns 402 when the plan's device limit is reached, except for a device that has a seat", async () => {
    const { app: own, licenseKey } = await appOnFullPlan(api)
    const asked = { license_key: licenseKey, instance_name: 'One more' }
    expect(statusAndBody(await own.post('activate', asked))).toStrictEqual(
      refusal(402, "the vendor's plan allows no more active devices", { reason: 'plan_limit' }),
    )
    expect((await own.post('activate', { ...asked, instance_name: 'Device 7' })).status).toBe(200)
  })

  test('returns 403 while the tenant is suspended; validate, config and deactivate still work', async () => {
    const { tenantId, token } = await makeTenant(api.ledger)
    await makeProduct(api.ask, token, 'editor')
    const own = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
    const { licenseKey } = await mint(api.ask, token, 'editor')
    const asked = { license_key: licenseKey, instance_name: 'MacBook' }
    const instance_id = instanceOf(await own.post('activate', asked))
    await suspendTenant(api.ledger.ports, tenantId, null, origin)
    expect(statusAndBody(await own.post('activate', asked))).toStrictEqual(
      refusal(403, 'the tenant is suspended; it cannot activate licenses'),
    )
    const held = { license_key: licenseKey, instance_id }
    expect((await own.post('validate', held)).body).toMatchObject({ valid: true })
    expect((await own.config()).status).toBe(200)
    expect((await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).status).toBe(200)
    expect((await own.post('deactivate', held)).status).toBe(200)
  })
})

describe('an invalid license', () => {
  test.each([
    ['a key that was never issued', () => newLicenseKey('ACME', api.ledger.ports.randomBytes).licenseKey],
    ['a key with a wrong check character', () => 'ACME-00000-00000-00000-00000-00000-1'],
    ['text', () => 'whatever'],
  ])('%s returns 404', async (_, key) => {
    expect(statusAndBody(await activate(key()))).toStrictEqual(
      refusal(404, 'license not found', { reason: 'not_found' }),
    )
    expect(statusAndBody(await validate(key(), 'ins_x'))).toStrictEqual(
      refusal(404, 'license not found', { reason: 'not_found', ...settings }),
    )
    const asked = { license_key: key(), instance_id: 'ins_x' }
    expect(statusAndBody(await app.post('deactivate', asked))).toStrictEqual(
      refusal(404, 'license not found', { reason: 'not_found' }),
    )
  })

  test('a key of another product returns 404', async () => {
    await makeProduct(api.ask, tenant.token, 'other')
    const { licenseKey } = await mint(api.ask, tenant.token, 'other')
    expect((await activate(licenseKey)).status).toBe(404)
  })

  test('a revoked license returns 422', async () => {
    const { id, licenseKey } = await make()
    const instanceId = instanceOf(await activate(licenseKey))
    await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at: beginning })
    expect(statusAndBody(await activate(licenseKey))).toStrictEqual(
      refusal(422, 'license revoked', { reason: 'revoked' }),
    )
    await expectRefused(licenseKey, instanceId, 'license revoked', 'revoked')
  })

  test('the old key of a reminted license returns 422, and its devices are removed', async () => {
    const { id, licenseKey } = await make()
    const instanceId = instanceOf(await activate(licenseKey))
    const { token } = tenant
    const reminted = await api.ask('POST', `/v1/licenses/${id}/remint`, { token })
    const { licenseKey: newKey } = z.object({ licenseKey: z.string() }).parse(reminted.body)
    const message = 'this license was reminted; ask the vendor for its new key'
    expect(statusAndBody(await activate(licenseKey))).toStrictEqual(
      refusal(422, message, { reason: 'reminted' }),
    )
    await expectRefused(licenseKey, instanceId, message, 'reminted')
    expect((await validate(newKey, instanceId)).status).toBe(422)
  })

  test('an unknown or deactivated instance returns 422 on validate; on deactivate 404 when unknown, 200 when deactivated', async () => {
    const { licenseKey } = await make()
    const message = 'this instance does not exist or is deactivated; activate it again'
    const unknown = { license_key: licenseKey, instance_id: 'ins_00000000000000000000000000' }
    await expectRefused(licenseKey, unknown.instance_id, message, 'inactive')
    expect(statusAndBody(await app.post('deactivate', unknown))).toStrictEqual(
      refusal(404, 'instance not found'),
    )
    const instance_id = instanceOf(await activate(licenseKey))
    for (let again = 0; again < 2; again++) {
      const answer = await app.post('deactivate', { license_key: licenseKey, instance_id })
      expect(statusAndBody(answer)).toStrictEqual({ status: 200, body: { deactivated: true } })
    }
    await expectRefused(licenseKey, instance_id, message, 'inactive')
    const odd = await validate(licenseKey, `${instance_id}|1`)
    expect(odd.body).not.toHaveProperty('refusal')
    expect(instanceOf(await activate(licenseKey))).not.toBe(instance_id)
  })

  test.each(['activate', 'validate', 'deactivate'] as const)(
    '%s without its fields returns 400; a wrong SDK key returns 401',
    async (call) => {
      expect((await app.post(call, {})).status).toBe(400)
      const headers = { 'x-service-sdk-key': 'kl_sdk_no' }
      const answer = await api.ask('POST', `/${tenant.tenantId}/editor/${call}`, { headers, raw: '{' })
      expect(answer.status).toBe(401)
    },
  )
})

describe('the expiry of a license', () => {
  test('also ends its lease; the SDK then rejects the lease', async () => {
    const { clock } = api.ledger
    const { licenseKey } = await make('year')
    const instanceId = instanceOf(await activate(licenseKey))
    const end = Date.parse('2027-03-01T12:00:00.000Z') / 1000
    clock.set('2027-02-28T12:00:00.000Z')
    const last = await validate(licenseKey, instanceId)
    expect(last.body).toMatchObject({
      valid: true,
      license_expires_at: end,
      lease: { issuedAt: end - day, expiresAt: end, status: 'active' },
    })
    clock.set('2027-03-01T11:59:59.999Z')
    expect((await validate(licenseKey, instanceId)).body).toMatchObject({ valid: true })
    clock.set('2027-03-01T12:00:00.000Z')
    const over = await validate(licenseKey, instanceId)
    expect(over).toMatchObject({
      status: 200,
      body: {
        valid: false,
        error: 'license expired',
        license_expires_at: end,
        lease: { issuedAt: end, expiresAt: end, status: 'expired', entitlements: [] },
        free_tier_enabled: false,
      },
    })
    // In the last second of the lease, the license expires.
    expect(await leased(licenseKey, instanceId, last)).toMatchObject({ ok: true })
    clock.advance(1000)
    expect(await leased(licenseKey, instanceId, last)).toStrictEqual({ ok: false, reason: 'over' })
    expect(statusAndBody(await activate(licenseKey))).toStrictEqual(
      refusal(422, 'license expired', { reason: 'expired' }),
    )
  })

  test('gives leases with the fallback entitlements when the license enters fallback', async () => {
    const { clock } = api.ledger
    const { licenseKey } = await make('soft')
    const begun = clock.now().getTime() / 1000
    const instanceId = instanceOf(await activate(licenseKey))
    clock.advance(day * 1000)
    const answer = await validate(licenseKey, instanceId)
    expect(answer.body).toMatchObject({ valid: false, license_expires_at: begun + day })
    expect(answer.body).not.toHaveProperty('error')
    expect(await leased(licenseKey, instanceId, answer)).toMatchObject({
      ok: true,
      lease: { status: 'fallback', entitlements: ['basic'], expiresAt: begun + day + week },
    })
  })

  test('does not prevent an activation in fallback; the lease has the status fallback', async () => {
    const { clock } = api.ledger
    const { licenseKey } = await make('soft')
    const begun = clock.now().getTime() / 1000
    clock.advance(day * 1000)
    const answer = await activate(licenseKey)
    expect(answer.status).toBe(200)
    const instanceId = instanceOf(answer)
    expect(answer.body).toMatchObject({ activated: true, license_expires_at: begun + day })
    expect(await leased(licenseKey, instanceId, answer)).toMatchObject({
      ok: true,
      lease: { status: 'fallback', entitlements: ['basic'], expiresAt: begun + day + week },
    })
    expect((await validate(licenseKey, instanceId)).body).toMatchObject({
      valid: false,
      lease: { status: 'fallback' },
    })
  })
})
