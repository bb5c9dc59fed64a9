/**
 * Guarantee: a client without a server sends nothing and says so; it gives no text out that it could not store; and a device
 * with a license file gives its seat back by the file alone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf, impatientClock } from './asking.ts'

let api: TestApi
let tenant: TestTenant
let keys: Record<string, string>
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const offlineFiles = { maxDays: 30, perSeatPerYear: 4 }
  const keyTypes = [{ name: 'Mill', deviceLimit: 1, entitlements: ['cut'], offlineFiles }]
  await makeProduct(api.ask, tenant.token, 'mill', { keyTypes })
  const answer = await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)
  keys = z.object({ keys: z.record(z.string(), z.string()) }).parse(answer.body).keys
})
afterAll(() => api.close())

const options = (storage = memoryStorage()) => ({
  tenantId: tenant.tenantId,
  productId: 'mill',
  keys,
  storage,
  identity: () => ({ machineHash: 'hash-of-the-only-mill' }),
  clock: impatientClock(() => api.ledger.clock.now().getTime()),
})
const request = (licenseId: string, path: string, body: object) =>
  api.ask('POST', `/v1/licenses/${licenseId}/${path}`, { token: tenant.token, body })

test('what needs the server answers that there is none, and nothing is sent', async () => {
  const sent: string[] = []
  const client = createClient({
    ...options(),
    fetch: async (url) => {
      sent.push(url)
      throw new TypeError('nothing is sent')
    },
  })
  await client.start()
  const outcomes = [
    await client.activate('MILL-1'),
    await client.validate(),
    await client.startTrial(),
    await client.importLicense('v4.public.AAAA'),
    await client.deactivate(),
  ]
  client.stop()
  expect(outcomes.map((one) => !one.ok && one.problem.code)).toStrictEqual([
    ...['no_server', 'no_server', 'no_server', 'malformed', 'no_license'],
  ])
  expect(sent).toStrictEqual([])
})

test('a request and a release are not given out when the storage cannot keep them', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'mill')
  const kept = memoryStorage()
  let isFull = false
  const storage = {
    read: kept.read,
    async write(text: string) {
      if (isFull) throw new Error('disk full')
      await kept.write(text)
    },
  }
  const mill = createClient(options(storage))
  const { text } = await mill.createOfflineRequest(licenseKey)
  const { file } = z.object({ file: z.string() }).parse((await request(id, 'files', { request: text })).body)
  expect(await mill.importLicense(file)).toMatchObject({ state: { status: 'licensed' } })
  isFull = true
  await expect(mill.release()).rejects.toThrow('the storage cannot be written')
  await expect(mill.createOfflineRequest(licenseKey)).rejects.toThrow('the storage cannot be written')
  const restarted = createClient(options(kept))
  await restarted.start()
  restarted.stop()
  expect(restarted.has('cut')).toBe(true)
})

test('a device with a lease and a file has one seat, gives both up with the file, and neither with a deactivation', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'mill')
  const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const server = { baseUrl: 'https://licenses.example.com', sdkKey, fetch: fetchOf(api.ask) }
  const mill = createClient({ ...options(), ...server })
  expect(await mill.activate(licenseKey)).toMatchObject({ ok: true, state: { by: 'lease' } })
  api.ledger.clock.advance(1000)
  const { text } = await mill.createOfflineRequest(licenseKey)
  const { file } = z.object({ file: z.string() }).parse((await request(id, 'files', { request: text })).body)
  expect(await mill.importLicense(file)).toMatchObject({ ok: true, state: { by: 'file' } })
  expect(await mill.deactivate()).toMatchObject({ problem: { code: 'has_file' }, state: { by: 'file' } })
  const release = await mill.release()
  expect(mill.state()).toMatchObject({ status: 'unlicensed' })
  expect(await mill.release()).toStrictEqual(release)
  expect((await request(id, 'files/release', { release: release?.text })).status).toBe(200)
  expect(await mill.activate(licenseKey)).toMatchObject({ ok: true, state: { by: 'lease' } })
})

test('a seat that the server keeps for a file is not forgotten', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'mill')
  const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const server = { baseUrl: 'https://licenses.example.com', sdkKey, fetch: fetchOf(api.ask) }
  const mill = createClient({ ...options(), ...server })
  expect(await mill.activate(licenseKey)).toMatchObject({ ok: true })
  // Another install on the machine has asked for the file.
  const { text } = await createClient(options()).createOfflineRequest(licenseKey)
  expect((await request(id, 'files', { request: text })).status).toBe(201)
  expect(await mill.deactivate()).toMatchObject({ ok: false, state: { status: 'licensed' } })
})
