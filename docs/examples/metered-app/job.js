#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServerClient } from '@keyledger/client/server'

const { LICENSE_SERVER, TOKEN, PRODUCT, LICENSE_KEY, MINUTES } = process.env
const most = Number(MINUTES ?? 60)

const keyledger = createServerClient({ baseUrl: LICENSE_SERVER ?? 'http://localhost:8080', token: TOKEN })

async function hold() {
  const held = await keyledger.holdMeter({
    product_id: PRODUCT ?? 'demo-render',
    license_key: LICENSE_KEY ?? '',
    meter: 'minutes',
    amount: String(most),
    idempotency_key: randomUUID(),
    // Longer than the job may run, and soon over when this process is killed.
    seconds: Math.ceil(most * 60) + 60,
  })
  if (!held.allowed) throw new Error(`The job needs ${most} minutes; ${held.remaining} are left.`)
  return held.hold_id
}

async function run([program, ...args]) {
  const hold_id = await hold()
  const startedAt = performance.now()
  const job = spawn(program, args, { stdio: 'inherit' })
  setTimeout(() => job.kill(), most * 60_000).unref()
  const [code] = await once(job, 'exit').catch(async (error) => {
    // It did not start, and so used nothing.
    await keyledger.releaseHold({ hold_id })
    throw error
  })
  const amount = Math.min(most, (performance.now() - startedAt) / 60_000).toFixed(6)
  await keyledger.commitHold({ hold_id, amount })
  console.log(`Counted ${amount} minutes.`)
  return code ?? 1
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
