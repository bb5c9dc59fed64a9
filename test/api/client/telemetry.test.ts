/**
 * Guarantee: telemetry is stored per device, adds no write to a call, and never makes a license call fail; client
 * calls are counted together with those of servers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { sdkOf } from '../../../src/domain/telemetry.ts'
import { hasChanged } from '../../../src/usage/device-telemetry.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  app = appOf(api.ask, { tenantId: tenant.tenantId, productId: 'editor' }, sdkKey)
})
afterAll(() => api.close())

const Detail = z.object({
  license: z.object({ devices: z.array(z.looseObject({ telemetry: z.unknown() })) }),
})

async function telemetryOf(licenseId: string): Promise<unknown> {
  await api.ledger.ports.telemetry.flush()
  const { body } = await api.ask('GET', `/v1/licenses/${licenseId}`, { token: tenant.token })
  return Detail.parse(body).license.devices[0]?.telemetry
}

test.each([
  [undefined, 'macos', 'swift'],
  [undefined, 'iOS', 'swift'],
  [undefined, 'windows', 'csharp'],
  [undefined, 'linux', 'rust'],
  [undefined, 'web', 'js'],
  [undefined, 'workers', 'js'],
  [undefined, 'constructor', null],
  [undefined, undefined, null],
  ['cpp', 'macos', 'cpp'],
] as const)('sdk %s on platform %s is recorded as %s', (sdk, platform, expected) =>
  expect(sdkOf(sdk, platform)).toBe(expected),
)

test('a device shows its latest telemetry', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const said = { app_version: '1.0.0', sdk_version: '0.12.1', platform: 'macos' }
  const activated = await app.post('activate', { license_key: licenseKey, instance_name: 'Mac', ...said })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  const shown = { appVersion: '1.0.0', sdkVersion: '0.12.1', platform: 'macos', sdk: 'swift' }
  expect(await telemetryOf(id)).toStrictEqual({ ...shown, seenAt: beginning })
  api.ledger.clock.advance(60_000)
  const held = { license_key: licenseKey, instance_id }
  await app.post('validate', { ...held, ...said })
  await app.post('validate', held)
  expect(await telemetryOf(id)).toStrictEqual({ ...shown, seenAt: beginning })
  await app.post('validate', { ...held, ...said, app_version: '1.0.1' })
  expect(await telemetryOf(id)).toMatchObject({ appVersion: '1.0.1', seenAt: '2026-03-01T12:01:00.000Z' })
})

test('invalid values and unknown fields are ignored', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const odd = { app_version: 7, sdk_version: 'x'.repeat(1000), platform: null, sdk: 'cobol', mood: 'good' }
  const asked = { license_key: licenseKey, instance_name: 'Odd', ...odd }
  expect((await app.post('activate', asked)).status).toBe(200)
  expect(await telemetryOf(id)).toBeNull()
})

test('telemetry is written only when it changed or a day has passed', () => {
  const said = { appVersion: '1', sdkVersion: null, platform: 'web', sdk: 'js' }
  const known = { ...said, seenAt: '2026-03-01T12:00:00.000Z' }
  const at = (moment: string) => new Date(moment)
  expect(hasChanged(said, undefined, at(beginning))).toBe(true)
  expect(hasChanged(said, known, at('2026-03-02T11:59:59.999Z'))).toBe(false)
  expect(hasChanged(said, known, at('2026-03-02T12:00:00.000Z'))).toBe(true)
  expect(hasChanged({ ...said, appVersion: '2' }, known, at(beginning))).toBe(true)
  const nothing = { appVersion: null, sdkVersion: null, platform: null, sdk: null }
  expect(hasChanged(nothing, undefined, at(beginning))).toBe(false)
})

test('client calls are counted as usage', async () => {
  const own = await makeTenant(api.ledger)
  await makeProduct(api.ask, own.token, 'editor')
  const sdkKey = await sdkKeyOf(api.ledger, own.tenantId)
  const calls = appOf(api.ask, { tenantId: own.tenantId, productId: 'editor' }, sdkKey)
  const { licenseKey } = await mint(api.ask, own.token, 'editor')
  const activated = await calls.post('activate', { license_key: licenseKey, instance_name: 'Mac' })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  const held = { license_key: licenseKey, instance_id }
  await calls.post('validate', held)
  await calls.post('validate', { ...held, instance_id: 'ins_absent' })
  await calls.post('deactivate', held)
  await api.ledger.ports.usage.flush()
  const { body } = await api.ask('GET', '/v1/usage', { token: own.token })
  expect(body).toMatchObject({ totals: { activations: 1, validations: 1, rejected: 1, deactivations: 1 } })
})
