// Guarantee: no matter how often and when the application is killed, the log contains every acknowledged command
// exactly once, and the read models equal a replay of the log.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { licenseStream } from '../../src/domain/streams.ts'
import { createHost, freePort, hasEnded, type Stores } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createOperator } from './operator.ts'
import { type Answer, type Client, client, createVendor } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_KILLS=100` for the long run. */
const kills = wholeVariable('KEYLEDGER_TEST_KILLS', 5)
/** Killed independently, so that one is under load while another starts. */
const servers = 3
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`nothing acknowledged is missing or duplicated after ${kills} kills under load`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const book = new Set<string>()
  let killsLeft = kills
  const ports = await Promise.all(Array.from({ length: servers }, freePort))
  const [anyPort] = ports
  if (anyPort === undefined) throw new Error('no port')
  const first = await host.serve(stores.environment, { port: anyPort })
  await client(first.address, token).createProduct(2)
  // A regular exit writes the compile cache for the others.
  await first.end('SIGTERM')

  await Promise.all(
    ports.map(async (port) => {
      const loading = new AbortController()
      const asking = client(`http://localhost:${port}`, token)
      const sales: Sales = { book, acknowledged: 0 }
      const load = Promise.all([1, 2, 3].map(() => keepSelling(asking, sales, loading.signal)))
      while (killsLeft-- > 0) await killAtRandomMoment(stores, port, sales)
      loading.abort()
      await load
    }),
  )

  const inLog = await factsInLog(stores)
  expect([...book].filter((fact) => inLog.get(fact) !== 1)).toStrictEqual([])
  // Otherwise nothing was acknowledged between the kills, and the test proves nothing.
  expect(book.size).toBeGreaterThan(kills)
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
  expect(found.events).toBeGreaterThan(book.size)
})

type Sales = { readonly book: Set<string>; acknowledged: number }

/** Sometimes during the start, otherwise within its first dozen commands. */
async function killAtRandomMoment(stores: Stores, port: number, sales: Sales): Promise<void> {
  if (Math.random() < 0.1) {
    const starting = host.startServer(stores.environment, port)
    await sleep(Math.random() * 500)
    await starting.end('SIGKILL')
    return
  }
  const server = await host.serve(stores.environment, { port })
  const enough = sales.acknowledged + Math.random() * 12
  while (sales.acknowledged < enough) {
    if (hasEnded(server)) throw new Error(`it ended by itself: ${server.stderr()}`)
    await sleep(1)
  }
  await sleep(Math.random() * 20)
  await server.end('SIGKILL')
}

/** Mints, activates and deactivates, and notes what was acknowledged. Broken connections are expected. */
async function keepSelling(asking: Client, sales: Sales, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await sellOne(asking, sales)
    } catch {
      // The server is down: a command without a response may or may not be in the log.
      await sleep(50)
    }
  }
}

async function sellOne(asking: Client, sales: Sales): Promise<void> {
  const { licenseId, licenseKey } = await asking.mint()
  const acknowledge = (fact: string) => {
    sales.book.add(`${licenseStream(licenseId)} ${fact}`)
    sales.acknowledged++
  }
  acknowledge('LicenseMinted')
  const note = ({ status, body }: Answer, done: unknown, fact: string) => {
    if (status >= 500) throw new Error(`not acknowledged: ${JSON.stringify(body)}`)
    if (done === true) acknowledge(fact)
  }
  const activated = await asking.activate(licenseKey, 'laptop')
  note(activated, activated.body.activated, 'DeviceActivated laptop')
  const second = await asking.activate(licenseKey, 'desktop')
  note(second, second.body.activated, 'DeviceActivated desktop')
  const freed = await asking.deactivate(licenseKey, 'laptop')
  note(freed, freed.body.deactivated, 'DeviceDeactivated laptop')
}

/** How often the log contains each fact. */
async function factsInLog({ environment }: Stores): Promise<Map<string, number>> {
  const operator = await createOperator(environment)
  try {
    const counts = new Map<string, number>()
    for (const entry of await operator.readLog()) {
      if (!entry.readable) throw new Error(`${entry.stream} is unreadable: ${entry.problem}`)
      const { type, data } = entry.event
      const fact = [entry.stream, type, ...('deviceId' in data ? [data.deviceId] : [])].join(' ')
      counts.set(fact, (counts.get(fact) ?? 0) + 1)
    }
    return counts
  } finally {
    await operator.close()
  }
}
