// Guarantee: relays and devices that race over two servers never get more seats than the license has, and a server that is killed
// between its writes leaves a relay that the same request finds.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import { createHost, type Server, type Stores } from '../harness/process.ts'
import { testRelay } from '../signing/test-relay.ts'
import { type Answer, type Client, client, createVendor, productId } from './vendor.ts'

const host = createHost()
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

const limit = 12
const place = { tenantId: 'acme', productId }

test('20 relays and 20 devices race for 12 seats on two servers', async () => {
  const { clients, stores, license } = await vendorWithRelays()
  const relays = Array.from({ length: 20 }, (_, index) =>
    testRelay(place, license.licenseKey, { seats: 1 + (index % 4), name: `Relay ${index}` }),
  )
  const path = `/v1/licenses/${license.licenseId}/relays`
  const answers = await Promise.all(
    relays.map(async (relay, index) => {
      const request = relay.request()
      const [one, other] = [clients[index % 2], clients[(index + 1) % 2]]
      if (!one || !other) throw new Error('no client')
      // The same request goes to both servers at once; then a device takes a seat that is left.
      const certified = await Promise.all(
        [one, other].map((each) => untilAnswered(() => each.send('POST', path, { request }))),
      )
      return [...certified, await untilAnswered(() => one.activate(license.licenseKey, `device-${index}`))]
    }),
  ).then((each) => each.flat())
  expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200, 201, 409]))
  const certificates = answers.flatMap(({ status, body }) => (status === 201 ? [Made.parse(body)] : []))
  const ofRelay = Map.groupBy(certificates, ({ relay }) => relay.relayId)
  // Each relay was answered twice with the same certificate, or, when it was full for one of them, once.
  for (const same of ofRelay.values())
    expect(new Set(same.map(({ answer }) => answer.certificate)).size).toBe(1)
  const events = await eventsOf(stores, license.licenseId)
  const enrolled = events.flatMap((event) => (event.type === 'RelayEnrolled' ? [event.data] : []))
  expect(new Set(enrolled.map(({ publicKey }) => publicKey)).size).toBe(enrolled.length)
  expect(events.filter(({ type }) => type === 'RelayRenewed')).toHaveLength(0)
  const devices = events.filter(({ type }) => type === 'DeviceActivated').length
  const inRelays = enrolled.reduce((sum, { seats }) => sum + seats, 0)
  // None was free for anyone at the end, as devices take one each.
  expect(devices + inRelays).toBe(limit)
  expect(enrolled.length).toBeGreaterThan(0)
})

test('a server that is killed after a relay was recorded and before its usage leaves it to the same request', async () => {
  const { clients, servers, stores, db, license } = await vendorWithRelays()
  const [first, second] = clients
  const relay = testRelay(place, license.licenseKey)
  const minute = Math.floor(Date.now() / 60_000) - 1
  relay.report([minute, 2, 3, 0])
  const request = relay.request()
  const path = `/v1/licenses/${license.licenseId}/relays`
  const holder = await db.connect()
  await holder.query('select pg_advisory_lock(4711)')
  await db.query(`create function hold_minutes() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(4711); return new; end $$`)
  await db.query(
    'create trigger hold before insert on usage.relay_minutes for each row execute function hold_minutes()',
  )
  const cutOff = first.send('POST', path, { request }).catch(() => undefined)
  await expect.poll(() => eventsOf(stores, license.licenseId)).toHaveLength(2)
  await servers[0].end('SIGKILL')
  expect(await cutOff).toBeUndefined()
  await db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
  )
  await db.query('drop function hold_minutes cascade')
  await holder.query('select pg_advisory_unlock(4711)')
  holder.release()

  const again = await untilAnswered(() => second.send('POST', path, { request }))
  expect(again).toMatchObject({ status: 201, body: { relay: { state: 'living', seatsTaken: 2 } } })
  const events = await eventsOf(stores, license.licenseId)
  expect(events.map(({ type }) => type)).toStrictEqual(['LicenseMinted', 'RelayEnrolled'])
  const { rows } = await db.query('select minute, peak, taken, denied from usage.relay_minutes')
  expect(rows).toStrictEqual([{ minute, peak: 2, taken: 3, denied: 0 }])
})

const Made = z.object({
  relay: z.looseObject({ relayId: z.string() }),
  answer: z.looseObject({ certificate: z.string() }),
})

async function vendorWithRelays() {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const [one, two] = await Promise.all([host.serve(stores.environment), host.serve(stores.environment)])
  const servers: [Server, Server] = [one, two]
  const clients: [Client, Client] = [client(one.address, token), client(two.address, token)]
  const [first] = clients
  await first.createProduct(1)
  const keyType = {
    name: 'Floating',
    deviceLimit: limit,
    seatPolicy: 'floating',
    floatingSeats: { seatSeconds: 3600, overdraft: null, scope: 'device', relays: { maxDays: 30 } },
  }
  expect((await first.send('POST', `/v1/products/${productId}/key-types`, keyType)).status).toBe(201)
  const license = await first.mint({ keyTypeId: 'floating' })
  const db = createPool(stores.databaseUrl)
  closing.push(() => db.end())
  return { clients, servers, stores, db, license }
}

async function eventsOf({ eventstoreUrl }: Stores, licenseId: string): Promise<LicenseEvent[]> {
  const ledger = connectLedger(eventstoreUrl)
  try {
    const events: LicenseEvent[] = []
    for await (const entry of ledger.readStream(licenseStream(licenseId))) {
      if (!entry.readable || entry.category !== 'license') throw new Error('an event cannot be read')
      events.push(entry.event)
    }
    return events
  } finally {
    await ledger.close()
  }
}

/** A server on a busy machine says 503; a request of a relay and an activation may be repeated. */
async function untilAnswered(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503) return answer
    await sleep(500)
  }
}
