/**
 * Guarantee: a device that borrows its floating seat goes on without a network until its license file ends, and has the seat until
 * then. Nobody else gets it before, unless the device gives it back with its signature and its fence.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, memoryStorage } from '../../../src/sdk/javascript/app/index.ts'
import type { Keyset } from '../../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
let keys: Keyset['keys']
const day = 86_400

const floatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device' }
const lending = { ...floatingSeats, maxBorrowDays: 20, maxBorrowed: 1 }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Lent', deviceLimit: 2, seatPolicy: 'floating', floatingSeats: lending },
      { name: 'One', deviceLimit: 1, seatPolicy: 'floating', floatingSeats: lending },
      { name: 'Online', deviceLimit: 1, seatPolicy: 'floating', floatingSeats },
      { name: 'Kept', deviceLimit: 1 },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
  keys = ((await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset).keys
})
afterAll(() => api.close())
// Seats end by the clock of the database, files by that of the process.
beforeEach(() => api.ledger.clock.set(new Date().toISOString()))

const make = (keyTypeId: string) => mint(api.ask, tenant.token, 'editor', { keyTypeId })
const hashOf = (name: string) => Buffer.from(`a hash of ${name}`).toString('base64url').padEnd(22, '0')

/** The app on a laptop, which makes requests and takes files. */
async function laptop(name: string) {
  const client = createClient({
    tenantId: tenant.tenantId,
    productId: 'editor',
    keys,
    storage: memoryStorage(),
    identity: () => ({ machineHash: hashOf(name) }),
    deviceName: name,
    clock: { now: () => api.ledger.clock.now().getTime(), after: () => () => undefined },
  })
  await client.start()
  return client
}

/** Ends the time of all seats of a license, while processes run. */
async function runOut(licenseId: string) {
  const { db } = api.ledger
  await db.query('update usage.seats_kept set kept_at = clock_timestamp()')
  await db.query(
    `update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second' where license_id = $1`,
    [licenseId],
  )
}

const activate = (licenseKey: string, name: string, more: object = {}) =>
  app.post('activate', { license_key: licenseKey, instance_name: name, machine_hash: hashOf(name), ...more })
const borrow = async (
  { licenseKey }: { licenseKey: string },
  name: string,
  { seconds = 10 * day, client = laptop(name) } = {},
) => {
  const { text } = await (await client).createOfflineRequest(licenseKey)
  return activate(licenseKey, name, { borrow_seconds: seconds, borrow_request: text })
}
const Lent = z.looseObject({
  instance_id: z.string(),
  license_file: z.string(),
  seat: z.strictObject({ id: z.string(), fence: z.int(), ends_at: z.int() }),
})
const now = () => Math.floor(api.ledger.clock.now().getTime() / 1000)
const management = (path: string, body: object) =>
  api.ask('POST', `/v1/licenses/${path}`, { token: tenant.token, body })

