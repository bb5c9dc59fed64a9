// Guarantee: a request that is repeated with its Idempotency-Key is executed once and gets the same response, on
// any server, and at whichever step the first process was killed or stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import { createHost, type Server, type Stores } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createOperator } from './operator.ts'
import { type Client, client, createVendor, productId } from './vendor.ts'

const host = createHost()
/** Only roles that take no locks themselves, so that a waiting lock belongs to the tested request. */
const serve = (port?: number) =>
  host.serve(stores.environment, { roles: 'api', ...(port !== undefined && { port }) })
let stores: Stores
let token: string
let vendor: Client
/** Never killed: clients of a killed server use this one. */
let survivor: Server
let session: pg.Client

beforeAll(async () => {
  stores = await host.stores()
  token = await createVendor(stores.environment)
  survivor = await serve()
  vendor = client(survivor.address, token)
  await vendor.createProduct(2)
  session = new pg.Client({ connectionString: stores.databaseUrl })
  await session.connect()
  // Lets a test stop a process right where it stores its response.
  await session.query(`
    create function stop_at_the_answer() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${answerLock}); return new; end $$;
    create trigger stop_at_the_answer before update on vault.idempotency
      for each row when (new.reply is not null) execute function stop_at_the_answer()`)
})
afterAll(async () => {
  await session.end()
})

const answerLock = 4_711

type Request = { path: string; body: object }
type Answer = { status: number; text: string; replay: string | null; retryAfter: string | null }

async function send(address: string, key: string, { path, body }: Request): Promise<Answer> {
  const response = await fetch(address + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  })
  const { status, headers } = response
  return {
    status,
    text: await response.text(),
    replay: headers.get('idempotent-replay'),
    retryAfter: headers.get('retry-after'),
  }
}

/** A careful client: it retries while the first request is running. */
async function sendUntilAnswered(
  address: string,
  key: string,
  request: Request,
  everyMs = 50,
): Promise<Answer> {
  for (;;) {
    const answer = await send(address, key, request)
    if (answer.status !== 409) return answer
    expect(answer.retryAfter).toBe('1')
    await sleep(everyMs)
  }
}

const Minted = z.object({ license: z.object({ id: z.string() }), licenseKey: z.string() })

async function eventsOf(keep: (data: Record<string, unknown>) => boolean): Promise<string[]> {
  const operator = await createOperator(stores.environment)
  try {
    const log = await operator.readLog()
    return log.flatMap((entry) => (entry.readable && keep(entry.event.data) ? [entry.event.type] : []))
  } finally {
    await operator.close()
  }
}

test('64 concurrent mints with one key on two servers mint one license and get identical bodies', async () => {
  const other = await serve()
  const request = { path: '/v1/licenses', body: { productId, metadata: { race: 'racers' } } }
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, n) =>
      sendUntilAnswered(n % 2 === 0 ? survivor.address : other.address, 'one-for-all', request),
    ),
  )
  await other.end('SIGKILL')
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.map(({ status }) => status)).toStrictEqual(Array<number>(64).fill(201))
  expect(answers.filter(({ replay }) => replay === null)).toHaveLength(1)
  const raced = z.looseObject({ race: z.literal('racers') })
  expect(await eventsOf(({ metadata }) => raced.safeParse(metadata).success)).toStrictEqual(['LicenseMinted'])
})

/** A step at which a process can be stopped: the lock that the test holds for it, and how the process ends. */
type Step = {
  hold: (table: string) => string
  /** Selects the lock that the process then waits for. */
  wanted: (table: string) => string
  release: string
  kill: (server: Server) => Promise<unknown>
}

const kill = (server: Server) => server.end('SIGKILL')
const steps: Record<'reserved' | 'recorded' | 'not kept' | 'not sent', Step> = {
  // It looks something up or seals something before it records an event.
  reserved: {
    hold: (table) => `begin; lock table ${table} in access exclusive mode`,
    wanted: (table) => `relation = '${table}'::regclass`,
    release: 'rollback',
    kill,
  },
  // It waits until the read models have its events.
  recorded: {
    hold: () => `select pg_advisory_lock(${projectionLock})`,
    wanted: () => `objid = ${projectionLock}`,
    release: `select pg_advisory_unlock(${projectionLock})`,
    kill,
  },
  // It stores its response, and its connection is closed before that is done.
  'not kept': {
    hold: () => `select pg_advisory_lock(${answerLock})`,
    wanted: () => `objid = ${answerLock}`,
    release: `select pg_terminate_backend(pid, 5000) from pg_locks where objid = ${answerLock} and not granted;
              select pg_advisory_unlock(${answerLock})`,
    kill,
  },
  // It is stopped while the database stores its response, and killed before it learns the result.
  'not sent': {
    hold: () => `select pg_advisory_lock(${answerLock})`,
    wanted: () => `objid = ${answerLock}`,
    release: 'select',
    async kill(server) {
      server.child.kill('SIGSTOP')
      await session.query(`select pg_advisory_unlock(${answerLock})`)
      await expect.poll(openReservations).toBe(0)
      await kill(server)
    },
  },
}

