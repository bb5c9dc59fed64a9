/**
 * Guarantee: the full response of the runtime interface for every status: an invalid license gets 200 with a
 * reason, and a revoked one shows no more than an unknown one.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newLicenseKey } from '../../../src/credentials/license-key.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  const terms = {
    duration: { count: 1, unit: 'day' },
    entitlements: ['export'],
    fallbackEntitlements: ['read'],
  }
  await makeProduct(api.ask, tenant.token, 'editor', {
    revalidateAfterSeconds: 600,
    keyTypes: [
      { name: 'Perpetual', entitlements: ['export', 'sync'] },
      { name: 'Hard', ...terms },
      { name: 'Soft', ...terms, onExpiry: 'fallback' },
    ],
  })
  await makeProduct(api.ask, tenant.token, 'player')
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const now = Date.parse(beginning) / 1000
const day = 86_400
const later = now + 600

type Asked = { product_id?: string; license_key: string; device_id?: string; name?: string }

async function call(what: 'activate' | 'validate' | 'deactivate', asked: Asked) {
  const { status, body } = await api.ask('POST', `/v1/licenses/${what}`, {
    token: runtime,
    body: { product_id: 'editor', ...asked },
  })
  return { status, body }
}
const ok = (body: unknown) => ({ status: 200, body })
const license = (keyTypeId: string, fields: Record<string, unknown> = {}) =>
  mint(api.ask, tenant.token, 'editor', { keyTypeId, ...fields })

const nothing = { expires_at: null, entitlements: [], revalidate_after: later }

describe('a perpetual license', () => {
  test('is active on the device that it was activated on, and inactive on any other', async () => {
    const { licenseKey: license_key } = await license('perpetual')
    const good = {
      status: 'active',
      expires_at: null,
      entitlements: ['export', 'sync'],
      device_id: 'laptop',
      revalidate_after: later,
    }
    const inactive = { status: 'inactive', ...nothing, reason: 'inactive' }
    const laptop = { license_key, device_id: 'laptop' }
    expect(await call('validate', laptop)).toStrictEqual(
      ok({ valid: false, ...inactive, device_id: 'laptop' }),
    )
    expect(await call('activate', laptop)).toStrictEqual(ok({ activated: true, ...good }))
    expect(await call('validate', laptop)).toStrictEqual(ok({ valid: true, ...good }))
    const phone = await call('validate', { license_key, device_id: 'phone' })
    expect(phone).toStrictEqual(ok({ valid: false, ...inactive, device_id: 'phone' }))
  })

  test('is valid without a device when the request names none', async () => {
    const { licenseKey: license_key } = await license('perpetual')
    expect(await call('validate', { license_key })).toStrictEqual(
      ok({
        valid: true,
        status: 'active',
        expires_at: null,
        entitlements: ['export', 'sync'],
        device_id: null,
        revalidate_after: later,
      }),
    )
  })

  test('is found by its key in any spelling', async () => {
    const { licenseKey } = await license('perpetual')
    const typed = [
      licenseKey.toLowerCase(),
      licenseKey.replaceAll('-', ' '),
      ` ${licenseKey.replaceAll('-', '')}\t`,
    ]
    for (const license_key of [...typed, licenseKey.replaceAll('0', 'o').replaceAll('1', 'l')]) {
      expect((await call('validate', { license_key })).body).toMatchObject({ valid: true })
    }
  })

  test('is not found for another product of its tenant', async () => {
    const { licenseKey: license_key } = await license('perpetual')
    const { body } = await call('validate', { license_key, product_id: 'player' })
    expect(body).toMatchObject({ valid: false, status: 'not_found' })
  })
})

describe('the seats of a license', () => {
  test('are taken once per device, even when it activates again', async () => {
    const { id, licenseKey: license_key } = await license('perpetual', { deviceLimit: 2 })
    for (const device_id of ['one', 'one', 'two', 'one']) {
      expect((await call('activate', { license_key, device_id })).body).toMatchObject({ activated: true })
    }
    expect(await call('activate', { license_key, device_id: 'three' })).toStrictEqual(
      ok({
        activated: false,
        status: 'seat_limit_reached',
        expires_at: null,
        entitlements: [],
        device_id: 'three',
        revalidate_after: later,
        reason: 'seat_limit_reached',
      }),
    )
    const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
    expect(body).toMatchObject({ license: { seatsUsed: 2 } })
  })

  test('are freed by a deactivation; a second call changes nothing', async () => {
    const { licenseKey: license_key } = await license('perpetual')
    const gone = ok({ deactivated: true })
    await call('activate', { license_key, device_id: 'old' })
    expect(await call('deactivate', { license_key, device_id: 'old' })).toStrictEqual(gone)
    expect(await call('deactivate', { license_key, device_id: 'old' })).toStrictEqual(gone)
    expect(await call('deactivate', { license_key, device_id: 'never-seen' })).toStrictEqual(gone)
    expect((await call('validate', { license_key, device_id: 'old' })).body).toMatchObject({
      status: 'inactive',
    })
    expect((await call('activate', { license_key, device_id: 'new' })).body).toMatchObject({
      activated: true,
    })
    expect((await call('activate', { license_key, device_id: 'old' })).body).toMatchObject({
      status: 'seat_limit_reached',
    })
  })

  test('are distinguished by the exact device id', async () => {
    const { licenseKey: license_key } = await license('perpetual', { deviceLimit: 10 })
    for (const device_id of ['é', 'e\u0301', 'É', "'; drop table licenses; --", '💻', ' ', '\\', '{"a":1}']) {
      expect((await call('validate', { license_key, device_id })).body).toMatchObject({ status: 'inactive' })
      expect((await call('activate', { license_key, device_id })).body).toMatchObject({
        activated: true,
        device_id,
      })
    }
  })
})

describe('a license at its expiry', () => {
  const end = now + day
  const endMoment = '2026-03-02T12:00:00.000Z'
  const lastMoment = '2026-03-02T11:59:59.999Z'

  test('is valid until the last millisecond before and expired after', async () => {
    const { licenseKey: license_key } = await license('hard')
    const laptop = { license_key, device_id: 'laptop' }
    const good = { status: 'active', expires_at: end, entitlements: ['export'], device_id: 'laptop' }
    expect(await call('activate', laptop)).toStrictEqual(
      ok({ activated: true, ...good, revalidate_after: later }),
    )
    api.ledger.clock.set(lastMoment)
    // A client that caches this response asks again at the expiry, not ten minutes later.
    expect(await call('validate', laptop)).toStrictEqual(ok({ valid: true, ...good, revalidate_after: end }))
    api.ledger.clock.set(endMoment)
    const expired = {
      status: 'expired',
      expires_at: end,
      entitlements: [],
      device_id: 'laptop',
      revalidate_after: end + 600,
      reason: 'expired',
    }
    expect(await call('validate', laptop)).toStrictEqual(ok({ valid: false, ...expired }))
    expect(await call('activate', laptop)).toStrictEqual(ok({ activated: false, ...expired }))
    expect(await call('deactivate', laptop)).toStrictEqual(ok({ deactivated: true }))
  })

  test('with fallback is not valid and has its fallback entitlements', async () => {
    const { licenseKey: license_key } = await license('soft')
    const laptop = { license_key, device_id: 'laptop' }
    await call('activate', laptop)
    api.ledger.clock.set(lastMoment)
    expect((await call('validate', laptop)).body).toMatchObject({ valid: true, entitlements: ['export'] })
    api.ledger.clock.set(endMoment)
    const fallback = {
      status: 'fallback',
      expires_at: end,
      entitlements: ['read'],
      device_id: 'laptop',
      revalidate_after: end + 600,
      reason: 'fallback',
    }
    expect(await call('validate', laptop)).toStrictEqual(ok({ valid: false, ...fallback }))
    const { reason: _, ...seated } = fallback
    expect(await call('activate', laptop)).toStrictEqual(ok({ activated: true, ...seated }))
  })

  test('gets the same response before and after the expiry is recorded', async () => {
    const { id, licenseKey: license_key } = await license('hard')
    api.ledger.clock.set(endMoment)
    const before = await call('validate', { license_key })
    await commandLicense(api.ledger, id, { type: 'EndPaidPeriod', at: endMoment })
    expect(await call('validate', { license_key })).toStrictEqual(before)
  })

  test('is valid again after a renewal', async () => {
    const { id, licenseKey: license_key } = await license('soft')
    api.ledger.clock.set(endMoment)
    const renewal = { type: 'RenewLicense', expiresAt: '2026-03-03T12:00:00.000Z', at: endMoment } as const
    await commandLicense(api.ledger, id, renewal)
    expect((await call('validate', { license_key })).body).toMatchObject({
      valid: true,
      expires_at: end + day,
    })
  })

  test('has a revalidate_after in whole seconds', async () => {
    const { licenseKey: license_key } = await license('perpetual')
    api.ledger.clock.set('2026-03-01T12:00:00.999Z')
    expect((await call('validate', { license_key })).body).toMatchObject({ revalidate_after: later })
  })
})

describe('an invalid license', () => {
  const fields = (body: unknown) => Object.keys(body as object).sort()

  test('gets the same response as an unknown one, except for status and reason', async () => {
    const { id, licenseKey } = await license('hard')
    const device_id = 'laptop'
    await call('activate', { license_key: licenseKey, device_id })
    await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at: beginning })
    const { licenseKey: unknown } = newLicenseKey('ACME', api.ledger.ports.randomBytes)
    for (const [what, answer] of [
      ['validate', 'valid'],
      ['activate', 'activated'],
    ] as const) {
      const revoked = await call(what, { license_key: licenseKey, device_id })
      const gone = { ...nothing, device_id }
      expect(revoked).toStrictEqual(ok({ [answer]: false, ...gone, status: 'revoked', reason: 'revoked' }))
      const never = await call(what, { license_key: unknown, device_id })
      expect(never).toStrictEqual(ok({ [answer]: false, ...gone, status: 'not_found', reason: 'not_found' }))
      expect(fields(revoked.body)).toStrictEqual(fields(never.body))
    }
    expect(await call('deactivate', { license_key: unknown, device_id })).toStrictEqual(
      ok({ deactivated: false, reason: 'not_found' }),
    )
    expect(await call('deactivate', { license_key: licenseKey, device_id })).toStrictEqual(
      ok({ deactivated: true }),
    )
  })

  test('answers `reminted` to its old key only', async () => {
    const { id, licenseKey } = await license('perpetual')
    const device_id = 'laptop'
    await call('activate', { license_key: licenseKey, device_id })
    const fresh = newLicenseKey('ACME', api.ledger.ports.randomBytes)
    const { keyHash, displayKey } = fresh
    await commandLicense(api.ledger, id, {
      type: 'RemintLicense',
      keyHash,
      displayKey,
      keepDevices: true,
      at: beginning,
    })
    const reminted = { ...nothing, status: 'reminted', device_id, reason: 'reminted' }
    const old = { license_key: licenseKey, device_id }
    expect(await call('validate', old)).toStrictEqual(ok({ valid: false, ...reminted }))
    expect(await call('activate', old)).toStrictEqual(ok({ activated: false, ...reminted }))
    expect(await call('deactivate', old)).toStrictEqual(ok({ deactivated: false, reason: 'reminted' }))
    const current = { license_key: fresh.licenseKey, device_id }
    expect((await call('validate', current)).body).toMatchObject({ valid: true })
  })

  test('answers `not_found` when the check character is wrong', async () => {
    const { licenseKey } = await license('perpetual')
    const wrong = licenseKey.slice(0, -1) + (licenseKey.endsWith('A') ? 'B' : 'A')
    expect((await call('validate', { license_key: wrong, device_id: 'd' })).body).toMatchObject({
      valid: false,
      status: 'not_found',
      expires_at: null,
      entitlements: [],
    })
  })
})

test('a full plan activates no new device and keeps active devices', async () => {
  const free = await makeTenant(api.ledger, 'free')
  await makeProduct(api.ask, free.token, 'editor')
  const { licenseKey: license_key } = await mint(api.ask, free.token, 'editor', { deviceLimit: null })
  const activate = async (device_id: string) => {
    const body = { product_id: 'editor', license_key, device_id }
    return (await api.ask('POST', '/v1/licenses/activate', { token: free.token, body })).body
  }
  for (let n = 1; n <= 100; n++) expect(await activate(`device-${n}`)).toMatchObject({ activated: true })
  expect(await activate('device-101')).toStrictEqual({
    activated: false,
    status: 'plan_limit',
    expires_at: null,
    entitlements: [],
    device_id: 'device-101',
    revalidate_after: now + 3600,
    reason: 'plan_limit',
  })
  expect(await activate('device-1')).toMatchObject({ activated: true })
  const body = { product_id: 'editor', license_key, device_id: 'device-1' }
  await api.ask('POST', '/v1/licenses/deactivate', { token: free.token, body })
  expect(await activate('device-101')).toMatchObject({ activated: true })
})

describe('a runtime call', () => {
  const whats = ['activate', 'validate', 'deactivate'] as const

  test('for an unknown product returns 404 with a code', async () => {
    for (const what of whats) {
      const asked = { license_key: 'SOMETHING', product_id: 'absent', device_id: 'd' }
      expect(await call(what, asked)).toStrictEqual({
        status: 404,
        body: {
          error: { code: 'product_not_found', message: 'this account has no product with this product_id' },
        },
      })
    }
  })

  test.each([
    ['no key', { license_key: undefined, device_id: 'd' }],
    ['an empty key', { license_key: '', device_id: 'd' }],
    ['a key that is too long', { license_key: 'A'.repeat(513), device_id: 'd' }],
    ['a number for a key', { license_key: 7, device_id: 'd' }],
    ['an empty device', { license_key: 'A', device_id: '' }],
    ['a device with NUL', { license_key: 'A', device_id: 'a\u0000' }],
    ['a device with half of a surrogate pair', { license_key: 'A', device_id: '\udc00' }],
    ['a key with NUL', { license_key: '\u0000', device_id: 'd' }],
  ])('with %s returns 400 with a code', async (_, sent) => {
    for (const what of whats) {
      const { status, body } = await api.ask('POST', `/v1/licenses/${what}`, {
        token: runtime,
        body: { product_id: 'editor', ...sent },
      })
      const error = { code: 'invalid_request', message: expect.any(String) as string }
      expect({ status, body }).toStrictEqual({ status: 400, body: { error } })
    }
  })

  test('without a device returns 400 for activate and deactivate', async () => {
    expect(await call('activate', { license_key: 'A' })).toMatchObject({ status: 400 })
    expect(await call('deactivate', { license_key: 'A' })).toMatchObject({ status: 400 })
  })

  test('ignores unknown fields', async () => {
    const { licenseKey: license_key } = await license('perpetual')
    const asked = { license_key, device_id: 'd', app_version: '1.0', sdk: 'swift' }
    expect((await call('activate', asked)).body).toMatchObject({ activated: true })
    expect((await call('validate', asked)).body).toMatchObject({ valid: true })
    expect((await call('deactivate', asked)).body).toMatchObject({ deactivated: true })
  })
})
