// Guarantee: a database is only served with the log that its read models were built from: not with an older copy,
// not with a diverged or an empty log, and not after the log is exchanged while the service runs. The message names
// the command that fixes it.

import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type RunningEventStore, startEventStore } from '../../infra/local/eventstore/server.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { createHost, type Environment, freePort } from '../harness/process.ts'
import { readLog } from './operator.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const Tenants = z.array(z.looseObject({ tenantId: z.string() }))
const Rebuilt = z.object({ ledgerId: z.uuid(), formerLedgerId: z.uuid() })

let port: number
let store: RunningEventStore | undefined
const databases: TestDatabase[] = []
beforeAll(async () => {
  port = await freePort()
})
afterEach(() => stop())
afterAll(async () => {
  for (const database of databases) await database.drop()
})

const stop = async () => {
  await store?.close()
  store = undefined
}

/** The event store keeps its URL, whichever log it contains. */
async function hold(directory: string): Promise<void> {
  await stop()
  store = await startEventStore({ directory, port })
}

async function newEnvironment(): Promise<Environment> {
  const database = await createTestDatabase()
  databases.push(database)
  return {
    KEYLEDGER_DATA_DIR: host.path('unused'),
    KEYLEDGER_DATABASE_URL: database.url,
    KEYLEDGER_EVENTSTORE_URL: `esdb://127.0.0.1:${port}?tls=false`,
    KEYLEDGER_MASTER_KEY: randomBytes(32).toString('base64'),
  }
}

async function copyOf(directory: string): Promise<string> {
  await stop()
  const copy = host.path('log')
  cpSync(directory, copy, { recursive: true })
  return copy
}

const tenantsOf = async (environment: Environment) =>
  (await host.json(Tenants, ['tenant', 'list'], environment)).map(({ tenantId }) => tenantId).toSorted()

const create = async (environment: Environment, tenantId: string) => {
  expect(await host.run(['tenant', 'create', tenantId], environment)).toMatchObject({ code: 0 })
}

/** The sentence with which a command fails. */
async function refusal(environment: Environment): Promise<string> {
  const { code, stdout, stderr } = await host.run(['tenant', 'create', 'intruder'], environment)
  expect({ code, stdout }).toStrictEqual({ code: 3, stdout: '' })
  expect(stderr).not.toMatch(/^\s+at /m)
  return stderr
}

async function look<T>({ KEYLEDGER_EVENTSTORE_URL = '' }: Environment, at: (ledger: Ledger) => Promise<T>) {
  const ledger = connectLedger(KEYLEDGER_EVENTSTORE_URL)
  try {
    return await at(ledger)
  } finally {
    await ledger.close()
  }
}

const logLength = (environment: Environment): Promise<number> =>
  look(environment, async (ledger) => (await readLog(ledger)).length)

describe('a command on a log', () => {
  let environment: Environment
  let other: Environment
  const log = host.path('log')
  const anotherLog = host.path('log')
  let older: string

  beforeAll(async () => {
    environment = await newEnvironment()
    other = await newEnvironment()
    await hold(anotherLog)
    await create(other, 'elsewhere')
    await hold(log)
    await create(environment, 'first')
    older = await copyOf(log)
    await hold(log)
    await create(environment, 'second')
  })

  test('works when the log is the one of the read models', async () => {
    await hold(log)
    expect(await tenantsOf(environment)).toStrictEqual(['first', 'second'])
  })

  test('is refused when the log is an older copy', async () => {
    const copy = await copyOf(older)
    await hold(copy)
    const message = await refusal(environment)
    expect(message).toContain('The log is older than the read models')
    expect(message).toContain('keyledger projections rebuild')
    expect(await logLength(environment)).toBe(await lengthOf(older))
  })

  test('is refused when the log is an older copy that was written to', async () => {
    const copy = await copyOf(older)
    await hold(copy)
    const branch = await newEnvironment()
    for (const name of ['apart', 'further', 'furthest']) await create(branch, name)
    const message = await refusal(environment)
    expect(message).toContain('has another event at position')
    expect(message).toContain('The read models are the older ones.')
  })

  test('is refused when the log is another one', async () => {
    await hold(anotherLog)
    const message = await refusal(environment)
    expect(message).toMatch(/contains the log [0-9a-f-]{36} .*were built from the log [0-9a-f-]{36}/)
    expect(await tenantsOf(other)).toStrictEqual(['elsewhere'])
  })

  test('is refused when the log is empty, which then stays empty', async () => {
    const empty = host.path('log')
    await hold(empty)
    expect(await refusal(environment)).toContain('a log without an identity, or no log')
    expect(await logLength(environment)).toBe(0)
  })

  test('works after a rebuild, which accepts the existing log and names it', async () => {
    const copy = await copyOf(older)
    await hold(copy)
    await refusal(environment)
    const adopted = await rebuild()
    expect(adopted.message).toMatch(/^The log is older than the read models: .* Rebuilding from this log: /m)
    expect(adopted.formerLedgerId).toBe(adopted.ledgerId)
    expect(await tenantsOf(environment)).toStrictEqual(['first'])
    await create(environment, 'third')
    const verified = await host.run(['projections', 'verify'], environment)
    expect(verified).toMatchObject({ code: 0 })
    expect((await rebuild()).message).not.toContain('Rebuilding from this log')

    await hold(anotherLog)
    const other = await rebuild()
    expect(other.message).toMatch(RegExp(`the log ${other.ledgerId} .* from the log ${adopted.ledgerId} `))
    expect(other.formerLedgerId).toBe(adopted.ledgerId)
    expect(await tenantsOf(environment)).toStrictEqual(['elsewhere'])
  })

  async function rebuild() {
    const { code, stdout, stderr } = await host.run(['projections', 'rebuild', '--json'], environment)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return { ...Rebuilt.parse(JSON.parse(stdout)), message: stderr }
  }

  async function lengthOf(directory: string): Promise<number> {
    await hold(await copyOf(directory))
    return logLength(environment)
  }
})

test.each(['api', 'projector,reactions,dispatcher'])(
  'a process with the roles %s exits when its log is exchanged, and writes nothing to the other one',
  async (roles) => {
    const environment = await newEnvironment()
    const elsewhere = await newEnvironment()
    const anotherLog = host.path('log')
    await hold(anotherLog)
    await create(elsewhere, 'acme')
    const before = await logLength(environment)
    await hold(host.path('log'))
    const token = await createVendor(environment)
    const seller = await host.serve(environment, { roles: 'api' })
    const server = roles === 'api' ? seller : host.startServer(environment, await freePort(), roles)
    await expect.poll(() => server.stderr()).toContain('"msg":"Ready"')
    const vendor = client(seller.address, token)
    await vendor.createProduct(1)
    const selling = new AbortController()
    const load = keepMinting(() => vendor.mint(), selling.signal)

    await hold(anotherLog)
    const { code, stderr } = await server.finished
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^The event store contains the log .* but the read models were built from the log /m,
    )
    selling.abort()
    await load
    expect(await logLength(environment)).toBe(before)
  },
)

async function keepMinting(mint: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await mint().catch(() => undefined)
}