describe('a laptop', () => {
  test('borrows its seat, goes on without a network, and gives it back before its end', async () => {
    const license = await make('one')
    const pc = await laptop('a')
    const { text } = await pc.createOfflineRequest(license.licenseKey)
    const asking = { borrow_seconds: 10 * day, borrow_request: text }
    const answer = await activate(license.licenseKey, 'a', asking)
    expect(answer.status).toBe(200)
    const lent = Lent.parse(answer.body)
    expect(lent.seat).toMatchObject({ id: lent.instance_id, fence: 1 })
    expect(Math.abs(lent.seat.ends_at - now() - 10 * day)).toBeLessThan(60)
    expect(await pc.importLicense(lent.license_file)).toMatchObject({
      ok: true,
      state: { status: 'licensed', by: 'file' },
    })
    // A retry of the same call gets the same file.
    expect(Lent.parse((await activate(license.licenseKey, 'a', asking)).body).license_file).toBe(
      lent.license_file,
    )

    const refused = { status: 422, body: { reason: 'seat_limit_reached' } }
    await runOut(license.id)
    expect(await activate(license.licenseKey, 'b')).toMatchObject(refused)
    await api.ledger.db.query('delete from usage.seat_ends')
    expect(await activate(license.licenseKey, 'b')).toMatchObject(refused)

    const given = { license_key: license.licenseKey, instance_id: lent.instance_id, fence: 1 }
    expect(await app.post('deactivate', given)).toMatchObject({ status: 422 })
    const release = await pc.release()
    expect(await management(`${license.id}/files/release`, { release: release?.text })).toMatchObject({
      status: 200,
    })
    expect(await activate(license.licenseKey, 'b')).toMatchObject({
      status: 200,
      body: { seat: { fence: 2 } },
    })
  })

  test('comes back online to its seat, though its end had passed in the table', async () => {
    const license = await make('one')
    const lent = Lent.parse((await borrow(license, 'a')).body)
    await runOut(license.id)
    await activate(license.licenseKey, 'b')
    const call = { license_key: license.licenseKey, instance_id: lent.instance_id, fence: 1 }
    for (const name of ['validate', 'heartbeat'] as const)
      expect(await app.post(name, call)).toMatchObject({
        status: 200,
        body: { seat: { fence: 1, ends_at: lent.seat.ends_at } },
      })
    expect(await activate(license.licenseKey, 'a')).toMatchObject({
      status: 200,
      body: { seat: { fence: 1 } },
    })
  })

  test('borrows the seat that it has, for no longer than the license allows', async () => {
    const license = await make('lent')
    const { body } = await activate(license.licenseKey, 'a')
    const { instance_id } = z.looseObject({ instance_id: z.string() }).parse(body)
    const lent = Lent.parse((await borrow(license, 'a', { seconds: 300 * day })).body)
    expect(lent).toMatchObject({ instance_id, seat: { fence: 1 } })
    expect(Math.abs(lent.seat.ends_at - now() - 20 * day)).toBeLessThan(60)
  })

  test('is refused while as many are borrowed as the license allows, and takes no seat then', async () => {
    const license = await make('lent')
    await borrow(license, 'a')
    expect(await borrow(license, 'b')).toMatchObject({
      status: 422,
      body: { reason: 'borrow_limit_reached' },
    })
    expect(await api.ask('GET', `/v1/licenses/${license.id}`, { token: tenant.token })).toMatchObject({
      body: { license: { seatsUsed: 1 } },
    })
  })

  test('loses its seat to the next device once its file has ended', async () => {
    const license = await make('one')
    await borrow(license, 'a', { seconds: day })
    api.ledger.clock.advance(2 * day * 1000)
    await api.ledger.db.query(
      `update devices set file_ends_at = clock_timestamp() - interval '1 second' where license_id = $1`,
      [license.id],
    )
    await runOut(license.id)
    expect(await activate(license.licenseKey, 'b')).toMatchObject({
      status: 200,
      body: { seat: { fence: 2 } },
    })
  })

  test.each(['online', 'kept'])('is refused where seats cannot be borrowed: %s', async (keyTypeId) => {
    const license = await make(keyTypeId)
    expect(await borrow(license, 'a')).toMatchObject({ status: 422, body: { reason: 'borrowing_off' } })
  })

  test('sends both fields, of a request for this license key', async () => {
    const license = await make('one')
    const { text } = await (await laptop('a')).createOfflineRequest((await make('one')).licenseKey)
    for (const [more, status] of [
      [{ borrow_seconds: day }, 400],
      [{ borrow_request: text }, 400],
      [{ borrow_seconds: 60, borrow_request: text }, 400],
      [{ borrow_seconds: day, borrow_request: 'nothing' }, 422],
      [{ borrow_seconds: day, borrow_request: text }, 422],
    ] as const)
      expect((await activate(license.licenseKey, 'a', more)).status).toBe(status)
  })
})

describe('a vendor', () => {
  test('makes a file with which a device borrows a floating seat, and takes it back with its release', async () => {
    const license = await make('one')
    const pc = await laptop('a')
    const { text: request } = await pc.createOfflineRequest(license.licenseKey)
    expect(await management(`${license.id}/files`, { request, days: 21 })).toMatchObject({ status: 422 })
    const made = await management(`${license.id}/files`, { request, days: 5 })
    expect(made).toMatchObject({ status: 201 })
    const { file } = z.looseObject({ file: z.string() }).parse(made.body)
    expect(await pc.importLicense(file)).toMatchObject({ ok: true })
    await runOut(license.id)
    expect(await activate(license.licenseKey, 'b')).toMatchObject({ status: 422 })
    const release = await pc.release()
    expect(await management(`${license.id}/files/release`, { release: release?.token })).toMatchObject({
      status: 200,
    })
    expect(await activate(license.licenseKey, 'b')).toMatchObject({ status: 200 })
  })

  test('is told that borrowing is off', async () => {
    const license = await make('online')
    const { text: request } = await (await laptop('a')).createOfflineRequest(license.licenseKey)
    const answer = await management(`${license.id}/files`, { request })
    expect(answer).toMatchObject({ status: 403 })
    expect(answer.headers['error-code']).toBe('borrowing_off')
  })

  test.each([
    { ...floatingSeats, maxBorrowDays: 5 },
    { ...floatingSeats, maxBorrowed: 5 },
    { ...lending, maxBorrowDays: 367 },
    { ...lending, maxBorrowed: 0 },
    { ...lending, scope: 'process' },
    { ...lending, scope: 'user' },
  ])('cannot set %j', async (seats) => {
    const body = { name: `Try ${JSON.stringify(seats)}`.slice(0, 60), floatingSeats: seats }
    const answer = await api.ask('POST', '/v1/products/editor/key-types', { token: tenant.token, body })
    expect(answer.status).toBe(400)
  })
})
