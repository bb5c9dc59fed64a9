/** Guarantee: in the grace of its license an app goes on, online and offline, and its state says until when. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf, impatientClock, noNetwork } from './asking.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const ends = { duration: { count: 2, unit: 'day' }, graceSeconds: 5 * 86_400 }
  const keyTypes = [
    { name: 'Ends', keyTypeId: 'ends', ...ends },
    { name: 'Falls back', keyTypeId: 'falls-back', onExpiry: 'fallback', ...ends },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
  await api.ask('PATCH', '/v1/products/editor', { token: tenant.token, body: { leaseSeconds: 86_400 * 3 } })
})
afterAll(() => api.close())

const now = () => api.ledger.clock.now().getTime()
const seconds = () => Math.floor(now() / 1000)

test.each(['ends', 'falls-back'])('of a license that %s', async (keyTypeId) => {
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId })
  const ends = seconds() + 2 * 86_400
  const options = {
    baseUrl: 'https://licenses.example.com',
    tenantId: tenant.tenantId,
    productId: 'editor',
    sdkKey: await sdkKeyOf(api.ledger, tenant.tenantId),
    storage: memoryStorage(),
    clock: impatientClock(now),
  }
  const online = createClient({ ...options, fetch: fetchOf(api.ask) })
  await online.activate(licenseKey)
  expect(online.state()).toMatchObject({ status: 'licensed', licenseExpiresAt: ends })
  expect(online.state()).not.toHaveProperty('graceUntil')
  api.ledger.clock.advance(2 * 86_400_000)
  const offline = createClient({ ...options, fetch: noNetwork })
  const lease = ends + 86_400
  expect(await offline.validate()).toMatchObject({ state: { status: 'offline', graceUntil: lease } })
  const grace = ends + 5 * 86_400
  const state = { status: 'licensed', until: lease + 2 * 86_400, graceUntil: grace }
  expect(await online.validate()).toMatchObject({ ok: true, state })
})
