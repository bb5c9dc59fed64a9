/**
 * Guarantee: a machine that never sees a network gets a license file for itself alone; one seat has one living file, and is
 * freed by what its device signs or by the end of the file; what must not be used any more is in a signed list.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, memoryStorage } from '../../../src/sdk/javascript/app/index.ts'
import type { Keyset } from '../../../src/sdk/javascript/index.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
let keys: Keyset['keys']
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  const offlineFiles = { maxDays: 400, perSeatPerYear: 3 }
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 1, entitlements: ['export'], offlineFiles },
      { name: 'Team', keyTypeId: 'team', deviceLimit: 2, offlineFiles },
      { name: 'Month', keyTypeId: 'month', duration: { count: 1, unit: 'month' }, offlineFiles },
      {
        name: 'Later',
        keyTypeId: 'later',
        duration: { count: 1, unit: 'month' },
        startsAt: 'first_activation',
        offlineFiles,
      },
      { name: 'Online', keyTypeId: 'online' },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
  keys = ((await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset).keys
})
afterAll(() => api.close())

const hash = (what: string) => Buffer.from(`a hash of ${what}`).toString('base64url').padEnd(22, '0')
const now = () => api.ledger.clock.now().getTime()
const day = 86_400_000

/** An app on a machine without a network. @param text what its storage holds */
function machine(name: string, storage = memoryStorage()) {
  return createClient({
    tenantId: tenant.tenantId,
    productId: 'editor',
    keys,
    storage,
    identity: () => ({ machineHash: hash(name), device: { board: hash(`board ${name}`) } }),
    deviceName: 'PC',
    clock: { now, after: () => () => undefined },
  })
}

const make = (keyTypeId = 'pro') => mint(api.ask, tenant.token, 'editor', { keyTypeId })
const call = (method: 'GET' | 'POST', path: string, body?: object, token = tenant.token) =>
  api.ask(method, `/v1/licenses/${path}`, { token, body })
const ask = (id: string, request: string, more: object = {}) =>
  call('POST', `${id}/files`, { request, ...more })
const giveBack = (id: string, release: string) => call('POST', `${id}/files/release`, { release })

const Made = z.object({ fileId: z.string(), instanceId: z.string(), endsAt: z.string(), file: z.string() })
const made = ({ status, body }: Answer) => {
  expect({ status, body }).toMatchObject({ status: 201 })
  return Made.parse(body)
}
const statesOf = async (id: string) =>
  z
    .object({ files: z.array(z.object({ state: z.string() })) })
    .parse((await call('GET', `${id}/files`)).body)
    .files.map(({ state }) => state)
const seatsOf = async (id: string) =>
  z.object({ license: z.object({ seatsUsed: z.int() }) }).parse((await call('GET', id)).body).license
    .seatsUsed
const typesOf = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, `license-${id}`)).flatMap((entry) =>
    entry.readable ? [entry.event.type] : [],
  )
const withdrawn = async () =>
  z
    .object({ withdrawn: z.string() })
    .parse((await api.ask('GET', `/${tenant.tenantId}/editor/withdrawn`)).body).withdrawn

describe('a machine without a network', () => {
  test('asks, takes the answer, renews it, and gives it back', async () => {
    const { id, licenseKey } = await make()
    const pc = machine('mill')
    expect(await pc.start()).toMatchObject({ status: 'unlicensed' })
    const request = await pc.createOfflineRequest(licenseKey)
    const first = made(await ask(id, request.text))
    expect(await pc.importLicense(first.file)).toMatchObject({
      ok: true,
      state: { status: 'licensed', by: 'file', entitlements: ['export'], until: (now() + 400 * day) / 1000 },
    })
    // A retry gets the same file and takes nothing.
    expect(made(await ask(id, request.token))).toStrictEqual(first)
    expect(await typesOf(id)).toStrictEqual([
      'LicenseMinted',
      'DeviceActivated',
      'DeviceIdentified',
      'LicenseFileIssued',
    ])
    api.ledger.clock.advance(300 * day)
    const next = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
    expect(next.instanceId).toBe(first.instanceId)
    expect(await pc.importLicense(next.file)).toMatchObject({ ok: true })
    expect(await pc.importLicense(first.file)).toMatchObject({ ok: false })
    expect(await statesOf(id)).toStrictEqual(['live', 'replaced'])
    const release = await pc.release()
    expect(pc.state()).toMatchObject({ status: 'unlicensed' })
    expect(await pc.importLicense(next.file)).toMatchObject({ ok: false, problem: { code: 'outdated' } })
    expect((await giveBack(id, release?.text ?? '')).status).toBe(200)
    expect((await giveBack(id, release?.token ?? '')).status).toBe(200)
    expect(await seatsOf(id)).toBe(0)
    expect((await typesOf(id)).slice(-2)).toStrictEqual(['LicenseFileReleased', 'DeviceDeactivated'])
  })

  test('is told the end of its file, and what it allowed', async () => {
    const { id, licenseKey } = await make()
    const pc = machine('short')
    const { file } = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text, { days: 10 }))
    await pc.importLicense(file)
    api.ledger.clock.advance(10 * day + 1000)
    expect(pc.state()).toMatchObject({ status: 'expired', of: 'file', allowed: { entitlements: ['export'] } })
    expect(pc.has('export')).toBe(false)
    api.ledger.clock.advance(-20 * day)
    expect(pc.state()).toMatchObject({ status: 'expired', clockSetBack: true })
    api.ledger.clock.advance(20 * day)
  })

  test('starts the term of a license that waits for its first device, and gets a file until its end', async () => {
    const { id, licenseKey } = await make('later')
    const pc = machine('later')
    const { file, endsAt } = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
    expect((await typesOf(id)).toSorted()).toStrictEqual([
      'DeviceActivated',
      'DeviceIdentified',
      'LicenseFileIssued',
      'LicenseMinted',
      'LicenseStarted',
    ])
    expect(await pc.importLicense(file)).toMatchObject({
      state: { status: 'licensed', licenseExpiresAt: Date.parse(endsAt) / 1000 },
    })
    expect(Date.parse(endsAt) - now()).toBeLessThanOrEqual(31 * day)
  })

  test('has a file that ends with its license at the latest', async () => {
    const { id, licenseKey } = await make('month')
    const { endsAt } = made(await ask(id, (await machine('m').createOfflineRequest(licenseKey)).text))
    const { license } = (await call('GET', id)).body as { license: { expiresAt: string } }
    expect(endsAt).toBe(license.expiresAt)
  })
})

