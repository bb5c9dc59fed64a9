/**
 * Guarantee: what a row says of the machines of its devices is recorded as hashes under the license's holder alone, and apps
 * that say the same keep their seats; apps that say something else or nothing find them by name, once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { verify } from '../../../projections/runner/verify.ts'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { licenseStream } from '../../../src/domain/streams.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { importRows as importInto, makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const keyTypes = [
    { name: 'Pro', deviceLimit: 2 },
    { name: 'Team', deviceLimit: 3 },
    { name: 'Site', deviceLimit: null },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
  const place = { tenantId: tenant.tenantId, productId: 'editor' }
  app = appOf(api.ask, place, await sdkKeyOf(api.ledger, tenant.tenantId))
})
afterAll(() => api.close())

const importRows = (licenses: unknown[]) => importInto(api.ask, tenant.token, 'editor', licenses)

let keys = 0
const newKey = () => `OLD-SHOP-KEY-${++keys}`

const licenseOf = async (id: string | undefined) =>
  (await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })).body

test('an imported license recognizes its devices by what the row says of their machines, kept as hashes under its holder', async () => {
  const licenseKey = newKey()
  const machineHash = 'the-hash-of-a-machine'
  const components = { board: 'the-hash-of-a-board', disk: 'the-hash-of-a-disk' }
  const email = 'machines@example.com'
  const devices = [
    { deviceId: 'device-1', name: 'Same name', machineHash },
    { deviceId: 'device-2', name: 'Same name', components },
    { deviceId: 'device-3', name: 'Third' },
  ]
  const { results } = await importRows([{ licenseKey, keyTypeId: 'team', email, devices }])
  const id = results[0]?.id ?? ''
  const shown = await licenseOf(id)
  expect(shown).toMatchObject({
    license: {
      seatsUsed: 3,
      devices: [
        { deviceId: 'device-1', identifiedBy: ['machine'] },
        { deviceId: 'device-2', identifiedBy: ['board', 'disk'] },
        { deviceId: 'device-3' },
      ],
    },
  })
  const events = await eventsIn(api.ledger.ports.ledger, licenseStream(id))
  const subjectId = await api.ledger.ports.subjects.findSubject(tenant.tenantId, email)
  expect(
    events.flatMap((entry) =>
      entry.readable && entry.event.type === 'DeviceIdentified'
        ? [[entry.event.data.deviceId, entry.event.data.marks.identity?.subjectId]]
        : [],
    ),
  ).toStrictEqual([
    ['device-1', subjectId],
    ['device-2', subjectId],
  ])
  const recorded = JSON.stringify(events, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const said of [machineHash, ...Object.values(components)]) expect(recorded).not.toContain(said)

  const seatOf = async (instance_name: string, said: object) =>
    (await app.post('activate', { license_key: licenseKey, instance_name, ...said })).body
  const seats = z
    .object({ license: z.object({ devices: z.array(z.object({ instanceId: z.string() })) }) })
    .parse(shown).license.devices
  const seat = (index: number) => ({ instance_id: seats[index]?.instanceId })
  expect(await seatOf('New name', { machine_hash: machineHash })).toMatchObject(seat(0))
  expect(await seatOf('Newer name', { device: components })).toMatchObject(seat(1))
  expect(await seatOf('Third', { machine_hash: 'another-hash-of-it' })).toMatchObject(seat(2))
  // The first two have said who they are, so their old name finds neither.
  expect(await seatOf('Same name', { machine_hash: 'the-hash-of-a-stranger' })).toMatchObject({
    reason: 'seat_limit_reached',
  })
})

test('an imported device is found by an app that says nothing of the machine, or says it in another way', async () => {
  const licenseKey = newKey()
  const devices = [
    { deviceId: 'one', name: 'First', machineHash: 'the-hash-of-a-machine' },
    { deviceId: 'two', name: 'Second', machineHash: 'the-hash-of-another' },
  ]
  const { results } = await importRows([{ licenseKey, devices }])
  const activate = (instance_name: string, said: object) =>
    app.post('activate', { license_key: licenseKey, instance_name, ...said })
  expect((await activate('First', {})).status).toBe(200)
  expect((await activate('Second', { machine_hash: 'a-hash-of-the-new-app' })).status).toBe(200)
  expect((await activate('Renamed', { machine_hash: 'a-hash-of-the-new-app' })).status).toBe(200)
  expect(await licenseOf(results[0]?.id)).toMatchObject({ license: { seatsUsed: 2 } })
  expect((await activate('Second', { machine_hash: 'the-hash-of-a-stranger' })).status).not.toBe(200)
})

test.each([
  ['a machine hash of another form', { deviceId: 'one', machineHash: '4d:Eq:UV:D3:XZ:tL' }],
  ['a component with a name of another form', { deviceId: 'one', components: { 'MAC 1': 'x'.repeat(20) } }],
  ['a component of another form', { deviceId: 'one', components: { mac: 'short' } }],
])('a row is invalid when its device has %s', async (_, device) => {
  const { results } = await importRows([{ licenseKey: newKey(), devices: [device] }])
  expect(results).toMatchObject([{ status: 'invalid', error: expect.stringContaining('devices') as string }])
})

test('a row is invalid with more than 250 devices that have a machine hash', async () => {
  const devices = Array.from({ length: 251 }, (_, index) => ({
    deviceId: `device-${index}`,
    machineHash: `the-hash-of-machine-${index}`,
  }))
  const { results } = await importRows([{ licenseKey: newKey(), devices }])
  expect(results).toMatchObject([
    { status: 'invalid', error: expect.stringContaining('at most 250 devices') as string },
  ])
})

test('a row as large as a row may be is one append', async () => {
  const devices = Array.from({ length: 500 }, (_, index) => ({
    deviceId: `${index}`.padEnd(index < 250 ? 256 : 63, '-'),
    ...(index < 250 && { name: '\u6f22'.repeat(200), machineHash: `the-hash-of-machine-${index}` }),
  }))
  const row = { licenseKey: newKey(), keyTypeId: 'site', devices }
  expect(Buffer.byteLength(JSON.stringify(row))).toBeGreaterThan(240 * 1024)
  expect((await importRows([row])).results).toMatchObject([{ status: 'imported' }])
})

test('an imported machine is forgotten with the holder', async () => {
  const licenseKey = newKey()
  const email = 'forgotten@example.com'
  const machineHash = 'the-hash-of-her-machine'
  const { results } = await importRows([
    { licenseKey, email, devices: [{ deviceId: 'one', name: 'First', machineHash }] },
  ])
  const { ports } = api.ledger
  const subjectId = (await ports.subjects.findSubject(tenant.tenantId, email)) ?? ''
  await eraseSubject(ports, tenant.tenantId, subjectId, origin)
  const body = { license_key: licenseKey, instance_name: 'Renamed', machine_hash: machineHash }
  expect((await app.post('activate', body)).status).toBe(200)
  expect(await licenseOf(results[0]?.id)).toMatchObject({ license: { seatsUsed: 2 } })
})

test('the read models after these imports equal a replay of the log', async () => {
  const { db, ports } = api.ledger
  const { differences } = await verify(db, ports.ledger, () => undefined)
  expect(differences).toStrictEqual([])
})
