/**
 * Guarantee: every refused activate and validate of both interfaces is listed with its license, device, reason and
 * versions; a call with an unknown key is counted with the masked key, and no key is in the tables.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { newLicenseKey } from '../../../src/credentials/license-key.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { beginning } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const keyTypes = [
    { name: 'One', keyTypeId: 'one', deviceLimit: 1 },
    { name: 'Day', keyTypeId: 'day', duration: { count: 1, unit: 'day' } },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
  const place = { tenantId: tenant.tenantId, productId: 'editor' }
  app = appOf(api.ask, place, await sdkKeyOf(api.ledger, tenant.tenantId))
})
afterAll(() => api.close())

const Page = z.object({
  items: z.array(z.record(z.string(), z.unknown())),
  nextCursor: z.string().nullable(),
})
const list = async (path: string) => Page.parse((await api.ask('GET', path, { token: tenant.token })).body)
const ofLicense = async (id: string) => (await list(`/v1/licenses/${id}/refusals`)).items
const runtime = async (call: 'activate' | 'validate', licenseKey: string, device?: string) => {
  const body = { product_id: 'editor', license_key: licenseKey, ...(device && { device_id: device }) }
  return (await api.ask('POST', `/v1/licenses/${call}`, { token: tenant.token, body })).body
}
const nothing = { appVersion: null, sdkVersion: null, platform: null }
const displayed = z.object({ license: z.looseObject({ displayKey: z.string() }) })
const displayKeyOf = async (id: string) =>
  displayed.parse((await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })).body).license
    .displayKey

test('a license lists its refusals of both interfaces, newest first', async () => {
  const { clock } = api.ledger
  clock.set(beginning)
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'one' })
  await runtime('activate', licenseKey, 'laptop')
  expect(await ofLicense(id)).toStrictEqual([])
  expect(await runtime('activate', licenseKey, 'desktop')).toMatchObject({ reason: 'seat_limit_reached' })
  expect(await runtime('validate', licenseKey, 'desktop')).toMatchObject({ reason: 'inactive' })
  clock.set('2026-03-01T12:10:00.000Z')
  const said = { instance_name: 'Phone', app_version: '2.1', sdk_version: '0.9', platform: 'ios' }
  for (const _ of [1, 2]) {
    const { status } = await app.post('activate', { license_key: licenseKey, ...said })
    expect(status).toBe(422)
  }
  clock.set('2026-03-01T12:20:00.000Z')
  await app.post('validate', { license_key: licenseKey, instance_id: 'ins_unknown', app_version: '2.2' })
  const common = { licenseId: id, displayKey: await displayKeyOf(id), productId: 'editor' }
  const at = (time: string) => ({ firstSeenAt: time, lastSeenAt: time })
  expect(await ofLicense(id)).toStrictEqual([
    {
      ...common,
      device: { id: 'ins_unknown', name: null },
      call: 'validate',
      reason: 'inactive',
      interface: 'client',
      ...nothing,
      appVersion: '2.2',
      count: 1,
      ...at('2026-03-01T12:20:00.000Z'),
    },
    {
      ...common,
      device: { id: 'Phone', name: 'Phone' },
      call: 'activate',
      reason: 'seat_limit_reached',
      interface: 'client',
      appVersion: '2.1',
      sdkVersion: '0.9',
      platform: 'ios',
      count: 2,
      ...at('2026-03-01T12:10:00.000Z'),
    },
    {
      ...common,
      device: { id: 'desktop', name: null },
      call: 'validate',
      reason: 'inactive',
      interface: 'runtime',
      ...nothing,
      count: 1,
      ...at(beginning),
    },
    {
      ...common,
      device: { id: 'desktop', name: null },
      call: 'activate',
      reason: 'seat_limit_reached',
      interface: 'runtime',
      ...nothing,
      count: 1,
      ...at(beginning),
    },
  ])
})

test('refusals of reminted, expired and revoked licenses are listed with their reason', async () => {
  const { clock } = api.ledger
  clock.set(beginning)
  const { ask } = api
  const { token } = tenant
  const reminted = await mint(ask, token, 'editor')
  await ask('POST', `/v1/licenses/${reminted.id}/remint`, { token, body: { keepDevices: false } })
  const ended = await mint(ask, token, 'editor', { keyTypeId: 'day' })
  const revoked = await mint(ask, token, 'editor')
  await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${revoked.id}/revoke`)
  clock.set('2026-03-03T12:00:00.000Z')
  for (const { licenseKey } of [reminted, ended, revoked]) {
    await runtime('validate', licenseKey)
    await app.post('activate', { license_key: licenseKey, instance_name: 'Phone' })
  }
  for (const [{ id }, reason] of [
    [reminted, 'reminted'],
    [ended, 'expired'],
    [revoked, 'revoked'],
  ] as const) {
    const items = await ofLicense(id)
    expect(items).toHaveLength(2)
    expect(items).toMatchObject([
      { call: 'validate', reason, device: null },
      { call: 'activate', reason, device: { name: 'Phone' } },
    ])
  }
  const { items } = await list('/v1/refusals?product=editor&call=activate&reason=expired')
  expect(items).toMatchObject([{ licenseId: ended.id, reason: 'expired' }])
})

test('an unknown key is counted with its masked form, and the key itself is not stored', async () => {
  api.ledger.clock.set('2026-03-05T12:00:00.000Z')
  const { licenseKey, displayKey } = newLicenseKey('ACME', api.ledger.ports.randomBytes)
  const mistyped = `${licenseKey.slice(0, -1)}${licenseKey.endsWith('7') ? '8' : '7'}`
  for (const key of [licenseKey, mistyped]) {
    expect(await runtime('validate', key)).toMatchObject({ valid: false, reason: 'not_found' })
    expect(await runtime('activate', key, 'laptop')).toMatchObject({ activated: false, reason: 'not_found' })
    expect((await app.post('validate', { license_key: key, instance_id: 'x' })).status).toBe(404)
    expect((await app.post('activate', { license_key: key, instance_name: 'x' })).status).toBe(404)
  }
  const day = '2026-03-05T00:00:00.000Z'
  const at = '2026-03-05T12:00:00.000Z'
  expect((await list('/v1/refusals/unknown-keys?product=editor')).items).toStrictEqual([
    { day, productId: 'editor', displayKey, count: 8, firstSeenAt: at, lastSeenAt: at },
  ])
  const { items: days } = await list('/v1/refusals/days?limit=2')
  const ofDay = { day, productId: 'editor', reason: 'not_found', count: 4 }
  expect(days).toStrictEqual([
    { ...ofDay, call: 'validate' },
    { ...ofDay, call: 'activate' },
  ])
  const { rows } = await api.ledger.db.query<{ all: string }>(
    'select string_agg(k::text, $1) as all from usage.unknown_keys k',
    [' '],
  )
  expect(rows[0]?.all).not.toContain(licenseKey.slice(5, 16))
})

test('paging returns the same items as one page, in either order', async () => {
  const whole = (await list('/v1/refusals')).items
  const parts: unknown[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: z.infer<typeof Page> = await list(`/v1/refusals?limit=1${cursor ? `&cursor=${cursor}` : ''}`)
    parts.push(...page.items)
    cursor = page.nextCursor
  }
  expect(whole.length).toBeGreaterThan(5)
  expect(parts).toStrictEqual(whole)
  for (const path of ['/v1/refusals', '/v1/refusals/days', '/v1/refusals/unknown-keys']) {
    const newest = (await list(path)).items
    expect((await list(`${path}?order=oldest`)).items).toStrictEqual(newest.toReversed())
  }
})