test('a machine without an id of its own is known by its storage', async () => {
  const { id, licenseKey } = await make()
  const storage = memoryStorage()
  const plain = () =>
    createClient({
      tenantId: tenant.tenantId,
      productId: 'editor',
      keys,
      storage,
      identity: () => ({}),
      deviceName: 'Container',
      clock: { now, after: () => () => undefined },
    })
  const { file } = made(await ask(id, (await plain().createOfflineRequest(licenseKey)).text))
  expect(await plain().importLicense(file)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  expect(await plain().start()).toMatchObject({ status: 'licensed' })
})

describe('a file', () => {
  test('is for its machine, its product and its request alone', async () => {
    const { id, licenseKey } = await make('team')
    const storage = memoryStorage()
    const pc = machine('one', storage)
    const request = await pc.createOfflineRequest(licenseKey)
    const { file } = made(await ask(id, request.text))
    const other = machine('two')
    await other.createOfflineRequest(licenseKey)
    expect(await other.importLicense(file)).toMatchObject({ problem: { code: 'another_device' } })
    // Another install on the same machine has not asked for it.
    const reinstalled = machine('one')
    await reinstalled.createOfflineRequest(licenseKey)
    expect(await reinstalled.importLicense(file)).toMatchObject({ problem: { code: 'not_asked' } })
    expect(await pc.importLicense(file.replace(/.(?=\n-----END)/, 'A'))).toMatchObject({ ok: false })
    expect(await pc.importLicense(file)).toMatchObject({ ok: true })
    // The whole storage, copied to another machine.
    const copied = machine('three', memoryStorage(await storage.read()))
    expect(await copied.start()).toMatchObject({ status: 'another_device' })
    expect(await copied.release()).toBeUndefined()
    expect(await machine('one', storage).start()).toMatchObject({ status: 'licensed' })
  })

  test('keeps its seat taken, whoever asks to free it, until it ends', async () => {
    const { id, licenseKey } = await make()
    const pc = machine('kept')
    const { instanceId } = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text, { days: 30 }))
    const refused = { status: 409, body: { error: expect.stringContaining('has a license file') as unknown } }
    expect(await call('POST', `${id}/deactivate-device`, { instanceId })).toMatchObject(refused)
    expect(await app.post('deactivate', { license_key: licenseKey, instance_id: instanceId })).toMatchObject({
      ...refused,
      status: 422,
    })
    const other = await machine('other').createOfflineRequest(licenseKey)
    expect((await ask(id, other.text)).status).toBe(409)
    // A new key frees the seats of all others.
    expect((await call('POST', `${id}/remint`, {})).status).toBe(200)
    expect(await seatsOf(id)).toBe(1)
    expect(await statesOf(id)).toStrictEqual(['withdrawn'])
    api.ledger.clock.advance(30 * day)
    expect((await call('POST', `${id}/deactivate-device`, { instanceId })).status).toBe(200)
    expect(await seatsOf(id)).toBe(0)
  })

  test('is made as often as the key type allows, for each device and for all seats together', async () => {
    const { id, licenseKey } = await make()
    const pc = machine('often')
    for (let round = 0; round < 3; round++)
      made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
    const spent = { status: 409, body: { error: expect.stringContaining('perSeatPerYear') as unknown } }
    expect(await ask(id, (await pc.createOfflineRequest(licenseKey)).text)).toMatchObject(spent)
    api.ledger.clock.advance(365 * day)
    made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
  })

  test('that is given back and asked for again counts, so that files are not multiplied', async () => {
    const { id, licenseKey } = await make()
    for (const name of ['a', 'b', 'c']) {
      const pc = machine(name)
      const { file } = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
      await pc.importLicense(file)
      expect((await giveBack(id, (await pc.release())?.text ?? '')).status).toBe(200)
    }
    expect((await ask(id, (await machine('d').createOfflineRequest(licenseKey)).text)).status).toBe(409)
  })
})

