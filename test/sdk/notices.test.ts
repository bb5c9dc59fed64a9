/**
 * Guarantee: an app hears of a renewal, a withdrawal and a near end once each, and of a purchase as soon as the server knows of it,
 * with at most eleven requests in half a minute.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, memoryStorage, type Notice } from '../../src/sdk/javascript/app/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf } from './asking.ts'

let api: TestApi
let tenant: TestTenant
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const keyTypes = [{ name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'] }]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
})
afterAll(() => api.close())

const day = 86_400_000
const isoIn = (ms: number) => new Date(api.ledger.clock.now().getTime() + ms).toISOString()

/** An app with a license until then. @param whenPaused what happens in each pause, by its number */
async function open(
  expiresAt: string,
  whenPaused: (pause: number) => Promise<unknown> = async () => undefined,
) {
  const license = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro', expiresAt })
  const asked: string[] = []
  let paused = 0
  const client = createClient({
    ...{ baseUrl: 'https://licenses.example.com', tenantId: tenant.tenantId, productId: 'editor', sdkKey },
    storage: memoryStorage(),
    clock: {
      now: () => api.ledger.clock.now().getTime(),
      after(ms, run) {
        if (ms >= 15_000) return () => undefined
        api.ledger.clock.advance(ms)
        void whenPaused(++paused).then(run)
        return () => undefined
      },
    },
    async fetch(url, init) {
      asked.push(url)
      return fetchOf(api.ask)(url, init)
    },
  })
  const told: Notice[] = []
  client.onNotice((one) => told.push(one))
  expect(await client.activate(license.licenseKey)).toMatchObject({ ok: true })
  asked.length = 0
  const change = (method: 'PATCH' | 'POST', path: string, body?: object) =>
    api.ask(method, `/v1/licenses/${license.id}${path}`, { token: tenant.token, body })
  return { client, told, asked, change }
}

test('an end that comes near is told once, then the renewal, the suspension and its end', async () => {
  const end = isoIn(8 * day)
  const { client, told, change } = await open(end)
  const unix = (iso: string) => Math.floor(Date.parse(iso) / 1000)
  expect(told).toStrictEqual([])
  api.ledger.clock.advance(1.5 * day)
  await client.validate()
  await client.validate()
  expect(told.splice(0)).toStrictEqual([{ notice: 'expiring', licenseExpiresAt: unix(end) }])

  const later = isoIn(300 * day)
  expect((await change('PATCH', '', { expiresAt: later })).status).toBe(200)
  await client.validate()
  expect(told.splice(0)).toStrictEqual([{ notice: 'renewed', licenseExpiresAt: unix(later) }])

  for (const [command, notice] of [
    ['suspend', { notice: 'revoked', reason: 'suspended' }],
    ['resume', { notice: 'restored' }],
  ] as const) {
    api.ledger.clock.advance(1000)
    expect((await change('POST', `/${command}`, {})).status).toBe(200)
    await client.validate()
    expect(told.splice(0)).toStrictEqual([notice])
  }
})

test('a purchase is found as soon as the server knows of it', async () => {
  const bought = isoIn(300 * day)
  const { client, asked, change } = await open(isoIn(30 * day), async (pause) => {
    if (pause === 3) await change('PATCH', '', { expiresAt: bought })
  })
  expect(await client.refreshAfterPurchase()).toBe(true)
  expect(asked).toHaveLength(4)
  expect(client.state()).toMatchObject({ licenseExpiresAt: Math.floor(Date.parse(bought) / 1000) })
})

test('a purchase that does not come is asked for during half a minute', async () => {
  const { client, asked } = await open(isoIn(30 * day))
  const from = api.ledger.clock.now().getTime()
  expect(await client.refreshAfterPurchase()).toBe(false)
  expect(asked).toHaveLength(11)
  expect(api.ledger.clock.now().getTime() - from).toBe(30_000)
})
