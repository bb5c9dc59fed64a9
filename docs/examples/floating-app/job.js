#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, memoryStorage } from '@keyledger/client'
import { findRelays } from '@keyledger/client/node'

const { LICENSE_SERVER, TENANT, PRODUCT, SDK_KEY, KEYS, LICENSE_KEY, WAIT_SECONDS } = process.env

const client = createClient({
  baseUrl: LICENSE_SERVER ?? 'http://localhost:8080',
  tenantId: TENANT ?? 'demo',
  productId: PRODUCT ?? 'renderer',
  sdkKey: SDK_KEY ?? '',
  keys: JSON.parse(KEYS ?? '{}'),
  relays: findRelays,
  storage: memoryStorage(),
  deviceName: `${hostname()} ${process.pid}`,
})

async function takeSeat() {
  const giveUpAt = Date.now() + Number(WAIT_SECONDS ?? 3600) * 1000
  for (;;) {
    const { ok, problem } = await client.activate(LICENSE_KEY ?? '')
    if (ok) return
    const pause = problem.retryAfterMs ?? 60_000
    if (problem.code !== 'seat_limit_reached' || Date.now() + pause > giveUpAt)
      throw new Error(problem.message)
    console.error(`All seats are taken, and ${problem.waiting} wait. Trying again in ${pause / 1000} s.`)
    await sleep(pause)
  }
}

async function run([program, ...args]) {
  const job = spawn(program, args, { stdio: 'inherit' })
  // Who loses its seat for good should not go on for hours.
  client.subscribe((state) => {
    if (state.status === 'revoked') job.kill()
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => job.kill(signal))
  await client.start()
  const [code] = await once(job, 'exit')
  return code ?? 1
}

try {
  await takeSeat()
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await client.close()
}
