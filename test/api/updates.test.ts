/**
 * Guarantee: a license is valid for ever in every build of its period of updates, and in no later one; both interfaces say so
 * alike, and name the newest release that it covers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { coversBuild, licenseKeyHash, verifyLease2 } from '../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { type App, appOf, sdkKeyOf } from '../http/apps.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 5, updates: { count: 1, unit: 'year' } },
      { name: 'Plain', keyTypeId: 'plain', deviceLimit: 5 },
      {
        name: 'Sub',
        keyTypeId: 'sub',
        deviceLimit: 5,
        duration: { count: 1, unit: 'month' },
        updates: { count: 1, unit: 'day' },
      },
    ],
  })
  app = appOf(
    api.ask,
    { tenantId: tenant.tenantId, productId: 'editor' },
    await sdkKeyOf(api.ledger, tenant.tenantId),
  )
})
afterAll(() => api.close())

/** A year after the ledger begins. */
const until = '2027-03-01T12:00:00.000Z'
const untilSeconds = Date.parse(until) / 1000
const after = '2027-03-01T12:00:00.001Z'

const manage = (method: 'GET' | 'PATCH' | 'PUT', path: string, body?: object) =>
  api.ask(method, `/v1/${path}`, { token: tenant.token, ...(body && { body }) })
const ask = async (what: 'activate' | 'validate', body: object) =>
  (await api.ask('POST', `/v1/licenses/${what}`, { token: runtime, body: { product_id: 'editor', ...body } }))
    .body
const releasesOf = (releases: object[]) => manage('PUT', 'products/editor/releases', { releases })

const releases = [
  { version: '3.0', builtAt: '2027-06-01T00:00:00.000Z', channel: 'stable', url: null },
  { version: '2.0', builtAt: until, channel: 'stable', url: 'https://acme.example/2.0' },
  { version: '2.1-beta', builtAt: '2027-02-27T00:00:00.000Z', channel: 'beta', url: null },
  { version: '1.0', builtAt: '2026-01-01T00:00:00.000Z', channel: 'stable', url: null },
]
const newest = { version: '2.0', built_at: untilSeconds, url: 'https://acme.example/2.0' }

describe('on the token interface', () => {
  test('a build is valid until the very end of the updates, in every way to say when it was built', async () => {
    const { licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor')
    await ask('activate', { license_key, device_id: 'pc' })
    const valid = { valid: true, status: 'active', updates_until: untilSeconds }
    for (const app_built_at of [until, untilSeconds, '2027-03-01', '2027-03-01T13:00:00+01:00', undefined]) {
      const answer = await ask('validate', { license_key, device_id: 'pc', app_built_at })
      expect(answer).toMatchObject(valid)
      expect(answer).not.toHaveProperty('reason')
    }
    for (const app_built_at of ['soon', {}, null, true, -1, 1e20, '2027-03-02T12:00:00', ['2028-01-01']]) {
      expect(await ask('validate', { license_key, device_id: 'pc', app_built_at })).toMatchObject(valid)
    }
    for (const app_built_at of [after, untilSeconds + 1, '2027-03-02', '2027-03-01T12:00:01Z']) {
      expect(await ask('validate', { license_key, device_id: 'pc', app_built_at })).toStrictEqual({
        valid: false,
        status: 'inactive',
        expires_at: null,
        entitlements: [],
        device_id: 'pc',
        revalidate_after: expect.any(Number) as unknown,
        reason: 'build_not_covered',
        updates_until: untilSeconds,
      })
    }
  })

  test('a refused build is told the newest release that is covered, of its channel if it names one', async () => {
    expect((await releasesOf(releases)).status).toBe(200)
    const { licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor')
    const of = (more: object) =>
      ask('activate', { license_key, device_id: 'pc', app_built_at: after, ...more })
    expect(await of({ app_version: '3.0' })).toStrictEqual({
      activated: false,
      status: 'inactive',
      expires_at: null,
      entitlements: [],
      device_id: 'pc',
      revalidate_after: expect.any(Number) as unknown,
      reason: 'build_not_covered',
      updates_until: untilSeconds,
      newest_covered_release: newest,
    })
    expect(await of({ app_channel: 'beta' })).toMatchObject({
      newest_covered_release: { version: '2.1-beta' },
    })
    expect(await of({ app_channel: 'nightly' })).not.toHaveProperty('newest_covered_release')
    expect(await ask('activate', { license_key, device_id: 'pc', app_built_at: until })).toMatchObject({
      activated: true,
      updates_until: untilSeconds,
    })
    await releasesOf([])
  })

  test('a license without updates answers as it always did, whatever the build', async () => {
    const { licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'plain' })
    await ask('activate', { license_key, device_id: 'pc' })
    const answer = await ask('validate', {
      license_key,
      device_id: 'pc',
      app_built_at: '9000-01-01T00:00:00Z',
    })
    expect(answer).toMatchObject({ valid: true })
    expect(answer).not.toHaveProperty('updates_until')
  })

  test('a revocation, a suspension, an expiry and a missing seat are said before the build', async () => {
    const { id, licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', {
      expiresAt: '2026-03-20T00:00:00.000Z',
    })
    const validate = (device_id = 'pc') => ask('validate', { license_key, device_id, app_built_at: after })
    await ask('activate', { license_key, device_id: 'pc' })
    expect(await validate('other')).toMatchObject({ reason: 'inactive' })
    expect(await validate()).toMatchObject({ reason: 'build_not_covered' })
    await api.ask('POST', `/v1/licenses/${id}/suspend`, { token: tenant.token, body: {} })
    expect(await validate()).toMatchObject({ status: 'inactive', reason: 'suspended' })
    await api.ask('POST', `/v1/licenses/${id}/resume`, { token: tenant.token, body: {} })
    api.ledger.clock.set('2026-03-21T00:00:00.000Z')
    expect(await validate()).toMatchObject({ status: 'expired', reason: 'expired' })
    expect(await ask('activate', { license_key, device_id: 'pc', app_built_at: after })).toMatchObject({
      reason: 'expired',
    })
  })
})

