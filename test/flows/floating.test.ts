// Guarantee: never more floating seats are taken at once than the limit with its overdraft, whatever races, runs out or is killed,
// and a seat whose taking was cut off is neither lost nor given twice.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { createPool } from '../../projections/database/pool.ts'
import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import type { FloatingSeats } from '../../src/domain/products/key-type.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { createHost, type Server, type Stores } from '../harness/process.ts'
import { type Answer, type Client, client, createVendor, productId } from './vendor.ts'

const host = createHost()
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

const limit = 3
const overdraft = 2
const devices = 40
const rounds = 6

test('40 devices race for 5 seats on two servers, while seats run out and their devices call', async () => {
  const { clients, stores, db, license } = await vendorWithSeats({
    deviceLimit: limit,
    overdraft: { seats: overdraft },
  })
  const racing = new AbortController()
  const ending = (async () => {
    while (!racing.signal.aborted) {
      // Some seats at random; without a fresh note, that would be an outage.
      await db.query(
        `update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second'
         where license_id = $1 and not ended and random() < 0.5`,
        [license.licenseId],
      )
      await sleep(20)
    }
  })()
  const answers = await Promise.all(
    Array.from({ length: devices }, async (_, device) => {
      const own: Answer[] = []
      for (let round = 0; round < rounds; round++) {
        const chosen = clients[(device + round) % 2]
        if (!chosen) throw new Error('no client')
        own.push(await untilAnswered(() => chosen.activate(license.licenseKey, `device-${device}`)))
        own.push(await untilAnswered(() => chosen.validate(license.licenseKey, `device-${device}`)))
      }
      return own
    }),
  )
  racing.abort()
  await ending
  const statuses = new Set(answers.flat().map(({ body }) => body.status))
  expect(
    [...statuses].filter((status) => !['active', 'inactive', 'seat_limit_reached'].includes(String(status))),
  ).toStrictEqual([])

  const events = await eventsOf(stores, license.licenseId)
  const { most, fences, ranOut } = counted(events)
  expect(most).toBeLessThanOrEqual(limit + overdraft)
  expect(fences).toStrictEqual(Array.from(fences, (_, index) => index + 1))
  // Otherwise no seat ran out, and the race proves nothing.
  expect(ranOut).toBeGreaterThan(devices / 2)
})

test('a server that is killed after a seat was recorded and before it had an end leaves it to its device', async () => {
  const { clients, servers, stores, db, license } = await vendorWithSeats({ deviceLimit: 1, overdraft: null })
  const [first, second] = clients
  const killed = await killedBeforeAnEnd(
    'insert',
    db,
    servers[0],
    () => first.activate(license.licenseKey, 'a'),
    () => expect.poll(() => eventsOf(stores, license.licenseId)).toHaveLength(2),
  )
  expect(killed).toBeUndefined()

  const other = await untilAnswered(() => second.activate(license.licenseKey, 'b'))
  expect(other.body).toMatchObject({ activated: false, status: 'seat_limit_reached' })
  const kept = await untilAnswered(() => second.validate(license.licenseKey, 'a'))
  expect(kept.body).toMatchObject({ valid: true, seat: { id: 'a', fence: 1 } })
  expect(counted(await eventsOf(stores, license.licenseId))).toStrictEqual({
    most: 1,
    fences: [1],
    ranOut: 0,
  })
})

test('a server that is killed after a seat was borrowed and before it had an end leaves it to its device', async () => {
  const { clients, servers, stores, db, license } = await vendorWithSeats({
    deviceLimit: 1,
    overdraft: null,
    maxBorrowDays: 10,
    maxBorrowed: 1,
  })
  const [first, second] = clients
  const { licenseId, licenseKey } = license
  expect((await first.activate(licenseKey, 'a')).body).toMatchObject({ activated: true })
  const { text: request } = await laptop('a').createOfflineRequest(licenseKey)
  const borrow = (from: Client) => from.send('POST', `/v1/licenses/${licenseId}/files`, { request })
  const recorded = async () => (await eventsOf(stores, licenseId)).map(({ type }) => type)
  const killed = await killedBeforeAnEnd(
    'update',
    db,
    servers[0],
    () => borrow(first),
    () => expect.poll(recorded).toContain('LicenseFileIssued'),
  )
  expect(killed).toBeUndefined()

  await db.query(`update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second'`)
  await db.query('update usage.seats_kept set kept_at = clock_timestamp()')
  const other = await untilAnswered(() => second.activate(licenseKey, 'b'))
  expect(other.body).toMatchObject({ activated: false, status: 'seat_limit_reached' })
  const { status, body } = await untilAnswered(() => borrow(second))
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await recorded()).toStrictEqual([
    'LicenseMinted',
    'DeviceActivated',
    'DeviceIdentified',
    'LicenseFileIssued',
    // The other device found no seat.
    'SeatsExhausted',
  ])
  const ends = await db.query<{ days: number }>(
    `select extract(day from ends_at - clock_timestamp())::int as days from usage.seat_ends`,
  )
  expect(ends.rows).toStrictEqual([{ days: 9 }])
})

