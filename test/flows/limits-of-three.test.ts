// Guarantee: three servers on one database, or four workers of one server, share a limit, in any interval of time
// and also while one is killed: never more than 5 % above it, and at least 90 % of it under even load. Calls are
// judged by the times at which they were sent and answered, so that a slow machine does not matter.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { gcraOf, spent, waitMs } from '../../src/limits/meter.ts'
import { createHost, type Environment, type Server } from '../harness/process.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createVendor } from './vendor.ts'

const host = createHost()
const rate = { perMinute: 6000, burst: 300 }
const perMs = rate.perMinute / 60_000
/** `KEYLEDGER_TEST_LIMIT_SECONDS=120` for the long run. */
const seconds = wholeVariable('KEYLEDGER_TEST_LIMIT_SECONDS', 5)
const pauseMs = 10

type Call = { sent: number; answered: number; admitted: boolean }

test('three servers share one rate limit, also while one of them is killed', {
  timeout: testMs + seconds * 4000,
}, async () => {
  const { token, limited } = await limitedVendor()
  const servers = await Promise.all([host.serve(limited), host.serve(limited), host.serve(limited)])
  const [victim] = servers
  let living: Server[] = servers
  let killed: Promise<unknown> | undefined
  const calls = await askAtTwiceTheRate(token, (turn, passedMs) => {
    if (!killed && passedMs > seconds * 500) {
      living = servers.slice(1)
      killed = victim.end('SIGKILL')
    }
    return living[turn % living.length]?.address ?? ''
  })
  await killed
  expectKept(calls)
})

test('four workers of one server share one rate limit', { timeout: testMs + seconds * 4000 }, async () => {
  const { token, limited } = await limitedVendor()
  const { address } = await host.serve({ ...limited, KEYLEDGER_WORKERS: '4' })
  await expect.poll(() => countProcesses(limited)).toBe(4)
  expectKept(await askAtTwiceTheRate(token, () => address))
})

async function limitedVendor() {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  const limited = { ...environment, KEYLEDGER_LIMIT_MANAGEMENT: `${rate.perMinute}/${rate.burst}` }
  return { token, limited }
}

/** The number of processes that share limits on a database. */
async function countProcesses({ KEYLEDGER_DATABASE_URL }: Environment): Promise<number> {
  const client = new pg.Client(KEYLEDGER_DATABASE_URL)
  await client.connect()
  try {
    return (await client.query('select from limits.processes')).rows.length
  } finally {
    await client.end()
  }
}

/** @param addressOf the server for the next call */
async function askAtTwiceTheRate(
  token: string,
  addressOf: (turn: number, passedMs: number) => string,
): Promise<Call[]> {
  const calls: Call[] = []
  const ask = async (address: string) => {
    const sent = performance.now()
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${address}/v1/tokens/verify`, { headers }).catch(() => undefined)
    // The killed server may or may not have admitted it.
    if (!response) return
    await response.text()
    // An overloaded process refuses before it checks the limit, or reads the request too late.
    if (response.status === 503 || response.status === 408) return
    expect([200, 429]).toContain(response.status)
    calls.push({ sent, answered: performance.now(), admitted: response.status === 200 })
  }
  const asking: Promise<void>[] = []
  const started = performance.now()
  let turn = 0
  // On a slow machine it takes longer until the limit is reached.
  const goesOn = (now: number) => now - started < seconds * 1000 || calls.every((call) => call.admitted)
  for (let now = started; goesOn(now); now = performance.now()) {
    // Keeps to twice the rate, also after a delay.
    while (turn < 2 * perMs * (now - started)) asking.push(ask(addressOf(turn++, now - started)))
    await sleep(pauseMs)
  }
  await Promise.all(asking)
  return calls
}

function expectKept(calls: readonly Call[]): void {
  expect(maxAbove(calls)).toBeLessThanOrEqual(0)
  const admitted = calls.filter((call) => call.admitted).length
  const times = [calls.map(({ sent }) => sent), calls.map(({ answered }) => answered)]
  expect(admitted).toBeGreaterThanOrEqual(0.9 * Math.min(...times.map(admittedByOne)))
  expect(admitted).toBeLessThan(calls.length)
}

/**
 * By how many calls the worst interval exceeds the limit. A call was admitted between its sending and its response,
 * so only calls that lie completely in the interval are counted.
 */
function maxAbove(calls: readonly Call[]): number {
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

/** The number of these calls that a single process with an exact limit would have admitted. */
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