const Leased = z.looseObject({ instance_id: z.string(), lease2: z.string() })

describe('on the client interface', () => {
  test('a build is valid until the very end of the updates, which its lease says', async () => {
    const { licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', { updatesUntil: until })
    const activated = await app.post('activate', {
      license_key,
      instance_name: 'PC',
      app_built_at: until,
      lease_version: 2,
    })
    expect(activated).toMatchObject({ status: 200, body: { updates_until: untilSeconds } })
    const { instance_id, lease2 } = Leased.parse(activated.body)
    const keyset = (await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)).body
    const { tenantId } = tenant
    const holder = {
      tenantId,
      productId: 'editor',
      licenseKeyHash: licenseKeyHash(license_key),
      instanceId: instance_id,
    }
    const now = api.ledger.clock.now().getTime() / 1000
    const verified = verifyLease2(lease2, holder, keyset as { keys: Record<string, string> }, now)
    if (!verified.ok) throw new Error(verified.reason)
    expect(verified.lease.updatesUntil).toBe(untilSeconds)
    expect([untilSeconds, untilSeconds + 1].map((built) => coversBuild(verified.lease, built))).toStrictEqual(
      [true, false],
    )
    const validate = (app_built_at: unknown) =>
      app.post('validate', { license_key, instance_id, app_built_at })
    expect(await validate(until)).toMatchObject({
      status: 200,
      body: { valid: true, updates_until: untilSeconds },
    })
    expect(await validate('soon')).toMatchObject({ status: 200, body: { valid: true } })
    await releasesOf(releases)
    const { status, body } = await validate(after)
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        valid: false,
        error: expect.stringContaining('build') as unknown,
        status: 'inactive',
        reason: 'build_not_covered',
        license_expires_at: null,
        updates_until: untilSeconds,
        newest_covered_release: newest,
        free_tier_enabled: false,
      },
    })
  })

  test('an activation of a build that is not covered is refused, and takes no seat', async () => {
    await releasesOf(releases)
    const { id, licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', {
      updatesUntil: until,
    })
    const refused = await app.post('activate', { license_key, instance_name: 'PC', app_built_at: after })
    expect(refused).toMatchObject({
      status: 422,
      body: { reason: 'build_not_covered', updates_until: untilSeconds, newest_covered_release: newest },
    })
    expect(refused.headers['error-code']).toBe('build_not_covered')
    expect((await manage('GET', `licenses/${id}`)).body).toMatchObject({
      license: { seatsUsed: 0, updatesUntil: until },
    })
  })

  test('a license without updates answers without a word of them', async () => {
    const { licenseKey: license_key } = await mint(api.ask, tenant.token, 'editor', { updatesUntil: null })
    const { body } = await app.post('activate', { license_key, instance_name: 'PC', app_built_at: after })
    expect(Object.keys(body as object)).toStrictEqual([
      'activated',
      'instance_id',
      'license_expires_at',
      'lease',
    ])
  })
})