test('a seat that ran out is recorded as free without another call', async () => {
  const { clients, stores, db, license } = await vendorWithSeats({ deviceLimit: 1, overdraft: null })
  await untilAnswered(() => clients[0].activate(license.licenseKey, 'a'))
  await db.query(`update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second'`)
  await expect
    .poll(async () => counted(await eventsOf(stores, license.licenseId)).ranOut, { timeout: 60_000 })
    .toBe(1)
})

/** An app on a machine that makes requests without a network. */
const laptop = (deviceName: string) =>
  createClient({
    tenantId: 'acme',
    productId,
    keys: {},
    storage: memoryStorage(),
    deviceName,
    identity: () => ({ machineHash: 'a-hash-of-this-machine' }),
  })

/**
 * Asks a server, and kills it once the seat is recorded, while the write of its end is held up.
 * @returns what the call was answered; undefined when the kill cut it off
 */
async function killedBeforeAnEnd(
  write: 'insert' | 'update',
  db: Pool,
  server: Server,
  ask: () => Promise<Answer>,
  untilRecorded: () => PromiseLike<unknown>,
): Promise<Answer | undefined> {
  const holder = await db.connect()
  await holder.query('select pg_advisory_lock(4711)')
  await db.query(`create function hold_end() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(4711); return new; end $$`)
  await db.query(
    `create trigger hold before ${write} on usage.seat_ends for each row execute function hold_end()`,
  )
  const cutOff = ask().catch(() => undefined)
  await untilRecorded()
  await server.end('SIGKILL')
  const answer = await cutOff
  await db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
  )
  await db.query('drop function hold_end cascade')
  await holder.query('select pg_advisory_unlock(4711)')
  holder.release()
  return answer
}

type Seats = Pick<FloatingSeats, 'overdraft' | 'maxBorrowDays' | 'maxBorrowed'> & { deviceLimit: number }

async function vendorWithSeats(seats: Seats) {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const [one, two] = await Promise.all([host.serve(stores.environment), host.serve(stores.environment)])
  const servers: [Server, Server] = [one, two]
  const clients: [Client, Client] = [client(one.address, token), client(two.address, token)]
  const [first] = clients
  await first.createProduct(1)
  const { deviceLimit, ...own } = seats
  const keyType = {
    name: 'Floating',
    deviceLimit,
    seatPolicy: 'floating',
    floatingSeats: { seatSeconds: 60, scope: 'device', ...own },
  }
  expect((await first.send('POST', `/v1/products/${productId}/key-types`, keyType)).status).toBe(201)
  const license = await first.mint({ keyTypeId: 'floating' })
  const db = createPool(stores.databaseUrl)
  closing.push(() => db.end())
  return { clients, servers, stores, db, license }
}

/** How many seats were taken at most at once, their fences in order, and how many ran out. */
function counted(events: readonly LicenseEvent[]) {
  const taken = new Set<string>()
  const fences: (number | undefined)[] = []
  let most = 0
  let ranOut = 0
  for (const event of events) {
    if (event.type === 'DeviceActivated') {
      expect(taken).not.toContain(event.data.deviceId)
      taken.add(event.data.deviceId)
      fences.push(event.data.fence)
    }
    if (event.type === 'DeviceDeactivated') {
      taken.delete(event.data.deviceId)
      if (event.data.ranOut) ranOut++
    }
    most = Math.max(most, taken.size)
  }
  return { most, fences, ranOut }
}

/** A server on a busy machine says 503; an activation and a validate may be repeated. */
async function untilAnswered(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503) return answer
    await sleep(500)
  }
}

async function eventsOf({ eventstoreUrl }: Stores, licenseId: string): Promise<LicenseEvent[]> {
  const ledger = connectLedger(eventstoreUrl)
  try {
    const events: LicenseEvent[] = []
    for await (const entry of ledger.readStream(licenseStream(licenseId))) {
      if (!entry.readable) throw new Error(`unreadable ${entry.type}`)
      events.push(entry.event as LicenseEvent)
    }
    return events
  } finally {
    await ledger.close()
  }
}
