/**
 * Guarantee: until its grace is over, a license that has expired is active everywhere: for servers, apps, lists, counts and
 * devices. The end of the grace is the end of its leases and the moment at which its expiry is recorded.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { countLicensesOfKeyType } from '../../../projections/licenses/count.ts'
import { listDevicesOfTenant } from '../../../projections/licenses/device-list.ts'
import { expiryLagMs } from '../../../projections/licenses/expiries.ts'
import { recordExpiries } from '../../../src/reactions/expiries.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense, eventsIn } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { importRows, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string
let app: App
const day = 86_400
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  const { tenantId, token } = tenant
  const own = { duration: { count: 1, unit: 'day' }, deviceLimit: 5, entitlements: ['export'] }
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Grace', ...own, graceSeconds: 7 * day },
      { name: 'Soft', ...own, graceSeconds: 7 * day, onExpiry: 'fallback', fallbackEntitlements: ['read'] },
      { name: 'None', ...own, graceSeconds: 0 },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())

const end = '2026-03-02T12:00:00.000Z'
const within = '2026-03-05T12:00:00.000Z'
const graceEnd = '2026-03-09T12:00:00.000Z'
const seconds = (moment: string) => Date.parse(moment) / 1000
const inGrace = { grace: true, grace_until: seconds(graceEnd) }

const call = async (what: 'activate' | 'validate', asked: object) =>
  (
    await api.ask('POST', `/v1/licenses/${what}`, {
      token: runtime,
      body: { product_id: 'editor', ...asked },
    })
  ).body
const read = async (url: string) => (await api.ask('GET', url, { token: tenant.token })).body
const Ids = z.object({ items: z.array(z.object({ id: z.string() })) })
const idsWith = async (status: string) =>
  Ids.parse(await read(`/v1/licenses?status=${status}&limit=100`)).items.map(({ id }) => id)
const recorded = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, `license-${id}`)).flatMap((entry) =>
    entry.readable && entry.event.type.match(/Expired|FellBack|Renewed/) ? [entry.event] : [],
  )
const record = () =>
  recordExpiries(api.ledger.ports, {
    onFailure: ({ error }) => {
      throw error
    },
  }).poll()

async function seated(keyTypeId: string) {
  api.ledger.clock.set(beginning)
  const { id, licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', { keyTypeId })
  await call('activate', { license_key, device_id: id })
  const activated = await app.post('activate', { license_key, instance_name: 'MacBook' })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  return { id, license_key, instance_id }
}

test('servers and apps get a valid answer that says so, until the grace is over', async () => {
  const { id, license_key, instance_id } = await seated('grace')
  const soon = await call('validate', { license_key, device_id: id })
  expect(soon).toMatchObject({ valid: true, status: 'active', revalidate_after: seconds(beginning) + 3600 })
  expect(soon).not.toHaveProperty('grace')
  for (const moment of [end, within, '2026-03-09T11:59:59.999Z']) {
    api.ledger.clock.set(moment)
    const valid = {
      valid: true,
      status: 'active',
      expires_at: seconds(end),
      entitlements: ['export'],
      ...inGrace,
    }
    expect(await call('validate', { license_key, device_id: id })).toMatchObject(valid)
    expect((await app.post('validate', { license_key, instance_id })).body).toMatchObject({
      ...{ valid: true, license_expires_at: seconds(end), ...inGrace },
      lease: { status: 'active', expiresAt: Math.min(seconds(moment) + 7 * day, seconds(graceEnd)) },
    })
    const again = await app.post('activate', { license_key, instance_name: 'MacBook' })
    expect(again.body).toMatchObject({ activated: true, license_expires_at: seconds(end), ...inGrace })
    expect(await call('activate', { license_key, device_id: id })).toMatchObject({
      ...{ activated: true, status: 'active', ...inGrace },
    })
  }
  expect(await read(`/v1/licenses/${id}/explain`)).toMatchObject({
    explanation: {
      validate: {
        because:
          'valid: the license is active and expired on 2026-03-02 12:00:00 UTC, with a grace until 2026-03-09 12:00:00 UTC',
      },
    },
  })
  api.ledger.clock.set(graceEnd)
  const over = await call('validate', { license_key, device_id: id })
  expect(over).toMatchObject({ valid: false, status: 'expired', expires_at: seconds(end) })
  expect(over).not.toHaveProperty('grace')
  const refused = await app.post('validate', { license_key, instance_id })
  expect(refused.body).toMatchObject({ valid: false, error: 'license expired', lease: { status: 'expired' } })
  expect(refused.body).not.toHaveProperty('grace')
})

test('lists, counts and devices count it as active, and its expiry is recorded when the grace is over', async () => {
  const { id } = await seated('grace')
  const { id: soft } = await seated('soft')
  const { id: hard } = await seated('none')
  const place = { tenantId: tenant.tenantId, productId: 'editor', keyTypeId: 'soft' }
  const devices = async () => {
    const now = api.ledger.ports.now().toISOString()
    const page = { after: undefined, limit: 100 }
    const found = await listDevicesOfTenant(api.ledger.db, tenant.tenantId, { status: 'active' }, page, now)
    return found.items.map(({ license }) => license.licenseId)
  }
  api.ledger.clock.set(within)
  await record()
  for (const license of [id, soft]) {
    expect(await recorded(license)).toStrictEqual([])
    expect(await idsWith('active')).toContain(license)
    expect(await read(`/v1/licenses/${license}`)).toMatchObject({
      license: { status: 'active', expiresAt: end, graceUntil: graceEnd },
    })
  }
  expect(await recorded(hard)).toStrictEqual([
    { type: 'LicenseExpired', data: { expiresAt: end, at: within } },
  ])
  expect(await idsWith('expired')).toContain(hard)
  expect(await devices()).toContain(id)
  expect(await devices()).not.toContain(hard)
  expect(await expiryLagMs(api.ledger.db, within)).toBe(0)
  expect(
    (await countLicensesOfKeyType(api.ledger.db, { ...place, keyTypeId: 'grace' }, within)).ended.count,
  ).toBe(0)

  api.ledger.clock.set(graceEnd)
  expect(await idsWith('active')).not.toContain(id)
  expect(await idsWith('expired')).toContain(id)
  expect(await idsWith('fallback')).toContain(soft)
  expect(await devices()).not.toContain(id)
  await record()
  await record()
  const data = { expiresAt: end, graceUntil: graceEnd, at: graceEnd }
  expect(await recorded(id)).toStrictEqual([{ type: 'LicenseExpired', data }])
  expect(await recorded(soft)).toStrictEqual([{ type: 'LicenseFellBack', data }])
  expect(await idsWith('expired')).toContain(id)
  expect(await idsWith('fallback')).toContain(soft)
})

test('a renewal within it continues the license', async () => {
  const { id, license_key } = await seated('grace')
  api.ledger.clock.set(within)
  const expiresAt = '2026-04-02T12:00:00.000Z'
  await commandLicense(api.ledger, id, { type: 'RenewLicense', expiresAt, at: within })
  api.ledger.clock.set(graceEnd)
  await record()
  expect(await recorded(id)).toMatchObject([{ type: 'LicenseRenewed' }])
  const valid = await call('validate', { license_key, device_id: id })
  expect(valid).toMatchObject({ valid: true, expires_at: seconds(expiresAt) })
  expect(valid).not.toHaveProperty('grace')
})

test('a suspended or revoked license has no grace', async () => {
  const { id, license_key } = await seated('grace')
  api.ledger.clock.set(within)
  await api.ask('POST', `/v1/licenses/${id}/suspend`, { token: tenant.token, body: {} })
  const suspended = await call('validate', { license_key, device_id: id })
  expect(suspended).toMatchObject({ valid: false, reason: 'suspended' })
  expect(suspended).not.toHaveProperty('grace')
  await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at: within })
  expect(await call('validate', { license_key, device_id: id })).not.toHaveProperty('grace')
})

test('a license that had ended in another system is imported without one, and another one with it', async () => {
  api.ledger.clock.set(within)
  const { results } = await importRows(api.ask, tenant.token, 'editor', [
    { licenseKey: 'IMPORTED-GRACE-1', createdAt: '2026-03-01T00:00:00.000Z', status: 'expired' },
    { licenseKey: 'IMPORTED-GRACE-2', createdAt: '2026-03-03T00:00:00.000Z' },
  ])
  const [ended, running] = await Promise.all(results.map(({ id }) => read(`/v1/licenses/${id}`)))
  expect(ended).toMatchObject({ license: { status: 'expired' } })
  expect(running).toMatchObject({ license: { status: 'active', graceUntil: '2026-03-11T00:00:00.000Z' } })
})

test('what has no grace answers without a word of it', async () => {
  const { id, license_key } = await seated('none')
  expect(JSON.stringify(await call('validate', { license_key, device_id: id }))).not.toContain('grace')
  expect(JSON.stringify(await read(`/v1/licenses/${id}`))).not.toContain('grace')
  const { keyTypes } = z
    .object({ keyTypes: z.array(z.looseObject({ keyTypeId: z.string() })) })
    .parse(await read('/v1/products/editor/key-types'))
  expect(keyTypes.map((keyType) => keyType.graceSeconds)).toStrictEqual([7 * day, 7 * day, undefined])
})
