// Guarantee: three servers on one database keep a limit together, in any stretch of time, also while one is killed: never
// more than 5 % above it, and no less than 90 % of it under even load. Judged by when each call was sent and answered,
// so that a slow machine changes nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gcraOf, spent, waitMs } from '../../src/limits/gcra.ts'
import { createHost, type Server } from '../harness/process.ts'
import { createVendor } from './vendor.ts'

const host = createHost()
const rate = { perMinute: 6000, burst: 300 }
const perMs = rate.perMinute / 60_000
/** `KEYLEDGER_TEST_LIMIT_SECONDS=120` for the long proof. */
const seconds = Number(process.env.KEYLEDGER_TEST_LIMIT_SECONDS ?? 5)
const pauseMs = 10

type Call = { sent: number; answered: number; admitted: boolean }

test('three servers keep one limit, and two go on with it when the third is killed', {
  timeout: 240_000 + seconds * 4000,
}, async () => {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  const limited = { ...environment, KEYLEDGER_LIMIT_MANAGEMENT: `${rate.perMinute}/${rate.burst}` }
  const servers = await Promise.all([host.serve(limited), host.serve(limited), host.serve(limited)])
  const [victim] = servers
  const calls: Call[] = []
  const ask = async (address: string) => {
    const sent = performance.now()
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${address}/v1/tokens/verify`, { headers }).catch(() => undefined)
    // Nobody knows whether the killed one had let it through.
    if (!response) return
    await response.text()
    expect([200, 429]).toContain(response.status)
    calls.push({ sent, answered: performance.now(), admitted: response.status === 200 })
  }

  const asking: Promise<void>[] = []
  const started = performance.now()
  let living: Server[] = servers
  let turn = 0
  for (let now = started; now - started < seconds * 1000; now = performance.now()) {
    if (living.length === 3 && now - started > seconds * 500) {
      living = servers.slice(1)
      asking.push(victim.end('SIGKILL').then(() => undefined))
    }
    // At twice the rate, however late this comes to it.
    while (turn < 2 * perMs * (now - started)) asking.push(ask(living[turn++ % living.length]?.address ?? ''))
    await sleep(pauseMs)
  }
  await Promise.all(asking)

  expect(mostAbove(calls)).toBeLessThanOrEqual(0)
  const admitted = calls.filter((call) => call.admitted).length
  const times = [calls.map(({ sent }) => sent), calls.map(({ answered }) => answered)]
  expect(admitted).toBeGreaterThanOrEqual(0.9 * Math.min(...times.map(admittedByOne)))
  expect(admitted).toBeLessThan(calls.length)
})

/**
 * By how many the calls of the worst stretch of time are above what it allows. A call was let through between sending
 * and answer, so only those that lie in the stretch with both are counted.
 */
function mostAbove(calls: readonly Call[]): number {
  const admitted = calls.filter((call) => call.admitted)
  let most = Number.NEGATIVE_INFINITY
  for (const { sent: from } of admitted) {
    const within = admitted.filter(({ sent }) => sent >= from).map(({ answered }) => answered)
    for (const [index, until] of within.toSorted((a, b) => a - b).entries()) {
      const allowed = 1.05 * (rate.burst + perMs * (until - from)) + 1
      most = Math.max(most, index + 1 - allowed)
    }
  }
  return most
}

/** What one process that keeps the limit to the unit would have let through of these. */
function admittedByOne(times: readonly number[]): number {
  const gcra = gcraOf(rate)
  let tat = 0
  let admitted = 0
  for (const now of times.toSorted((a, b) => a - b)) {
    if (waitMs(gcra, tat, now) > 0) continue
    tat = spent(gcra, tat, now)
    admitted++
  }
  return admitted
}
