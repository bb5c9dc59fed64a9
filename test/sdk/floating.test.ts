/**
 * Guarantee: a running app takes a floating seat, keeps it, gives it back and takes it again by itself: from the first relay that
 * has one, else from its vendor's server. It believes only what the tenant's keys stand behind, and uses no seat after its end.
 */
import { beforeEach, expect, test } from 'vitest'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { licenseKeyHash } from '../../src/sdk/javascript/index.ts'
import { createDevice, type Device } from './device.ts'
import { certified, createSigners, leased, place } from './signed-by-relay.ts'

const beginning = Date.parse('2026-11-27T09:30:00.000Z')
const key = 'ACME-1'
const keyHash = licenseKeyHash(key)
const seatSeconds = 600
const relayAt = 'http://relay.lan:8090'
const vendorAt = 'https://licenses.example.com'

type Body = { instance_id?: string; fence?: number; user_id?: string }

/** Gives seats like a server, each for one period. */
function createGiver(signers: ReturnType<typeof createSigners>, seats: number, isRelay: boolean) {
  const taken = new Map<string, { fence: number; endsAt: number }>()
  let fences = 0
  const giver = {
    seats,
    isUp: true,
    asked: [] as { call: string; body: Body }[],
    taken: () => [...taken.values()].filter(({ endsAt }) => endsAt > now()).length,
    /** Another device gets the seat. */
    loseAll: () => taken.clear(),
    answer(call: string, body: Body) {
      giver.asked.push({ call, body })
      if (call === 'service-keys') return { status: 200, body: { keys: isRelay ? {} : signers.keys } }
      if (call === 'config') return { status: 200, body: { free_tier_enabled: false } }
      const id = body.instance_id ?? ''
      const seat = taken.get(id)
      const isLiving = seat !== undefined && seat.endsAt > now() && seat.fence === (body.fence ?? seat.fence)
      if (call === 'deactivate') {
        if (isLiving) taken.delete(id)
        return { status: 200, body: { deactivated: true } }
      }
      if (call === 'validate' && !isLiving) {
        const refusal = isRelay ? {} : { refusal: signers.refusal(now(), keyHash, id, 'inactive') }
        return { status: 422, body: { error: 'this seat ran out', reason: 'seat_lost', ...refusal } }
      }
      if (call === 'activate' && !isLiving && giver.taken() >= giver.seats) {
        const full = {
          error: 'all seats are taken',
          reason: 'seat_limit_reached',
          retry_after: 90,
          waiting: 3,
        }
        return { status: 422, body: full }
      }
      const instanceId = isLiving ? id : `ins_${isRelay ? 'relay' : 'vendor'}_${++fences}`
      const kept = { fence: isLiving ? seat.fence : fences, endsAt: now() + seatSeconds }
      taken.set(instanceId, kept)
      const claims = leased(now(), keyHash, { instanceId, seconds: seatSeconds })
      const lease2 = isRelay
        ? signers.lease(claims, signers.certificate(certified(now(), keyHash)))
        : signers.ownLease(claims)
      const { fence, endsAt } = kept
      const seatShown = { id: instanceId, fence, ends_at: endsAt }
      return {
        status: 200,
        body: { valid: true, activated: true, instance_id: instanceId, lease2, seat: seatShown },
      }
    },
  }
  return giver
}

let time: number
const now = () => Math.floor(time / 1000)
let device: Device
let signers: ReturnType<typeof createSigners>
let relay: ReturnType<typeof createGiver>
let vendor: ReturnType<typeof createGiver>
beforeEach(() => {
  time = beginning
  device = createDevice(
    {
      now: () => new Date(time),
      advance: (ms) => {
        time += ms
      },
    },
    () => new Set(),
  )
  signers = createSigners(place)
  relay = createGiver(signers, 1, true)
  vendor = createGiver(signers, 1, false)
})

const open = (more: object = {}) =>
  createClient({
    ...place,
    baseUrl: vendorAt,
    sdkKey: 'kl_sdk_1',
    relays: [relayAt],
    keys: signers.keys,
    storage: memoryStorage(),
    clock: device.clock,
    random: () => 0.5,
    async fetch(url, { body }) {
      const giver = url.startsWith(relayAt) ? relay : vendor
      if (!giver.isUp) throw new TypeError('fetch failed')
      const call = new URL(url).pathname.split('/').at(-1) ?? ''
      const answered = giver.answer(call, JSON.parse(body ?? '{}') as Body)
      return {
        status: answered.status,
        headers: new Headers(),
        text: async () => JSON.stringify(answered.body),
      }
    },
    ...more,
  })
const callsTo = (giver: typeof relay) => giver.asked.map(({ call }) => call)
const minutes = (count: number) => device.settle(device.wait(count * 60_000))

test('the relay is asked before the vendor, and keeps the seat that it gave', async () => {
  const client = open({ userId: 'ada' })
  const outcome = await device.settle(client.activate(key))
  expect(outcome).toMatchObject({
    ok: true,
    state: { status: 'licensed', entitlements: ['pro', 'projects'] },
  })
  expect(relay.asked[0]?.body.user_id).toBe('ada')
  await device.settle(client.validate())
  expect(callsTo(relay)).toStrictEqual(['activate', 'validate'])
  expect(relay.asked[1]?.body).toMatchObject({ instance_id: 'ins_relay_1', fence: 1 })
  expect(vendor.asked).toStrictEqual([])
})