/** Another process may take the lock first, before the request is reserved. */
const openReservations = async () =>
  (await session.query('select from vault.idempotency where reply is null')).rowCount

async function untilSomebodyWants(lock: string): Promise<void> {
  for (;;) {
    const { rowCount } = await session.query(`select from pg_locks where not granted and ${lock}`)
    if (rowCount !== 0) return
    await sleep(5)
  }
}

/** Simulates that the lease of every dead process has expired. */
const endLeases = () =>
  session.query(`update vault.idempotency set leased_until = '-infinity' where reply is null`)

/** Simulates that the killed process renewed its leases right before: on a slow machine they may have expired. */
const renewLeases = () =>
  session.query(
    `update vault.idempotency set leased_until = clock_timestamp() + interval '15 seconds' where reply is null`,
  )

type Prepared = {
  request: Request
  /** The table that the operation needs after its reservation. */
  table: string
  /** The events that it appends, each once. */
  events: string[]
  isOwn: (data: Record<string, unknown>) => boolean
}

let made = 0
const operations = {
  async mint(): Promise<Prepared> {
    const order = `order ${++made}`
    const own = z.looseObject({ order: z.literal(order) })
    return {
      request: {
        path: '/v1/licenses',
        body: { productId, email: `${made}@example.com`, metadata: { order } },
      },
      table: 'vault.subject_keys',
      events: ['LicenseMinted'],
      isOwn: ({ metadata }) => own.safeParse(metadata).success,
    }
  },
  async import(): Promise<Prepared> {
    const order = `order ${++made}`
    const own = z.looseObject({ order: z.literal(order) })
    const licenses = Array.from({ length: 100 }, (_, n) => ({
      licenseKey: `${order} row ${n}`,
      email: `${made}@example.com`,
      metadata: { order },
    }))
    return {
      request: { path: '/v1/licenses/import', body: { productId, licenses } },
      table: 'vault.subject_keys',
      events: Array<string>(100).fill('LicenseImported'),
      isOwn: ({ metadata }) => own.safeParse(metadata).success,
    }
  },
  async activate(): Promise<Prepared> {
    const { licenseKey } = await vendor.mint()
    const deviceId = `device ${++made}`
    return {
      request: {
        path: '/v1/licenses/activate',
        body: { product_id: productId, license_key: licenseKey, device_id: deviceId },
      },
      table: 'read_models.licenses',
      events: ['DeviceActivated'],
      isOwn: (data) => data.deviceId === deviceId,
    }
  },
  async deactivate(): Promise<Prepared> {
    const { licenseKey } = await vendor.mint()
    const deviceId = `device ${++made}`
    await vendor.activate(licenseKey, deviceId)
    return {
      request: {
        path: '/v1/licenses/deactivate',
        body: { product_id: productId, license_key: licenseKey, device_id: deviceId },
      },
      table: 'read_models.licenses',
      events: ['DeviceActivated', 'DeviceDeactivated'],
      isOwn: (data) => data.deviceId === deviceId,
    }
  },
}

/** A long run kills more often. */
const randomKills = wholeVariable('KEYLEDGER_TEST_KILLS', 3)
const isLongRun = process.env.KEYLEDGER_TEST_KILLS !== undefined

type Operation = keyof typeof operations
type StepName = keyof typeof steps
/** A short run covers every step and every operation once. */
const shortRun: readonly (readonly [Operation, StepName])[] = [
  ['mint', 'not kept'],
  ['import', 'recorded'],
  ['activate', 'reserved'],
  ['deactivate', 'not sent'],
]

