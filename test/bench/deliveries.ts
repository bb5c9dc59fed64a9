import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startDispatching } from '../../src/app/dispatching.ts'
import { createLog } from '../../src/app/log.ts'
import { openStores, type Stores } from '../../src/app/stores.ts'
import { parseConfig } from '../../src/config.ts'
import { connectFeed } from '../../src/webhooks/nats-feed.ts'
import { natsServer } from '../harness/nats-server.ts'
import { type Figure, percent, perSecond } from './figures.ts'
import { benchIsolation } from './isolation.ts'
import { barePosts, eventStoreUrl, startSink } from './processes.ts'
import { makePending, openShops, scheduleAll } from './shops.ts'

const deliveries = 4000
const tenants = 50

/**
 * Deliveries through NATS, with each attempt recorded, against bare posts with the same body and signature to the
 * same sink.
 */
export async function benchDeliveries(log: (line: string) => void): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  const sink = await startSink()
  const natsPort = await freePort()
  const natsUrl = `nats://127.0.0.1:${natsPort}`
  const args = ['-a', '127.0.0.1', '-p', String(natsPort), '-js', '-sd', join(directory, 'nats')]
  const nats = spawn(natsServer(), args, { stdio: 'ignore' })
  const config = parseConfig({
    KEYLEDGER_DATA_DIR: join(directory, 'data'),
    KEYLEDGER_NATS_URL: natsUrl,
    KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true',
  })
  const quiet = createLog('error')
  const stores = await openStores(config, quiet)
  const feed = connectFeed(natsUrl, () => undefined)
  const stopping = new AbortController()
  try {
    const bare = await barePosts(sink.address)
    const recorded = await barePosts(sink.address, eventStoreUrl(config.dataDirectory))
    log(`bare ${perSecond(bare)}, each recorded ${perSecond(recorded)}`)
    await scheduleMany(stores, sink.address)
    while (!feed.isConnected()) await setTimeout(50)
    const dispatching = startDispatching(config, stores, quiet, feed, stopping.signal)
    const following = followLog(stores, dispatching.onEntry, stopping.signal)
    const dispatched = await drained(stores)
    log(`dispatched ${perSecond(dispatched)}`)
    const isolation = await benchIsolation(stores, sink.address, dispatched, log)
    stopping.abort()
    await Promise.all([dispatching.finished, following])
    const ratio = dispatched / bare
    return [
      {
        what: 'deliveries through NATS, each try recorded',
        measured: perSecond(dispatched),
        against: `bare posts ${perSecond(bare)}`,
        ratio: percent(ratio),
        bar: '≥ 50 %',
        holds: ratio >= 0.5,
      },
      {
        what: 'the same with nothing but a post and an append',
        measured: perSecond(recorded),
        against: `bare posts ${perSecond(bare)}`,
        ratio: percent(recorded / bare),
        bar: '',
        holds: true,
      },
      isolation,
    ]
  } finally {
    stopping.abort()
    await feed.close()
    await stores.close()
    await sink.stop()
    nats.kill('SIGKILL')
    if (nats.exitCode === null && nats.signalCode === null) await once(nats, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Many licenses of some tenants, each with a due delivery. */
async function scheduleMany(stores: Stores, address: string): Promise<void> {
  const products = await openShops(stores, 'tenant', `${address}/hook`, tenants)
  await scheduleAll(
    stores,
    await makePending(stores, Array.from({ length: deliveries / tenants }, () => products).flat()),
  )
}

/** As in a process that only dispatches. */
async function followLog(
  { tail }: Stores,
  onEntry: ReturnType<typeof startDispatching>['onEntry'],
  signal: AbortSignal,
): Promise<void> {
  for await (const entry of tail.follow(await tail.head(), signal, () => undefined)) onEntry(entry)
}

/** @returns deliveries per second, from the first that ended to the last */
async function drained({ ports: { db } }: Stores): Promise<number> {
  const started = performance.now()
  for (;;) {
    await setTimeout(100)
    const { rows } = await db.query<{ left: bigint }>(
      `select count(*) as left from deliveries where status = 'pending'`,
    )
    if (rows[0]?.left === 0n) return deliveries / ((performance.now() - started) / 1000)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