test.each([
  ['is out of reach', () => (relay.isUp = false)],
  ['has no seat', () => (relay.seats = 0)],
])('a relay that %s is followed by the vendor', async (_, happen) => {
  happen()
  expect(await device.settle(open().activate(key))).toMatchObject({ ok: true, state: { status: 'licensed' } })
  expect(callsTo(vendor)).toStrictEqual(['activate'])
})

test('without a seat anywhere, who waits is told and for how long', async () => {
  relay.isUp = false
  vendor.seats = 0
  expect(await device.settle(open().activate(key))).toMatchObject({
    ok: false,
    problem: { code: 'seat_limit_reached', retryAfterMs: 90_000, waiting: 3 },
    state: { status: 'unlicensed' },
  })
})

test('a running app whose seat was freed takes another without a gap, and has none when none is free', async () => {
  const client = open({ relays: [] })
  await device.settle(client.activate(key))
  const states = new Set<string>()
  client.subscribe(({ status }) => states.add(status))
  await device.settle(client.start())
  vendor.loseAll()
  await minutes(6)
  expect([...states]).toStrictEqual(['licensed'])
  vendor.loseAll()
  vendor.seats = 0
  await minutes(6)
  expect(client.state()).toMatchObject({ status: 'revoked', reason: 'inactive' })
  vendor.seats = 1
  await minutes(3)
  expect(client.state().status).toBe('licensed')
  client.stop()
})

test('a running app keeps its seat for hours, and has it without a gap', async () => {
  const client = open()
  await device.settle(client.activate(key))
  const states = new Set<string>()
  client.subscribe(({ status }) => states.add(status))
  await device.settle(client.start())
  await minutes(180)
  expect([...states]).toStrictEqual(['licensed'])
  expect(relay.taken()).toBe(1)
  expect(callsTo(relay).filter((call) => call === 'activate')).toHaveLength(1)
  client.stop()
})

test('a relay that fails is given up before its lease ends, without a gap', async () => {
  const client = open()
  await device.settle(client.activate(key))
  const states = new Set<string>()
  client.subscribe(({ status }) => states.add(status))
  await device.settle(client.start())
  await minutes(2)
  relay.isUp = false
  await minutes(20)
  expect(vendor.taken()).toBe(1)
  expect([...states].toSorted()).toStrictEqual(['licensed', 'offline'])
  client.stop()
})

test('close gives the seat back and uses it no longer; the next start takes one again', async () => {
  const storage = memoryStorage()
  const client = open({ storage })
  await device.settle(client.activate(key))
  await device.settle(client.start())
  expect(await device.settle(client.close())).toMatchObject({ ok: true, state: { status: 'unlicensed' } })
  expect(relay.taken()).toBe(0)
  expect(relay.asked.at(-1)).toMatchObject({ call: 'deactivate', body: { fence: 1 } })
  const again = open({ storage })
  await device.settle(again.start())
  await minutes(1)
  expect(again.state().status).toBe('licensed')
  expect(relay.taken()).toBe(1)
  again.stop()
})

test('a seat that could not be given back is not used either, and runs out', async () => {
  const storage = memoryStorage()
  const client = open({ storage })
  await device.settle(client.activate(key))
  relay.isUp = false
  expect(await device.settle(client.close())).toMatchObject({ ok: false, problem: { code: 'offline' } })
  expect(client.state().status).toBe('unlicensed')
  await minutes(11)
  expect(relay.taken()).toBe(0)
})

test('a lease of a relay is good after a restart without any server, until the end of its seat', async () => {
  const storage = memoryStorage()
  await device.settle(open({ storage }).activate(key))
  relay.isUp = false
  vendor.isUp = false
  const client = open({ storage })
  expect(await device.settle(client.start())).toMatchObject({ status: 'licensed' })
  await minutes(11)
  expect(client.state()).toMatchObject({ status: 'expired', of: 'lease' })
  client.stop()
})

test('keys are never taken from a relay', async () => {
  relay.seats = 9
  const client = open({ keys: {}, baseUrl: undefined, sdkKey: undefined })
  const outcome = await device.settle(client.activate(key))
  expect(outcome).toMatchObject({ ok: false, problem: { code: 'not_genuine' } })
  expect(new Set(callsTo(relay))).toStrictEqual(new Set(['activate']))
})

test('relays are looked up anew with each taking, and a failure to find any leaves the vendor', async () => {
  const found = [[], [relayAt]]
  const client = open({ relays: async () => found.shift() ?? Promise.reject(new Error('no name server')) })
  await device.settle(client.activate(key))
  expect(callsTo(vendor)).toStrictEqual(['activate'])
  await device.settle(client.activate(key))
  expect(callsTo(relay)).toStrictEqual(['activate'])
  await device.settle(client.activate(key))
  expect(callsTo(vendor)).toStrictEqual(['activate', 'activate'])
})
