import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Pool } from 'undici'
import { startDispatching } from '../src/bin/dispatching.ts'
import { createLog } from '../src/bin/log.ts'
import { openStores, type Stores } from '../src/bin/stores.ts'
import { parseConfig } from '../src/config.ts'
import { connectFeed } from '../src/webhooks/nats.ts'
import { signatureHeaders } from '../src/webhooks/signature.ts'
import { natsServer } from '../test/harness/nats-server.ts'
import { type Figure, percent, perSecond } from './figures.ts'
import { benchIsolation } from './isolation.ts'
import { startSink } from './processes.ts'
import { openShops, oweOf, scheduleAll } from './shops.ts'

const deliveries = 4000
const tenants = 50
/** As many connections as the dispatcher may have to one receiver, for as many receivers as it has. */
const bareAtOnce = 256
const bareSeconds = 4

/** Deliveries through NATS, each try recorded, against bare posts of the same body and signature to the same sink. */
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
    const bare = await postBare(sink.address)
    log(`bare ${perSecond(bare)}`)
    await scheduleMany(stores, sink.address)
    while (!feed.isConnected()) await setTimeout(50)
    const dispatching = startDispatching(config, stores, quiet, feed, stopping.signal)
    const hearing = hearAll(stores, dispatching.hear, stopping.signal)
    const dispatched = await drained(stores)
    log(`dispatched ${perSecond(dispatched)}`)
    const isolation = await benchIsolation(stores, sink.address, dispatched, log)
    stopping.abort()
    await Promise.all([dispatching.finished, hearing])
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

/** What a license event looks like on the wire. */
const body = JSON.stringify({
  id: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
  created: 1_795_000_000,
  version: '2026-11-01',
  event: 'license.revoked',
  tenant_id: 'acme',
  license_id: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
  product_id: 'editor',
  key_type_id: 'default',
  customer_email: null,
  sequence: 1,
})

async function postBare(address: string): Promise<number> {
  const pool = new Pool(address, { connections: bareAtOnce })
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const until = performance.now() + bareSeconds * 1000
  let posted = 0
  const post = async () => {
    while (performance.now() < until) {
      const timestamp = Math.floor(Date.now() / 1000)
      const headers = {
        'content-type': 'application/json',
        ...signatureHeaders([secret], { id: 'whd_1', timestamp, body }),
      }
      const answer = await pool.request({ path: '/hook', method: 'POST', headers, body })
      await answer.body.dump()
      posted++
    }
  }
  await Promise.all(Array.from({ length: bareAtOnce }, post))
  await pool.close()
  return posted / bareSeconds
}

/** Many licenses of some tenants, each with a delivery that is due. */
async function scheduleMany(stores: Stores, address: string): Promise<void> {
  const products = await openShops(stores, 'tenant', `${address}/hook`, tenants)
  await scheduleAll(
    stores,
    await oweOf(stores, Array.from({ length: deliveries / tenants }, () => products).flat()),
  )
}

/** As a process does that dispatches and does nothing else. */
async function hearAll(
  { tail }: Stores,
  hear: ReturnType<typeof startDispatching>['hear'],
  signal: AbortSignal,
): Promise<void> {
  for await (const entry of tail.follow(await tail.head(), signal, () => undefined)) hear(entry)
}

/** @returns how many a second, from the first that ended to the last */
async function drained({ services: { db } }: Stores): Promise<number> {
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
