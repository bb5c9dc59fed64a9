/**
 * Guarantee: installations without a license report anonymously, are counted once regardless of repeats, and
 * get the settings; an installation that activates a license is no longer counted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countUnlicensed } from '../../../projections/trials.ts'
import { closeTenant, suspendTenant } from '../../../src/commands/tenants.ts'
import { makeTenant, openTestApi, type TestApi } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenantId: string
let token: string
let sdkKey: string
let app: App
beforeAll(async () => {
  api = await openTestApi()
  ;({ tenantId, token } = await makeTenant(api.ledger))
  sdkKey = await sdkKeyOf(api.ledger, tenantId)
  await makeProduct(api.ask, token, 'editor')
  app = appOf(api.ask, { tenantId, productId: 'editor' }, sdkKey)
  await trialDays(14)
})
afterAll(() => api.close())

const trialDays = async (trialDurationDays: number | null, productId = 'editor') => {
  const { status } = await api.ask('PATCH', `/v1/products/${productId}`, {
    token,
    body: { trialDurationDays },
  })
  expect(status).toBe(200)
}
const installsOf = async (tenant = tenantId, productId = 'editor') => {
  await api.ledger.ports.installs.flush()
  const { rows } = await api.ledger.db.query<Record<string, unknown>>(
    `select instance_id, state, machine is not null as "onMachine", app_version, sdk_version, platform, sdk,
       first_seen_at, last_seen_at, converted_at
     from usage.installs where tenant_id = $1 and product_id = $2 order by first_seen_at, instance_id`,
    [tenant, productId],
  )
  return rows
}

describe('a free-tier beacon', () => {
  test('is accepted; repeated beacons count one installation', async () => {
    await makeProduct(api.ask, token, 'counted')
    const counted = appOf(api.ask, { tenantId, productId: 'counted' }, sdkKey)
    const body = { instance_id: 'anonymous', app_version: '1.0', sdk_version: '0.4.0', platform: 'macos' }
    const first = api.ledger.clock.now().toISOString()
    for (let beacons = 0; beacons < 3; beacons++) {
      const { status, body: answered } = await counted.post('free-tier', body)
      expect({ status, answered }).toStrictEqual({ status: 200, answered: { received: true } })
    }
    await installsOf(tenantId, 'counted')
    api.ledger.clock.advance(1000)
    await counted.post('free-tier', { instance_id: 'anonymous', app_version: '1.1' })
    expect(await installsOf(tenantId, 'counted')).toStrictEqual([
      {
        instance_id: 'anonymous',
        state: 'free_tier',
        onMachine: false,
        app_version: '1.1',
        sdk_version: '0.4.0',
        platform: 'macos',
        sdk: 'swift',
        first_seen_at: first,
        last_seen_at: api.ledger.clock.now().toISOString(),
        converted_at: null,
      },
    ])
  })

  test.each(['free-tier', 'keyless'] as const)(
    'to %s accepts an instance_id of up to 128 characters',
    async (call) => {
      expect((await app.post(call, { instance_id: 'i'.repeat(128) })).status).toBe(200)
      for (const instance_id of ['i'.repeat(129), '', 'nul\0', 7, undefined]) {
        const { status, body } = await app.post(call, { instance_id })
        expect({ status, body }).toStrictEqual({
          status: 400,
          body: { error: expect.stringContaining('instance_id') as string },
        })
      }
    },
  )

  test.each(['free-tier', 'keyless'] as const)(
    'to %s returns 400 when the body is not a JSON object',
    async (call) => {
      for (const raw of ['', '{', '[]', '"text"', 'null']) {
        const headers = { 'x-service-sdk-key': sdkKey }
        const { status } = await api.ask('POST', `/${tenantId}/editor/${call}`, { headers, raw })
        expect(status).toBe(400)
      }
    },
  )
})

describe('a keyless beacon', () => {
  test('returns the settings, byte for byte as config does', async () => {
    const withoutTrial = async (answer: Promise<{ text: string }>) =>
      (await answer).text.replace('"received":true,', '')
    const asked = app.post('keyless', { instance_id: 'i' })
    expect(await withoutTrial(asked)).toBe((await app.config()).text)
    expect((await asked).body).toMatchObject({
      trial_duration_days: 14,
      signature: expect.any(String) as string,
    })
    await trialDays(null)
    expect((await app.post('keyless', { instance_id: 'i' })).body).toStrictEqual({
      received: true,
      free_tier_enabled: false,
    })
    await trialDays(0)
    expect((await app.post('keyless', { instance_id: 'i' })).body).toMatchObject({ trial_duration_days: 0 })
  })

  test.each([undefined, 'trial', 'free_tier', 'expired'])('with the state %s is accepted', async (state) => {
    const instance_id = `state ${state}`
    expect((await app.post('keyless', { instance_id, state })).status).toBe(200)
    const [row] = (await installsOf()).filter((install) => install.instance_id === instance_id)
    expect(row).toMatchObject({ state: state ?? 'free_tier' })
  })

  test('with an unknown state returns 400', async () =>
    expect((await app.post('keyless', { instance_id: 'i', state: 'paid' })).status).toBe(400))
})

describe('telemetry', () => {
  test('with invalid fields is still accepted', async () => {
    const odd = { instance_id: 'odd', app_version: 7, platform: 'x'.repeat(5000), sdk: 'cobol', more: [] }
    expect((await app.post('free-tier', odd)).status).toBe(200)
    const [row] = (await installsOf()).filter(({ instance_id }) => instance_id === 'odd')
    expect(row).toMatchObject({ app_version: null, platform: null, sdk: null })
  })
})

describe('installs without a license', () => {
  test('are counted by state, and not counted after they activate a license', async () => {
    await makeProduct(api.ask, token, 'shop')
    const shop = appOf(api.ask, { tenantId, productId: 'shop' }, sdkKey)
    const { ports, db, clock } = api.ledger
    const states = ['trial', 'trial', 'free_tier', 'expired'] as const
    for (const [index, state] of states.entries())
      await shop.post('keyless', { instance_id: `i${index}`, state })
    await ports.installs.flush()
    const count = () => countUnlicensed(db, tenantId, 'shop')
    expect(await count()).toStrictEqual({ trial: 2, free_tier: 1, expired: 1, sharedMachines: 0 })
    clock.advance(1000)
    const { licenseKey } = await mint(api.ask, token, 'shop', { deviceLimit: 2 })
    for (const free_tier_instance_id of ['i0', 'never seen']) {
      const body = { license_key: licenseKey, instance_name: free_tier_instance_id, free_tier_instance_id }
      expect((await shop.post('activate', body)).status).toBe(200)
    }
    await ports.installs.flush()
    expect(await count()).toStrictEqual({ trial: 1, free_tier: 1, expired: 1, sharedMachines: 0 })
    // Its license was deactivated.
    clock.advance(1000)
    await shop.post('free-tier', { instance_id: 'i0' })
    await ports.installs.flush()
    expect(await count()).toStrictEqual({ trial: 1, free_tier: 2, expired: 1, sharedMachines: 0 })
    expect(await installsOf(tenantId, 'shop')).toHaveLength(4)
  })
})

describe('authorization', () => {
  test('requires the SDK key, and an existing product and tenant', async () => {
    const other = await makeTenant(api.ledger)
    const otherKey = await sdkKeyOf(api.ledger, other.tenantId)
    for (const call of ['free-tier', 'keyless'] as const) {
      const body = { instance_id: 'i' }
      const at = (tenant: string, productId: string, key: string) =>
        appOf(api.ask, { tenantId: tenant, productId }, key).post(call, body)
      expect((await at(tenantId, 'editor', 'nonsense')).status).toBe(401)
      expect((await at(tenantId, 'editor', otherKey)).status).toBe(401)
      expect((await at('nobody', 'editor', sdkKey)).status).toBe(404)
      expect((await at(tenantId, 'absent', sdkKey)).status).toBe(404)
      expect((await at(other.tenantId, 'editor', otherKey)).status).toBe(404)
    }
  })

  test('beacons are accepted for a suspended tenant and get 403 for a closed one', async () => {
    const closing = await makeTenant(api.ledger)
    await makeProduct(api.ask, closing.token, 'editor')
    const its = appOf(
      api.ask,
      { ...closing, productId: 'editor' },
      await sdkKeyOf(api.ledger, closing.tenantId),
    )
    await suspendTenant(api.ledger.ports, closing.tenantId, null, origin)
    expect((await its.post('keyless', { instance_id: 'i' })).status).toBe(200)
    expect((await its.post('free-tier', { instance_id: 'i' })).status).toBe(200)
    await closeTenant(api.ledger.ports, closing.tenantId, null, origin)
    for (const call of ['free-tier', 'keyless'] as const) {
      const { status, body } = await its.post(call, { instance_id: 'i' })
      expect({ status, body }).toStrictEqual({ status: 403, body: { error: 'the tenant is closed' } })
    }
  })
})
