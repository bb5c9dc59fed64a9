/**
 * Guarantee: an app that identifies its device keeps its seat when the device is renamed and its storage is lost;
 * devices with one name have a seat each; and an identity that fails never keeps an app from its license.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type ClientOptions,
  createClient,
  type DeviceIdentity,
  memoryStorage,
} from '../../src/sdk/javascript/app/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { createDevice, type Device } from './device.ts'

let api: TestApi
let tenant: TestTenant
let sdkKey: string
let baseUrl: string
let device: Device
let sent: { call: string | undefined; body: unknown }[]
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  await makeProduct(api.ask, tenant.token, 'editor', {
    trialDurationDays: 14,
    keyTypes: [
      { name: 'One', keyTypeId: 'one', deviceLimit: 1 },
      { name: 'Two', keyTypeId: 'two', deviceLimit: 2 },
    ],
  })
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  device = createDevice(api.ledger.clock, () => new Set())
})
afterAll(() => api.close())
beforeEach(() => {
  sent = []
})

const laptop: DeviceIdentity = {
  machineHash: 'hash-of-the-machine-1',
  device: { os: 'hash-of-the-system-1', disk: 'hash-of-the-disk-001', mac: 'hash-of-the-card-001' },
}
const open = (
  more: Partial<Pick<ClientOptions, 'deviceName' | 'identity' | 'machineHash' | 'storage'>> = {},
) =>
  createClient({
    baseUrl,
    tenantId: tenant.tenantId,
    productId: 'editor',
    sdkKey,
    storage: memoryStorage(),
    clock: device.clock,
    fetch(url, init) {
      const body = init.body === undefined ? undefined : (JSON.parse(init.body) as unknown)
      sent.push({ call: new URL(url).pathname.split('/').at(-1), body })
      return device.fetch(url, init)
    },
    ...more,
  })
const make = async (keyTypeId: string) =>
  (await mint(api.ask, tenant.token, 'editor', { keyTypeId })).licenseKey
const Named = z.object({ instance_id: z.string() })
/** The instance that an app validates: the one that it has got. */
async function instanceOf(client: ReturnType<typeof open>): Promise<string> {
  expect(await device.settle(client.validate())).toMatchObject({ ok: true, state: { status: 'licensed' } })
  return Named.parse(sent.findLast(({ call }) => call === 'validate')?.body).instance_id
}

test('a device that was renamed and has lost its storage keeps its seat', async () => {
  const licenseKey = await make('one')
  const before = open({ deviceName: 'Old name', identity: () => laptop })
  expect(await device.settle(before.activate(licenseKey))).toMatchObject({ ok: true })
  const after = open({ deviceName: 'New name', identity: async () => laptop })
  expect(await device.settle(after.activate(licenseKey))).toMatchObject({ ok: true })
  expect(await instanceOf(after)).toBe(await instanceOf(before))
})

test('a device with a new machine hash keeps its seat by most of its components', async () => {
  const licenseKey = await make('one')
  const before = open({ identity: () => laptop })
  expect(await device.settle(before.activate(licenseKey))).toMatchObject({ ok: true })
  const changed = { ...laptop.device, disk: 'hash-of-a-new-disk-1' }
  const after = open({ identity: () => ({ machineHash: 'hash-of-the-machine-2', device: changed }) })
  expect(await device.settle(after.activate(licenseKey))).toMatchObject({ ok: true })
  expect(await instanceOf(after)).toBe(await instanceOf(before))
})

test('an app that identifies its device since an update is known after its next validate', async () => {
  const licenseKey = await make('one')
  const storage = memoryStorage()
  const before = open({ storage })
  expect(await device.settle(before.activate(licenseKey))).toMatchObject({ ok: true })
  const instanceId = await instanceOf(open({ storage, identity: () => laptop }))
  await api.ledger.ports.machineReports.flush()
  const reinstalled = open({ deviceName: 'New name', identity: () => laptop })
  expect(await device.settle(reinstalled.activate(licenseKey))).toMatchObject({ ok: true })
  expect(await instanceOf(reinstalled)).toBe(instanceId)
})

test('two devices with one name have two seats, and a third has none', async () => {
  const licenseKey = await make('two')
  const [one, other, third] = [1, 2, 3].map(() => open({ deviceName: 'MacBook' }))
  if (!one || !other || !third) throw new Error('three devices')
  expect(await device.settle(one.activate(licenseKey))).toMatchObject({ ok: true })
  expect(await device.settle(other.activate(licenseKey))).toMatchObject({ ok: true })
  expect(await instanceOf(other)).not.toBe(await instanceOf(one))
  const refused = { ok: false, problem: { code: 'seat_limit_reached' } }
  expect(await device.settle(third.activate(licenseKey))).toMatchObject(refused)
})

test('each call says what it can: the machine, its components, and the instance that the app still has', async () => {
  const places: unknown[] = []
  const client = open({
    identity(place) {
      places.push(place)
      return laptop
    },
  })
  expect(await device.settle(client.startTrial())).toMatchObject({ ok: true })
  const licenseKey = await make('one')
  await device.settle(client.activate(licenseKey))
  const instanceId = await instanceOf(client)
  await device.settle(client.activate(licenseKey))
  await device.settle(client.deactivate())
  await device.settle(client.activate(licenseKey))
  const [machine, whole] = [
    { machine_hash: laptop.machineHash },
    { machine_hash: laptop.machineHash, device: laptop.device },
  ]
  const identityIn = (body: unknown) => {
    const { machine_hash, device, instance_id } = z
      .object({ machine_hash: z.unknown(), device: z.unknown(), instance_id: z.unknown() })
      .partial()
      .parse(body)
    return JSON.parse(JSON.stringify({ machine_hash, device, instance_id })) as unknown
  }
  const told = sent
    .filter(({ body }) => body !== undefined)
    .map(({ call, body }) => ({ call, said: identityIn(body) }))
  expect(told).toStrictEqual([
    {
      call: 'keyless',
      said: { ...machine, instance_id: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown },
    },
    { call: 'activate', said: whole },
    { call: 'validate', said: { ...whole, instance_id: instanceId } },
    { call: 'activate', said: { ...whole, instance_id: instanceId } },
    { call: 'deactivate', said: { instance_id: instanceId } },
    { call: 'activate', said: whole },
  ])
  expect(places[0]).toStrictEqual({ tenantId: tenant.tenantId, productId: 'editor' })
})

test('the option machineHash comes before the identity', async () => {
  await device.settle(
    open({ machineHash: 'my-own-machine-hash', identity: () => laptop }).activate(await make('one')),
  )
  expect(sent[0]).toMatchObject({
    call: 'activate',
    body: { machine_hash: 'my-own-machine-hash', device: laptop.device },
  })
})

test.each([
  ['throws', () => Promise.reject(new Error('no such program'))],
  ['is no hash', () => ({ machineHash: '', device: { disk: 'WD-42 é', os: undefined } })],
])('an identity that %s is left out, and the app is activated', async (_, identity) => {
  const outcome = await device.settle(
    open({ identity: identity as () => DeviceIdentity }).activate(await make('one')),
  )
  expect(outcome).toMatchObject({ ok: true, state: { status: 'licensed' } })
  expect(sent[0]?.body).not.toHaveProperty('machine_hash')
})
