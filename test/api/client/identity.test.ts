/**
 * Guarantee: a device keeps its seat by what its machine is, whatever it is called; two devices with one name have two
 * seats; what an app says of a machine is stored only as a keyed hash, which nobody can compute once the person was erased.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'
import { type App, appOf, appOnFullPlan, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
let strict: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  const keyTypes = [{ name: 'Pro', keyTypeId: 'pro', deviceLimit: 2 }]
  await makeProduct(api.ask, token, 'editor', { keyTypes })
  await makeProduct(api.ask, token, 'strict', { keyTypes, deviceMatch: { atLeast: 4 } })
  const sdkKey = await sdkKeyOf(api.ledger, tenantId)
  app = appOf(api.ask, { tenantId, productId: 'editor' }, sdkKey)
  strict = appOf(api.ask, { tenantId, productId: 'strict' }, sdkKey)
})
afterAll(() => api.close())

const make = (more: Record<string, unknown> = {}) => mint(api.ask, tenant.token, 'editor', more)
const hashOf = (what: string) => Buffer.from(`a hash of ${what}`).toString('base64url').padEnd(22, '0')
const machine = (what: string) => ({ machine_hash: hashOf(what) })
const device = (parts: Record<string, string>) => ({
  device: Object.fromEntries(Object.entries(parts).map(([name, what]) => [name, hashOf(what)])),
})
const parts = { board: 'one', disk: 'two', mac: 'three', os: 'four' }

const activate = (licenseKey: string, name: string, more: object = {}, by = app) =>
  by.post('activate', { license_key: licenseKey, instance_name: name, ...more })
const instanceOf = ({ body }: Answer) => z.object({ instance_id: z.string() }).parse(body).instance_id
const validate = (licenseKey: string, instanceId: string, more: object = {}) =>
  app.post('validate', { license_key: licenseKey, instance_id: instanceId, ...more })

const Detail = z.object({
  license: z.looseObject({ devices: z.array(z.looseObject({})), seatsUsed: z.int() }),
})
async function detailOf(licenseId: string) {
  return Detail.parse((await api.ask('GET', `/v1/licenses/${licenseId}`, { token: tenant.token })).body)
    .license
}
const eventsOf = (licenseId: string) => eventsIn(api.ledger.ports.ledger, `license-${licenseId}`)
const typesOf = async (licenseId: string) =>
  (await eventsOf(licenseId)).flatMap((entry) => (entry.readable ? [entry.event.type] : []))

describe('two computers with one name', () => {
  test('have two seats, and each frees its own', async () => {
    const { id, licenseKey } = await make()
    const one = instanceOf(await activate(licenseKey, 'MacBook-Pro.local', machine('one')))
    const two = instanceOf(await activate(licenseKey, 'MacBook-Pro.local', machine('two')))
    expect(two).not.toBe(one)
    expect((await activate(licenseKey, 'MacBook-Pro.local', machine('three'))).body).toMatchObject({
      reason: 'seat_limit_reached',
    })
    await app.post('deactivate', { license_key: licenseKey, instance_id: one })
    expect((await validate(licenseKey, two)).body).toMatchObject({ valid: true })
    expect((await validate(licenseKey, one)).body).toMatchObject({ reason: 'inactive' })
    expect(await detailOf(id)).toMatchObject({ seatsUsed: 1 })
  })
  test('take over the seat that has only the name once', async () => {
    const { id, licenseKey } = await make()
    const before = instanceOf(await activate(licenseKey, 'MacBook'))
    expect(instanceOf(await activate(licenseKey, 'MacBook', machine('one')))).toBe(before)
    expect(instanceOf(await activate(licenseKey, 'MacBook', machine('two')))).not.toBe(before)
    expect(await typesOf(id)).toStrictEqual([
      'LicenseMinted',
      'DeviceActivated',
      'DeviceIdentified',
      'DeviceActivated',
      'DeviceIdentified',
    ])
  })
})

describe('a device that changes', () => {
  test('keeps its seat, and every change is in the history, once', async () => {
    const { id, licenseKey } = await make()
    const first = await activate(licenseKey, 'Office', { ...machine('one'), ...device(parts) })
    const again = [
      await activate(licenseKey, 'Office', { ...machine('one'), ...device(parts) }),
      await activate(licenseKey, 'Studio', { ...machine('one'), ...device({ ...parts, disk: 'new' }) }),
      await activate(licenseKey, 'Studio', {
        ...machine('reinstalled'),
        ...device({ ...parts, disk: 'new' }),
      }),
      await activate(licenseKey, 'Any name', { instance_id: instanceOf(first) }),
    ]
    for (const answer of again) expect(instanceOf(answer)).toBe(instanceOf(first))
    const { body } = await api.ask('GET', `/v1/licenses/${id}/history?limit=100`, { token: tenant.token })
    const { items } = z.object({ items: z.array(z.looseObject({ summary: z.string() })) }).parse(body)
    expect(items.map(({ summary }) => summary).reverse()).toStrictEqual([
      'Issued',
      '“Office” activated',
      '“Office” identified by machine, board, disk, mac and os',
      '“Office” is called “Studio” now, with another disk',
      '“Studio” has another machine',
      '“Studio” is called “Any name” now',
    ])
    expect(await detailOf(id)).toMatchObject({
      seatsUsed: 1,
      devices: [{ name: 'Any name', identifiedBy: ['machine', 'board', 'disk', 'mac', 'os'] }],
    })
  })
  test('is another one when fewer components are equal than the product asks for', async () => {
    const { licenseKey } = await mint(api.ask, tenant.token, 'strict', {})
    const of = (more: Record<string, string>, name: string) => ({
      ...machine(name),
      ...device({ ...parts, ...more }),
    })
    const first = instanceOf(await activate(licenseKey, 'A', of({}, 'a'), strict))
    expect(instanceOf(await activate(licenseKey, 'B', of({}, 'b'), strict))).toBe(first)
    expect(instanceOf(await activate(licenseKey, 'C', of({ os: 'new' }, 'c'), strict))).not.toBe(first)
  })
  test('says so with a validate too, which waits for nothing and takes no other seat', async () => {
    const { id, licenseKey } = await make()
    const instanceId = instanceOf(await activate(licenseKey, 'Old app'))
    for (const what of ['one', 'one', 'two']) {
      expect((await validate(licenseKey, instanceId, machine(what))).body).toMatchObject({ valid: true })
      await api.ledger.ports.machineReports.flush()
    }
    expect((await typesOf(id)).filter((type) => type === 'DeviceIdentified')).toHaveLength(2)
    expect(instanceOf(await activate(licenseKey, 'Renamed', machine('two')))).toBe(instanceId)
  })
})

test('copies of one machine are shown on the license and among the refusals, and refused nothing', async () => {
  const { id, licenseKey } = await make()
  const of = (mac: string) => ({ ...machine('image'), ...device({ mac, disk: 'd' }) })
  const instanceId = instanceOf(await activate(licenseKey, 'VM', of('one')))
  for (const mac of ['two', 'one', 'two', 'one']) {
    expect((await validate(licenseKey, instanceId, of(mac))).body).toMatchObject({ valid: true })
    await api.ledger.ports.machineReports.flush()
  }
  expect((await typesOf(id)).filter((type) => type === 'DeviceInTwoPlaces')).toHaveLength(1)
  expect((await detailOf(id)).devices).toMatchObject([{ inTwoPlacesAt: expect.any(String) as unknown }])
  await api.ledger.ports.refusals.flush()
  const { body } = await api.ask('GET', `/v1/licenses/${id}/refusals`, { token: tenant.token })
  expect(body).toMatchObject({ items: [{ reason: 'in_two_places', call: 'validate', count: 1 }] })
})

describe('what an app says of a machine', () => {
  test('is nowhere as it was sent, and differs from license to license', async () => {
    const said = { ...machine('a secret machine'), ...device({ disk: 'a secret disk' }) }
    const licenses = [await make(), await make()]
    const hashes = []
    for (const { id, licenseKey } of licenses) {
      instanceOf(await activate(licenseKey, 'PC', said))
      const text = JSON.stringify(await eventsOf(id), (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      expect(text).toContain('DeviceIdentified')
      for (const sent of [said.machine_hash, said.device.disk]) expect(text).not.toContain(sent)
      hashes.push(/"machine":"([^"]+)"/.exec(text)?.[1])
    }
    expect(new Set(hashes).size).toBe(2)
    const { rows } = await api.ledger.db.query<{ n: unknown }>(
      'select count(*) as n from devices d where d::text like $1 or d::text like $2',
      [`%${said.machine_hash}%`, `%${said.device.disk}%`],
    )
    expect(Number(rows[0]?.n)).toBe(0)
  })

  test('is hashed with a key of the holder, so that it is forgotten with the holder', async () => {
    const email = 'grace@example.com'
    const { tenantId } = tenant
    const { id, licenseKey } = await make({ email })
    const first = instanceOf(await activate(licenseKey, 'PC', machine('hers')))
    const { subjects } = api.ledger.ports
    const subjectId = (await subjects.findSubject(tenantId, email)) ?? ''
    const marks = (await eventsOf(id)).flatMap((entry) =>
      entry.readable && entry.event.type === 'DeviceIdentified' ? [entry.event.data.marks.identity] : [],
    )
    expect(marks).toMatchObject([{ subjectId }])
    await eraseSubject(api.ledger.ports, tenantId, subjectId, origin)
    // Nobody can tell any more that it is the same machine; by its name it takes its seat over again.
    expect(instanceOf(await activate(licenseKey, 'PC', machine('hers')))).toBe(first)
    expect(instanceOf(await activate(licenseKey, 'Renamed', machine('hers')))).toBe(first)
  })

  test('still counts after the license has got another holder', async () => {
    const { id, licenseKey } = await make({ email: 'typo@example.com' })
    const first = instanceOf(await activate(licenseKey, 'PC', machine('same')))
    const edit = { token: tenant.token, body: { email: 'right@example.com' } }
    expect((await api.ask('PATCH', `/v1/licenses/${id}`, edit)).status).toBe(200)
    expect(instanceOf(await activate(licenseKey, 'Renamed', machine('same')))).toBe(first)
  })

  test.each([
    ['a hash that is too short', { machine_hash: 'short' }],
    ['a hash with other characters', { machine_hash: 'not a hash, with spaces' }],
    ['nine components', device(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, 'x'])))],
    ['a component with a name that is none', { device: { 'Ein Name': hashOf('x') } }],
    ['a component that is no hash', { device: { disk: 7 } }],
  ])('is refused with 400 when it has %s', async (_, said) => {
    const { licenseKey } = await make()
    for (const answer of [
      await activate(licenseKey, 'PC', said),
      await validate(licenseKey, 'ins_1', said),
    ]) {
      expect(answer.status).toBe(400)
      expect(Object.keys(answer.body as object)).toStrictEqual(['error'])
    }
  })
})

test('a device that has a seat may say that it was renamed although the plan is full', async () => {
  const { app: own, licenseKey } = await appOnFullPlan(api)
  expect((await activate(licenseKey, 'One more', machine('more'), own)).status).toBe(402)
  for (const name of ['Device 7', 'Renamed']) {
    expect((await activate(licenseKey, name, machine('seven'), own)).status).toBe(200)
  }
})
