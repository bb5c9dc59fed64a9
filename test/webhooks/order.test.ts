/**
 * Guarantee: the events of one license reach an endpoint in order, unless it wants them as fast as possible. A license
 * whose event cannot be delivered holds back its own later events alone, until that event is delivered or abandoned.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { countDeliveries } from '../../projections/deliveries/counts.ts'
import { changeEndpoint } from '../../src/commands/webhook-endpoints.ts'
import { runReplays } from '../../src/reactions/replays.ts'
import type { DispatchFeed } from '../../src/webhooks/feed.ts'
import { createLocalFeed } from '../../src/webhooks/local-feed.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import {
  addTestEndpoint,
  pointWebhook,
  sellLicense,
  startDispatch,
  type TestDispatch,
} from '../harness/dispatch.ts'
import { beginning, commandLicense, origin } from '../harness/ledger.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'

const Body = z.looseObject({
  id: z.string(),
  tenant_id: z.string(),
  license_id: z.string(),
  sequence: z.int().nullable(),
})
const Delivery = z.looseObject({
  id: z.string(),
  sequence: z.int(),
  status: z.string(),
  attempts: z.array(z.unknown()),
  waitsFor: z.string().nullable(),
})

let api: TestApi
let tenant: TestTenant
let receiver: StandIn
let running: TestDispatch[]
/** Decides which requests the receiver refuses, by their path and body. */
let isRefused: (path: string, body: z.infer<typeof Body>) => boolean
beforeAll(async () => {
  api = await openTestApi()
  receiver = await startStandIn(({ path, body }) => ({
    status: isRefused(path, Body.parse(JSON.parse(body))) ? 500 : 200,
    body: {},
  }))
})
afterAll(async () => {
  await receiver.close()
  await api.close()
})
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  receiver.asked.length = 0
  isRefused = () => false
  running = []
  tenant = await makeTenant(api.ledger)
})
afterEach(async () => {
  for (const dispatch of running) await dispatch.stop()
  expect(running.flatMap(({ failures }) => failures)).toStrictEqual([])
})

const mail = { deliver: async () => ({ outcome: 'unwanted' }) as const }
const dispatch = async (feed?: DispatchFeed): Promise<TestDispatch> => {
  const started = await startDispatch(api.ledger, {
    channels: { mail },
    lostAfterMs: 500,
    ...(feed && { feed }),
  })
  running.push(started)
  return started
}
const point = () => pointWebhook(api.ledger, tenant.tenantId, `${receiver.url}/ordered`)
const sell = async () => (await sellLicense(api.ledger, tenant.tenantId)).licenseId
const activate = (licenseId: string, deviceId = 'laptop') =>
  commandLicense(api.ledger, licenseId, {
    type: 'ActivateDevice',
    deviceId,
    instanceId: `ins_${deviceId}`,
    installId: null,
    name: deviceId,
    platform: null,
    at: beginning,
  })
const revoke = (licenseId: string) =>
  commandLicense(api.ledger, licenseId, { type: 'RevokeLicense', reason: null, at: beginning })
/** Sells a license, activates a device and revokes it: three events. */
async function three(): Promise<string> {
  const licenseId = await sell()
  await activate(licenseId)
  await revoke(licenseId)
  return licenseId
}
const minutesLater = (minutes: number) => api.ledger.clock.advance(minutes * 60_000)

const requests = () =>
  receiver.asked
    .map(({ path, body }) => ({ path, ...Body.parse(JSON.parse(body)) }))
    .filter(({ tenant_id }) => tenant_id === tenant.tenantId)
/** The numbers of a license's events at a path, in the order in which they arrived. */
const arrived = (licenseId: string, path = '/ordered') =>
  requests()
    .filter((one) => one.license_id === licenseId && one.path === path)
    .map(({ sequence }) => sequence)
const arrive = (licenseId: string, sequences: (number | null)[], path = '/ordered') =>
  expect.poll(() => arrived(licenseId, path)).toStrictEqual(sequences)

const ask = (method: 'GET' | 'POST', url: string, body?: unknown) =>
  api.ask(method, url, { token: tenant.token, ...(body !== undefined && { body }) })
/** The deliveries of a license to the first endpoint, by number. */
async function deliveriesOf(licenseId: string): Promise<z.infer<typeof Delivery>[]> {
  const { body } = await ask('GET', `/v1/webhook/deliveries?endpoint=first&license=${licenseId}`)
  const { items } = z.looseObject({ items: z.array(Delivery) }).parse(body)
  return items.toSorted((one, other) => one.sequence - other.sequence)
}
const scheduled = (licenseId: string, count: number) =>
  expect.poll(async () => (await deliveriesOf(licenseId)).length).toBe(count)
