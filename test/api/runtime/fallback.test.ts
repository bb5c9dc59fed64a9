/** Guarantee: a license in fallback can be moved to another device after its expiry, within its seats. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      {
        name: 'Soft',
        duration: { count: 1, unit: 'day' },
        entitlements: ['export'],
        fallbackEntitlements: ['read'],
        onExpiry: 'fallback',
      },
    ],
  })
})
afterAll(() => api.close())

const endMoment = '2026-03-02T12:00:00.000Z'

async function call(what: 'activate' | 'validate' | 'deactivate', asked: object) {
  const body = { product_id: 'editor', ...asked }
  return api.ask('POST', `/v1/licenses/${what}`, { token: runtime, body })
}

test('a license in fallback can be deactivated on one device and activated on another', async () => {
  const { id, licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', { deviceLimit: 1 })
  await call('activate', { license_key, device_id: 'old' })
  api.ledger.clock.set(endMoment)
  const fresh = { license_key, device_id: 'new' }
  const seats = (device: string) =>
    api.ask('GET', `/v1/licenses/${id}/explain?device_id=${device}`, { token: tenant.token })
  const full = { activated: false, status: 'seat_limit_reached', entitlements: [] }
  expect((await call('activate', fresh)).body).toMatchObject(full)
  expect((await seats('new')).body).toMatchObject({
    explanation: { activate: { succeeds: false, status: 'seat_limit_reached' } },
  })
  await call('deactivate', { license_key, device_id: 'old' })
  expect((await seats('new')).body).toMatchObject({
    explanation: {
      validate: { succeeds: false, status: 'inactive' },
      activate: {
        succeeds: true,
        status: 'fallback',
        rule: 'seat_free',
        because:
          'allowed: 0 of 1 seats are in use; the paid period ended on 2026-03-02 12:00:00 UTC, so the device gets the fallback entitlements',
      },
    },
  })
  const seated = { activated: true, status: 'fallback', entitlements: ['read'], device_id: 'new' }
  expect((await call('activate', fresh)).body).toMatchObject(seated)
  expect((await call('activate', fresh)).body).toMatchObject(seated)
  expect((await call('validate', fresh)).body).toMatchObject({
    valid: false,
    status: 'fallback',
    reason: 'fallback',
  })
  expect((await call('validate', { license_key, device_id: 'old' })).body).toMatchObject({
    status: 'inactive',
  })
  expect((await seats('new')).body).toMatchObject({
    explanation: {
      validate: { succeeds: false, status: 'fallback', entitlements: ['read'] },
      activate: { succeeds: true, status: 'fallback', rule: 'seated' },
      seats: { used: 1, limit: 1 },
    },
  })
})
