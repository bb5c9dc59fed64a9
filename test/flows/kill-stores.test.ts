// Guarantee: with embedded stores, whichever processes are killed, the next start continues with the existing data,
// and nothing acknowledged is missing.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, freePort, type Server } from '../harness/process.ts'
import { eventStoreOf, postmasterOf } from './embedded.ts'
import { createOperator } from './operator.ts'
import { type Client, client, createVendor } from './vendor.ts'

const host = createHost()
const Verified = z.looseObject({ differences: z.array(z.unknown()) })

test('nothing acknowledged is missing after kills of the event store, Postgres, the application and all of them', async () => {
  const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
  const port = await freePort()
  let server = await host.serve(environment, { port })
  const vendor = client(server.address, await createVendor(environment))
  await vendor.createProduct(3)

  const acknowledged = new Set<string>()
  const selling = new AbortController()
  const load = Promise.all([1, 2, 3].map(() => keepMinting(vendor, acknowledged, selling.signal)))
  const sold = async (more: number) => {
    const enough = acknowledged.size + more
    while (acknowledged.size < enough) await sleep(10)
  }
  const killEventStore = () => process.kill(eventStoreOf(environment)?.pid ?? Number.NaN, 'SIGKILL')
  const killPostgres = () => process.kill(postmasterOf(environment), 'SIGKILL')
  const killed: ((server: Server) => unknown)[] = [
    killEventStore,
    killPostgres,
    (running) => running.child.kill('SIGKILL'),
    (running) => {
      killEventStore()
      killPostgres()
      running.child.kill('SIGKILL')
    },
  ]
  await sold(20)
  for (const kill of killed) {
    kill(server)
    await sleep(50)
    if (server.child.killed) server = await host.serve(environment, { port })
    // The server itself restarts a single killed part.
    await sold(20)
  }
  selling.abort()
  await load

  const operator = await createOperator(environment)
  const minted = (await operator.readLog()).flatMap((entry) =>
    entry.readable && entry.event.type === 'LicenseMinted' ? [entry.event.data.licenseId] : [],
  )
  await operator.close()
  expect([...acknowledged].filter((id) => !minted.includes(id))).toStrictEqual([])
  expect(new Set(minted).size).toBe(minted.length)
  const verified = await host.json(Verified, ['projections', 'verify'], environment)
  expect(verified.differences).toStrictEqual([])
})

async function keepMinting(vendor: Client, acknowledged: Set<string>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      acknowledged.add((await vendor.mint()).licenseId)
    } catch {
      await sleep(20)
    }
  }
}