const redeliver = (id: string | undefined) => ask('POST', `/v1/webhook/deliveries/${id}/redeliver`)

test('a license whose first event is refused waits with its others, and no other license waits', async () => {
  await point()
  await dispatch()
  let stuck = ''
  isRefused = (_, { license_id }) => license_id === stuck
  stuck = await sell()
  await activate(stuck)
  await revoke(stuck)
  const free = await three()
  await arrive(free, [1, 2, 3])
  await scheduled(stuck, 3)
  await expect.poll(async () => (await deliveriesOf(stuck))[0]?.attempts).toHaveLength(1)
  const [first, second, third] = await deliveriesOf(stuck)
  expect(first).toMatchObject({ status: 'pending', waitsFor: null })
  expect(second).toMatchObject({ status: 'pending', attempts: [], waitsFor: first?.id })
  expect(third).toMatchObject({ status: 'pending', attempts: [], waitsFor: second?.id })
  expect((await ask('GET', `/v1/webhook/deliveries/${third?.id}`)).body).toMatchObject({
    delivery: { waitsFor: second?.id },
  })
  expect(arrived(stuck)).toStrictEqual([1])
  // None of them is late: one waits for its next attempt, the others for that one.
  const { db, ports } = api.ledger
  const now = ports.now().toISOString()
  await expect
    .poll(() => countDeliveries(db, tenant.tenantId, { now, since: now }))
    .toMatchObject({ pending: 3, failing: 1, due: 0, oldestDueAt: null })

  isRefused = () => false
  minutesLater(1)
  await arrive(stuck, [1, 1, 2, 3])
  await expect
    .poll(async () => (await deliveriesOf(stuck)).map(({ status, waitsFor }) => [status, waitsFor]))
    .toStrictEqual(Array.from({ length: 3 }, () => ['delivered', null]))
})

test('an endpoint that wants speed gets later events first, and another endpoint is not affected', async () => {
  await point()
  const { tenantId } = tenant
  const fast = await addTestEndpoint(api.ledger, tenantId, `${receiver.url}/fast`, undefined, 'none')
  const whole = await addTestEndpoint(api.ledger, tenantId, `${receiver.url}/whole`)
  await dispatch()
  isRefused = (path, { sequence }) => path !== '/whole' && sequence === 1
  const licenseId = await three()
  await arrive(licenseId, [1, 2, 3], '/whole')
  await expect.poll(() => arrived(licenseId, '/fast').toSorted()).toStrictEqual([1, 2, 3])
  await scheduled(licenseId, 3)
  expect(arrived(licenseId)).toStrictEqual([1])
  const { body } = await ask('GET', `/v1/webhook/deliveries?endpoint=${fast.endpointId}&status=pending`)
  expect(body).toMatchObject({ items: [{ sequence: 1, waitsFor: null }] })

  // The choice also counts for what waits already.
  const { ports } = api.ledger
  const change = (endpointId: string, ordering: 'license' | 'none') =>
    changeEndpoint(ports, tenantId, endpointId, { ordering }, ports.newId('req'), origin)
  await change('first', 'none')
  await expect.poll(() => arrived(licenseId).toSorted()).toStrictEqual([1, 2, 3])
  await change(whole.endpointId, 'none')
  await change(whole.endpointId, 'license')
  isRefused = () => false
  const next = await three()
  await arrive(next, [1, 2, 3], '/whole')
})

test('an event that is abandoned lets the next one go', async () => {
  await point()
  await dispatch()
  isRefused = (_, { sequence }) => sequence === 1
  const licenseId = await three()
  for (const pause of [1, 5, 30]) {
    const { length } = arrived(licenseId)
    await expect.poll(async () => (await deliveriesOf(licenseId))[0]?.attempts).toHaveLength(length)
    expect(new Set(arrived(licenseId))).toStrictEqual(new Set([1]))
    minutesLater(pause)
    await expect.poll(() => arrived(licenseId).length).toBeGreaterThan(length)
  }
  await arrive(licenseId, [1, 1, 1, 1, 2, 3])
  await expect
    .poll(async () => (await deliveriesOf(licenseId)).map(({ status }) => status))
    .toStrictEqual(['abandoned', 'delivered', 'delivered'])
})