describe('the list of releases', () => {
  const get = async () => (await manage('GET', 'products/editor/releases')).body
  test('is replaced as a whole, and read newest first', async () => {
    expect((await releasesOf(releases.toReversed())).body).toStrictEqual({ releases })
    expect(await get()).toStrictEqual({ releases })
    const short = [{ version: '4', builtAt: '2027-01-01T01:00:00+01:00' }]
    const one = { version: '4', builtAt: '2027-01-01T00:00:00.000Z', channel: 'stable', url: null }
    expect((await releasesOf(short)).body).toStrictEqual({ releases: [one] })
    expect(await get()).toStrictEqual({ releases: [one] })
  })

  test('is recorded only when it differs', async () => {
    await releasesOf(releases)
    const product = async () => (await manage('GET', 'products/editor')).body
    const before = await product()
    api.ledger.clock.advance(1000)
    await releasesOf(releases.toReversed())
    expect(await product()).toStrictEqual(before)
  })

  test('takes no address but https, no version twice, and no more than a thousand', async () => {
    const one = { version: '1', builtAt: until }
    for (const wrong of [
      [{ ...one, url: 'http://acme.example/1' }],
      [{ ...one, url: 'javascript:alert(1)' }],
      [one, { ...one, builtAt: after }],
      [{ ...one, builtAt: 'yesterday' }],
      [{ ...one, version: '' }],
      [{ ...one, more: 1 }],
      Array.from({ length: 1001 }, (_, version) => ({ ...one, version: String(version) })),
    ]) {
      expect((await releasesOf(wrong)).status).toBe(400)
    }
    const most = Array.from({ length: 1000 }, (_, version) => ({ ...one, version: String(version) }))
    expect((await releasesOf(most)).status).toBe(200)
    await releasesOf([])
  })

  test('changes nothing in a dry run, and is nobody else’s', async () => {
    const dry = await api.ask('PUT', '/v1/products/editor/releases?dryRun=true', {
      token: tenant.token,
      body: { releases },
    })
    expect(dry.status).toBe(200)
    expect(await get()).toStrictEqual({ releases: [] })
    const other = await makeTenant(api.ledger)
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? { body: { releases } } : {}
      const path = '/v1/products/editor/releases'
      expect((await api.ask(method, path, { token: other.token, ...body })).status).toBe(404)
    }
  })
})

describe('the vendor', () => {
  const updatesOf = async (id: string) => {
    const { body } = await manage('GET', `licenses/${id}`)
    return z.object({ license: z.object({ updatesUntil: z.string().optional() }) }).parse(body).license
      .updatesUntil
  }

  test('sets the end of the updates when it mints or changes a license', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor', { updatesUntil: '2030-01-01T00:00:00.900Z' })
    expect(await updatesOf(id)).toBe('2030-01-01T00:00:00.000Z')
    const patch = async (body: object) => (await manage('PATCH', `licenses/${id}`, body)).body
    expect(await patch({ updatesUntil: '2025-01-01T00:00:00Z' })).toMatchObject({
      license: { updatesUntil: '2025-01-01T00:00:00.000Z' },
    })
    await patch({ metadata: { a: 'b' }, deviceLimit: 7 })
    expect(await updatesOf(id)).toBe('2025-01-01T00:00:00.000Z')
    await patch({ updatesUntil: null })
    expect(await updatesOf(id)).toBeUndefined()
  })

  test('keeps the end with another key type, which begins a period only where there was none', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'plain' })
    await manage('PATCH', `licenses/${id}`, { keyTypeId: 'sub' })
    const begun = await updatesOf(id)
    const day = new Date(api.ledger.clock.now().getTime() + 86_400_000).toISOString()
    expect(begun?.slice(0, 16)).toBe(day.slice(0, 16))
    await manage('PATCH', `licenses/${id}`, { keyTypeId: 'pro' })
    expect(await updatesOf(id)).toBe(begun)
    await manage('PATCH', `licenses/${id}`, { keyTypeId: 'plain', updatesUntil: null })
    await manage('PATCH', `licenses/${id}`, { keyTypeId: 'pro', updatesUntil: null })
    expect(await updatesOf(id)).toBeUndefined()
  })

  test('imports licenses with their end, or with the period of their key type since their issue', async () => {
    const rows = [
      { licenseKey: 'OLD-KEY-000001', updatesUntil: '2026-05-05T00:00:00Z' },
      { licenseKey: 'OLD-KEY-000002', createdAt: '2020-02-29T00:00:00Z' },
      { licenseKey: 'OLD-KEY-000003', updatesUntil: null },
    ]
    const { results } = await importRows(api.ask, tenant.token, 'editor', rows)
    const ends = await Promise.all(results.map(({ id = '' }) => updatesOf(id)))
    expect(ends).toStrictEqual(['2026-05-05T00:00:00.000Z', '2021-02-28T00:00:00.000Z', undefined])
  })

  test('gives and takes the period of a key type', async () => {
    const keyType = async (updates: object | null) => {
      const { body } = await manage('PATCH', 'products/editor/key-types/plain', { updates })
      return z.object({ updated: z.looseObject({}) }).parse(body).updated
    }
    expect(await keyType({ count: 6, unit: 'month' })).toMatchObject({ updates: { count: 6, unit: 'month' } })
    expect(await keyType(null)).not.toHaveProperty('updates')
    expect(
      (await manage('PATCH', 'products/editor/key-types/plain', { updates: { count: 0, unit: 'day' } }))
        .status,
    ).toBe(400)
  })
})
