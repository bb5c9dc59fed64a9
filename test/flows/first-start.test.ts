// Guarantee: a first start that is killed at any stage is completed by the next one: the tenant, its product and
// its owner exist once, and a working token was printed.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { createHost, type Environment, freePort, hasEnded, type Running } from '../harness/process.ts'
import { eventStoreOf, postmasterOf } from './embedded.ts'
import { client } from './vendor.ts'

const host = createHost()

/** Each waits for a stage, and is followed by a kill. The whole start takes about a second. */
const stages: Record<string, (starting: Running, environment: Environment) => Promise<void>> = {
  'before any file exists': async () => sleep(100),
  'while its parts are created': (starting, environment) =>
    appears(starting, environment, 'run/start.sqlite'),
  'after the master key is created': (starting, environment) => appears(starting, environment, 'master.key'),
  ...Object.fromEntries(
    [1, 3].map((events) => [
      `after ${events} events in the log`,
      (starting: Running, environment: Environment) => logHolds(starting, environment, events),
    ]),
  ),
}

test.each(Object.entries(stages))(
  'a first start killed %s is completed by the next one',
  async (_, reached) => {
    const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
    const port = await freePort()
    const killed = host.startServer(environment, port)
    await reached(killed, environment)
    await killed.end('SIGKILL')

    const server = await host.serve(environment, { port })
    await expect.poll(() => server.stderr()).toContain('"msg":"Ready"')
    const printed = [killed, server].flatMap((start) => start.stdout().match(/^ {2}kl_pat_\w+$/gm) ?? [])
    // Twice only when the kill fell between the output and the marker file.
    expect(printed.length === 1 || printed.length === 2).toBe(true)
    const demo = client(server.address, printed.at(-1)?.trim() ?? '')
    const { body } = await demo.send('GET', '/v1/products')
    expect(body.items).toMatchObject([{ productId: 'demo-app' }])
    expect((await demo.send('POST', '/v1/licenses', { productId: 'demo-app' })).status).toBe(201)
    const types = await typesInLog(environment)
    const once = ['TenantCreated', 'ProductCreated', 'MemberAdded']
    expect(once.map((type) => types.filter((found) => found === type).length)).toStrictEqual([1, 1, 1])
    expect((await server.end('SIGKILL')).signal).toBe('SIGKILL')
    for (const pid of [eventStoreOf(environment)?.pid, postmasterOf(environment)])
      if (pid) process.kill(pid, 'SIGKILL')
  },
)

async function appears(
  starting: Running,
  { KEYLEDGER_DATA_DIR = '' }: Environment,
  name: string,
): Promise<void> {
  await until(starting, async () => existsSync(join(KEYLEDGER_DATA_DIR, name)))
}

async function logHolds(starting: Running, environment: Environment, events: number): Promise<void> {
  await until(starting, async () => eventStoreOf(environment) !== undefined)
  await withLedger(environment, (ledger) =>
    until(starting, async () => (await ledger.readPage(undefined, 100)).entries.length >= events),
  )
}

async function until(starting: Running, reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) {
    if (hasEnded(starting)) throw new Error(`it ended by itself: ${starting.stderr()}`)
    await sleep(2)
  }
}

async function typesInLog(environment: Environment): Promise<string[]> {
  const { entries } = await withLedger(environment, (ledger) => ledger.readPage(undefined, 100))
  return entries.map((entry) => (entry.readable ? entry.event.type : 'unreadable'))
}

async function withLedger<T>(environment: Environment, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = connectLedger(eventStoreOf(environment)?.url ?? '')
  try {
    return await work(ledger)
  } finally {
    await ledger.close()
  }
}