test('a redelivery of one that waits goes at once, and those after it wait for it as before', async () => {
  await point()
  await dispatch()
  isRefused = () => true
  const licenseId = await three()
  await scheduled(licenseId, 3)
  await expect.poll(async () => (await deliveriesOf(licenseId))[0]?.attempts).toHaveLength(1)
  const [first, second, third] = await deliveriesOf(licenseId)
  expect(await redeliver(second?.id)).toMatchObject({ status: 202, body: { delivery: { waitsFor: null } } })
  await arrive(licenseId, [1, 2])
  await redeliver(first?.id)
  await arrive(licenseId, [1, 2, 1])
  expect(await deliveriesOf(licenseId)).toMatchObject([
    { waitsFor: null },
    { waitsFor: null },
    { id: third?.id, attempts: [], waitsFor: second?.id },
  ])
  isRefused = () => false
  minutesLater(1)
  await expect.poll(() => arrived(licenseId)).toHaveLength(6)
  expect(arrived(licenseId).at(-1)).toBe(3)
})

test('what has ended once is repeated beside the others: it waits for none, and none waits for it', async () => {
  await point()
  await dispatch()
  const licenseId = await sell()
  await arrive(licenseId, [1])
  await expect.poll(async () => (await deliveriesOf(licenseId))[0]?.status).toBe('delivered')
  let refused = new Set([1])
  isRefused = (_, { sequence }) => refused.has(sequence ?? 0)
  await redeliver((await deliveriesOf(licenseId))[0]?.id)
  await arrive(licenseId, [1, 1])
  await activate(licenseId)
  await arrive(licenseId, [1, 1, 2])
  await expect.poll(async () => (await deliveriesOf(licenseId))[1]?.status).toBe('delivered')

  refused = new Set([3])
  await revoke(licenseId)
  await arrive(licenseId, [1, 1, 2, 3])
  minutesLater(1)
  await expect.poll(async () => (await deliveriesOf(licenseId))[0]?.status).toBe('delivered')
  await redeliver((await deliveriesOf(licenseId))[1]?.id)
  await expect.poll(() => arrived(licenseId).filter((sequence) => sequence === 2)).toHaveLength(2)
})

test('a replay goes on while a license waits with more events than it may have pending', async () => {
  const old = await sell()
  api.ledger.clock.advance(1000)
  const to = api.ledger.ports.now().toISOString()
  await point()
  await dispatch()
  const stuck = await sell()
  isRefused = (_, { license_id }) => license_id === stuck
  for (let n = 0; n < 10; n++) {
    await activate(stuck)
    await commandLicense(api.ledger, stuck, { type: 'DeactivateDevice', deviceId: 'laptop', at: beginning })
  }
  await scheduled(stuck, 21)
  const asked = await ask('POST', '/v1/webhook/replays', { from: beginning, to, only: 'all' })
  expect(asked.status).toBe(202)
  const replaying = runReplays(api.ledger.ports, ({ error }) => {
    throw error
  })
  await replaying.poll()
  await arrive(old, [null])
  expect(new Set(arrived(stuck))).toStrictEqual(new Set([1]))
})

test('when a dispatcher ends between an event and the next, the next dispatcher finds it', async () => {
  await point()
  const local = createLocalFeed({ pauseMs: 50 })
  let only: string | undefined
  const ending: DispatchFeed = {
    ...local,
    // Nothing of the license is published after its first delivery.
    publish: (jobs) =>
      local.publish(
        jobs.filter(({ tenantId, channel, deliveryId }) => {
          if (tenantId !== tenant.tenantId || channel !== 'webhook') return false
          only ??= deliveryId
          return only === deliveryId
        }),
      ),
  }
  const licenseId = await three()
  const first = await dispatch(ending)
  await scheduled(licenseId, 3)
  await expect.poll(async () => (await deliveriesOf(licenseId))[0]?.status).toBe('delivered')
  await first.stop()
  expect(arrived(licenseId)).toStrictEqual([1])
  await dispatch()
  await arrive(licenseId, [1, 2, 3])
})

test('two dispatchers that race keep the order of every license, whatever the receiver refuses', async () => {
  await point()
  // Both publish and attempt every delivery.
  await Promise.all([dispatch(), dispatch()])
  const seen = new Map<string, number>()
  const refusals = [0, 2, 1, 0, 1]
  isRefused = (_, { id, sequence }) => {
    const times = (seen.get(id) ?? 0) + 1
    seen.set(id, times)
    return times <= (refusals[(sequence ?? 0) % refusals.length] ?? 0)
  }
  const licenses = await Promise.all(Array.from({ length: 8 }, sell))
  for (let device = 0; device < 5; device++)
    await Promise.all(licenses.map((licenseId) => activate(licenseId, `device-${device}`)))
  const firsts = (licenseId: string) => [...new Set(arrived(licenseId))]
  await expect
    .poll(
      () => {
        minutesLater(30)
        return licenses.map((licenseId) => firsts(licenseId).length)
      },
      { interval: 200 },
    )
    .toStrictEqual(licenses.map(() => 6))
  for (const licenseId of licenses) expect(firsts(licenseId)).toStrictEqual([1, 2, 3, 4, 5, 6])
})