describe('what is refused', () => {
  test('an old request, an old release, and a release by another key', async () => {
    const { id, licenseKey } = await make('team')
    const pc = machine('old')
    const old = await pc.createOfflineRequest(licenseKey)
    const { file: first } = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
    expect(await ask(id, old.text)).toMatchObject({
      status: 409,
      body: { error: 'a newer request of the device was answered already; make a new request on the device' },
    })
    await pc.importLicense(first)
    made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
    // It has the newer file in hand, and gives the older one back.
    expect((await giveBack(id, (await pc.release())?.text ?? '')).status).toBe(409)
    expect(await seatsOf(id)).toBe(1)
    const stranger = await make()
    const theirs = machine('stranger')
    await theirs.importLicense(
      made(await ask(stranger.id, (await theirs.createOfflineRequest(stranger.licenseKey)).text)).file,
    )
    expect((await giveBack(id, (await theirs.release())?.text ?? '')).status).toBe(404)
  })

  test('a request for another license, a text that is none, too many days, and a key type without files', async () => {
    const { id, licenseKey } = await make()
    const pc = machine('wrong')
    const request = await pc.createOfflineRequest(licenseKey)
    const other = await make()
    const online = await make('online')
    const forOnline = await pc.createOfflineRequest(online.licenseKey)
    expect(await ask(other.id, request.text)).toMatchObject({ status: 422 })
    expect(await ask(id, 'hello')).toMatchObject({ status: 422 })
    expect(await ask(id, request.text.replace('REQUEST', 'LICENSE'))).toMatchObject({ status: 422 })
    expect(await ask(id, request.text, { days: 401 })).toMatchObject({ status: 422 })
    expect(await ask(online.id, forOnline.text)).toMatchObject({ status: 403 })
    expect(await giveBack(id, request.text)).toMatchObject({ status: 422 })
    const stranger = await makeTenant(api.ledger)
    expect((await call('POST', `${id}/files`, { request: request.text }, stranger.token)).status).toBe(404)
    expect(await typesOf(id)).toStrictEqual(['LicenseMinted'])
  })

  test('a license that is revoked or full', async () => {
    const { id, licenseKey } = await make()
    await app.post('activate', { license_key: licenseKey, instance_name: 'Online' })
    expect((await ask(id, (await machine('x').createOfflineRequest(licenseKey)).text)).status).toBe(409)
    await call('POST', `${id}/suspend`, {})
    expect((await ask(id, (await machine('x').createOfflineRequest(licenseKey)).text)).status).toBe(409)
  })
})

describe('the list of withdrawn files', () => {
  test('has files that must not be used any more, and ends them on the machine', async () => {
    const { id, licenseKey } = await make('team')
    const pc = machine('barred')
    const { file } = made(await ask(id, (await pc.createOfflineRequest(licenseKey)).text))
    await pc.importLicense(file)
    expect(await pc.importLicense(await withdrawn())).toMatchObject({
      ok: true,
      state: { status: 'licensed' },
    })
    await call('POST', `${id}/suspend`, {})
    api.ledger.clock.advance(1000)
    expect(await pc.importLicense(await withdrawn())).toMatchObject({
      state: { status: 'revoked', reason: 'withdrawn' },
    })
    await call('POST', `${id}/resume`, {})
    api.ledger.clock.advance(1000)
    const later = await withdrawn()
    expect(await pc.importLicense(later)).toMatchObject({ state: { status: 'licensed' } })
    // The machine was installed again: the file of its former install is withdrawn.
    const again = machine('barred')
    await again.importLicense(made(await ask(id, (await again.createOfflineRequest(licenseKey)).text)).file)
    api.ledger.clock.advance(1000)
    const newest = await withdrawn()
    expect(await pc.importLicense(newest)).toMatchObject({
      state: { status: 'revoked', reason: 'withdrawn' },
    })
    expect(await again.importLicense(newest)).toMatchObject({ state: { status: 'licensed' } })
    expect(await again.importLicense(later)).toMatchObject({ ok: false, problem: { code: 'outdated' } })
    expect(await seatsOf(id)).toBe(1)
  })

  test('is cacheable, and unknown for a product that is not there', async () => {
    const path = `/${tenant.tenantId}/editor/withdrawn`
    const { headers } = await api.ask('GET', path)
    expect(headers['cache-control']).toBe('public, max-age=300')
    const again = await api.ask('GET', path, { headers: { 'if-none-match': String(headers.etag) } })
    expect(again.status).toBe(304)
    expect((await api.ask('GET', `/${tenant.tenantId}/nothing/withdrawn`)).status).toBe(404)
  })
})
