/**
 * Guarantee: an app decides from what was signed whether its license covers its build, also offline. The server's unsigned answer
 * takes no good lease away and grants nothing; it explains.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type ClientOptions, createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { builtAtFrom, notCoveredIn } from '../../src/sdk/javascript/app/updates.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf, impatientClock, noNetwork } from './asking.ts'

let api: TestApi
let tenant: TestTenant
let sdkKey: string
let keys: Record<string, string>
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const offlineFiles = { maxDays: 300, perSeatPerYear: 4 }
  const updates = { count: 1, unit: 'year' }
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [{ name: 'Pro', deviceLimit: 5, entitlements: ['export'], updates, offlineFiles }],
  })
  const answer = await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)
  keys = z.object({ keys: z.record(z.string(), z.string()) }).parse(answer.body).keys
})
afterAll(() => api.close())

const now = () => api.ledger.clock.now().getTime()
const seconds = () => Math.floor(now() / 1000)
const year = 366 * 86_400
const open = (builtAt: number, more: Partial<Pick<ClientOptions, 'fetch' | 'storage' | 'appChannel'>> = {}) =>
  createClient({
    baseUrl: 'https://licenses.example.com',
    tenantId: tenant.tenantId,
    productId: 'editor',
    sdkKey,
    keys,
    storage: memoryStorage(),
    clock: impatientClock(now),
    fetch: fetchOf(api.ask),
    appBuiltAt: builtAt,
    ...more,
  })
async function listReleases(builtAt: number): Promise<void> {
  const release = (version: string, at: number, channel: string) => ({
    ...{ version, channel, url: `https://acme.example/${version}` },
    builtAt: new Date(at * 1000).toISOString(),
  })
  const releases = [release('2.0', builtAt, 'stable'), release('2.1', builtAt + 10, 'beta')]
  const { status } = await api.ask('PUT', '/v1/products/editor/releases', {
    token: tenant.token,
    body: { releases },
  })
  expect(status).toBe(200)
}

test('a build after the updates is not covered, also offline; the older build goes on with the same storage', async () => {
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const storage = memoryStorage()
  const today = seconds()
  await listReleases(today)
  const old = open(today, { storage })
  expect(await old.activate(licenseKey)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  const updated = open(today + year, { storage, fetch: noNetwork, appChannel: 'stable' })
  await updated.start()
  updated.stop()
  expect(updated.state()).toMatchObject({ status: 'not_covered', freeTier: false })
  expect(updated.state()).not.toHaveProperty('newestRelease')
  expect(updated.has('export')).toBe(false)
  const newestRelease = { version: '2.0', builtAt: today, url: 'https://acme.example/2.0' }
  const online = open(today + year, { storage, appChannel: 'stable' })
  expect(await online.validate()).toMatchObject({
    ok: false,
    problem: { code: 'build_not_covered', notCovered: { newestRelease } },
    state: { status: 'not_covered', newestRelease },
  })
  await old.start()
  old.stop()
  expect(old.state()).toMatchObject({ status: 'licensed' })
  expect(old.has('export')).toBe(true)
})

test('an activation that is refused says which release is covered', async () => {
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
  await listReleases(seconds())
  expect(await open(seconds() + year).activate(licenseKey)).toMatchObject({
    ok: false,
    problem: { code: 'build_not_covered', notCovered: { newestRelease: { version: '2.1' } } },
    state: { status: 'unlicensed' },
  })
})

test('an answer that anyone could have made takes no good lease away, and explains one that has ended', async () => {
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const storage = memoryStorage()
  const builtAt = seconds()
  expect(await open(builtAt, { storage }).activate(licenseKey)).toMatchObject({ ok: true })
  let asked = 0
  const forged = open(builtAt, {
    storage,
    async fetch() {
      asked++
      const body = { valid: false, error: 'no', reason: 'build_not_covered', updates_until: builtAt - 1 }
      return { status: 200, headers: new Headers(), text: async () => JSON.stringify(body) }
    },
  })
  const problem = { code: 'build_not_covered' }
  expect(await forged.validate()).toMatchObject({
    problem,
    state: { status: 'offline', license: 'licensed' },
  })
  expect(asked).toBe(1)
  api.ledger.clock.advance(8 * 86_400_000)
  expect(await forged.validate()).toMatchObject({
    state: { status: 'not_covered', updatesUntil: builtAt - 1 },
  })
  expect(await open(builtAt, { storage }).validate()).toMatchObject({
    ok: true,
    state: { status: 'licensed' },
  })
})

test('a license file covers the same builds', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const storage = memoryStorage()
  const old = open(seconds(), { storage })
  const { text } = await old.createOfflineRequest(licenseKey)
  const { body } = await api.ask('POST', `/v1/licenses/${id}/files`, {
    token: tenant.token,
    body: { request: text },
  })
  const { file } = z.object({ file: z.string() }).parse(body)
  expect(await old.importLicense(file)).toMatchObject({ state: { status: 'licensed', by: 'file' } })
  const updated = open(seconds() + year, { storage, fetch: noNetwork })
  await updated.start()
  updated.stop()
  expect(updated.state()).toMatchObject({ status: 'not_covered' })
})

test.each<[given: number | string | undefined, builtAt: number | undefined]>([
  [1_795_253_400, 1_795_253_400],
  [1_795_253_400.9, 1_795_253_400],
  ['2026-11-21T09:30:00Z', 1_795_253_400],
  ['2026-11-21T10:30:00+01:00', 1_795_253_400],
  ['2026-11-21', 1_795_219_200],
  ['yesterday', undefined],
  ['', undefined],
  [-1, undefined],
  [Number.NaN, undefined],
  [undefined, undefined],
])('a build at %s was built at %s', (given, builtAt) => {
  expect(builtAtFrom(given)).toBe(builtAt)
})

test('of a release, only an address that begins with https:// is handed on', () => {
  const answer = (url: unknown) => ({
    ...{ reason: 'build_not_covered', updates_until: 5 },
    newest_covered_release: { version: '1', built_at: 4, url },
  })
  const of = (url: string | null) => ({ updatesUntil: 5, newestRelease: { version: '1', builtAt: 4, url } })
  expect(notCoveredIn(answer('https://acme.example'))).toStrictEqual(of('https://acme.example'))
  for (const url of ['javascript:alert(1)', 'http://acme.example', null, 7]) {
    expect(notCoveredIn(answer(url))).toStrictEqual(of(null))
  }
  expect(notCoveredIn({ ...answer(null), newest_covered_release: null })).toStrictEqual({ updatesUntil: 5 })
  expect(notCoveredIn({ ...answer(null), reason: 'revoked' })).toBeUndefined()
})