describe.each(Object.entries(operations))('%s', (operation, prepare) => {
  const isTried = (step: string) =>
    isLongRun || shortRun.some(([ofOperation, name]) => ofOperation === operation && name === step)

  test.each(Object.entries(steps).filter(([step]) => isTried(step)))(
    'is executed once and repeats its response after a kill when it was %s',
    async (step, { hold, wanted, release, kill: end }) => {
      const { request, table, events, isOwn } = await prepare()
      const key = `key-${made}-${step.replace(' ', '-')}`
      const server = await serve()
      await session.query(hold(table))
      const broken = send(server.address, key, request).catch(() => 'broken' as const)
      await untilSomebodyWants(wanted(table))
      await expect.poll(openReservations).not.toBe(0)
      await end(server)
      expect(await broken).toBe('broken')
      await session.query(release)

      if (step !== 'not sent') {
        // Its death cannot be known yet.
        await renewLeases()
        expect(await send(survivor.address, key, request)).toMatchObject({ status: 409, retryAfter: '1' })
        await endLeases()
      }
      const first = await send(survivor.address, key, request)
      expect(first.status).toBeLessThan(300)
      expect(first.replay).toBe(step === 'not sent' ? 'true' : null)
      expect(await send(survivor.address, key, request)).toStrictEqual({ ...first, replay: 'true' })
      expect(await eventsOf(isOwn)).toStrictEqual(events)
      const imported = z.object({ imported: z.int() }).safeParse(JSON.parse(first.text))
      if (imported.success) expect(imported.data.imported).toBe(events.length)
      const minted = Minted.safeParse(JSON.parse(first.text))
      if (minted.success) {
        expect((await vendor.activate(minted.data.licenseKey, 'd')).body).toMatchObject({ activated: true })
      }
    },
  )

  test.runIf(isTried('reserved'))(
    'is executed once when its process was only paused, and both requests get the same response',
    async () => {
      const { request, table, events, isOwn } = await prepare()
      const key = `key-${made}-still`
      const server = await serve()
      await session.query(steps.reserved.hold(table))
      const slow = send(server.address, key, request)
      await untilSomebodyWants(steps.reserved.wanted(table))
      server.child.kill('SIGSTOP')
      await session.query(steps.reserved.release)
      await endLeases()
      const second = await send(survivor.address, key, request)
      expect(second.status).toBeLessThan(300)
      server.child.kill('SIGCONT')
      expect(await slow).toStrictEqual(second)
      expect(await eventsOf(isOwn)).toStrictEqual(events)
      await server.end('SIGKILL')
    },
  )
})

test('a request of a killed process is resumed as soon as its lease has expired', async () => {
  const { request, table, events, isOwn } = await operations.mint()
  const server = await serve()
  await session.query(steps.recorded.hold(table))
  const broken = send(server.address, 'key-lease', request).catch(() => 'broken' as const)
  await untilSomebodyWants(steps.recorded.wanted(table))
  await expect.poll(openReservations).not.toBe(0)
  await server.end('SIGKILL')
  expect(await broken).toBe('broken')
  await session.query(steps.recorded.release)
  await renewLeases()
  expect((await send(survivor.address, 'key-lease', request)).status).toBe(409)
  const answer = await sendUntilAnswered(survivor.address, 'key-lease', request, 500)
  expect(answer).toMatchObject({ status: 201, replay: null })
  expect(await eventsOf(isOwn)).toStrictEqual(events)
})

test('every key has one license after kills at random moments under load', async () => {
  const selling = new AbortController()
  let server = await serve()
  const { address } = server
  const port = Number(new URL(address).port)
  const sold = new Map<string, string>()
  const seller = async (name: number) => {
    for (let count = 0; !selling.signal.aborted; count++) {
      const key = `load-${name}-${count}`
      const request = { path: '/v1/licenses', body: { productId, metadata: { load: key } } }
      for (;;) {
        const answer = await send(address, key, request).catch(() => undefined)
        if (answer?.status === 201) {
          sold.set(key, answer.text)
          break
        }
        await sleep(20)
      }
    }
  }
  const sellers = Array.from({ length: 8 }, (_, name) => seller(name))
  for (let kills = 0; kills < randomKills; kills++) {
    const enough = sold.size + 5 + Math.random() * 20
    while (sold.size < enough) await sleep(2)
    await sleep(Math.random() * 20)
    await server.end('SIGKILL')
    await endLeases()
    server = await serve(port)
  }
  selling.abort()
  await Promise.all(sellers)
  const counts = new Map<string, number>()
  const load = z.looseObject({ load: z.string() })
  await eventsOf(({ metadata }) => {
    const own = load.safeParse(metadata)
    if (own.success) counts.set(own.data.load, (counts.get(own.data.load) ?? 0) + 1)
    return own.success
  })
  expect([...counts].filter(([, count]) => count !== 1)).toStrictEqual([])
  expect([...sold.keys()].filter((key) => !counts.has(key))).toStrictEqual([])
  expect(sold.size).toBeGreaterThan(5 * randomKills)
  // Every key still gets its first response.
  const sample = [...sold].slice(-50)
  for (const [key, text] of sample) {
    const again = await send(survivor.address, key, {
      path: '/v1/licenses',
      body: { productId, metadata: { load: key } },
    })
    expect(again).toMatchObject({ status: 201, text, replay: 'true' })
  }
  await server.end('SIGKILL')
})
