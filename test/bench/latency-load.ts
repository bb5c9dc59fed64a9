// A load in its own process: one line of JSON as its argument, one as its result. In an open loop calls are due at even
// intervals, independent of earlier ones, and are timed from when they were due, so that a pause of the server
// delays every call of that time. The first second is not timed.
import { createHistogram } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { Pool } from 'undici'
import { z } from 'zod'
import { type LoadKind, LoadOptions, loadedDeviceId, loadedKeyOf, loadedProductId } from './latency-keys.ts'

const options = LoadOptions.parse(JSON.parse(process.argv[2] ?? '{}'))
const headers = { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' }

/** This process compiles its code and opens its connections first, which is not the server's fault either. */
const warmUpMs = 1000

/** A timer fires up to a millisecond late, which is not the server's fault. */
const timerMs = 1.5

const seats: { license_key: string; device_id: string }[] = []
let calls = 0

type Call = { path: string; body: object; isDone: (answer: unknown) => boolean }

const Answer = z.object({
  valid: z.boolean().optional(),
  kept: z.boolean().optional(),
  activated: z.boolean().optional(),
  deactivated: z.boolean().optional(),
  licenseKey: z.string().optional(),
  allowed: z.boolean().optional(),
})

/** Far apart in the range, because neighbors share pages. */
const nextKey = () => loadedKeyOf((options.offset + calls++ * 7919) % options.licenses)

const consumeOf = (license_key: string): Call => ({
  path: '/v1/licenses/consume',
  body: {
    ...{ product_id: loadedProductId, license_key, meter: 'calls', amount: '1.5' },
    idempotency_key: `use-${options.offset}-${calls++}`,
  },
  isDone: (answer) => Answer.parse(answer).allowed === true,
})

const callOf: Record<Exclude<LoadKind, 'mixed'>, () => Call> = {
  validate: () => ({
    path: '/v1/licenses/validate',
    body: { product_id: loadedProductId, license_key: nextKey(), device_id: loadedDeviceId },
    isDone: (answer) => Answer.parse(answer).valid === true,
  }),
  heartbeat: () => ({
    path: '/v1/licenses/heartbeat',
    body: { product_id: loadedProductId, license_key: nextKey(), device_id: loadedDeviceId },
    isDone: (answer) => Answer.parse(answer).kept === true,
  }),
  mint: () => ({
    path: '/v1/licenses',
    body: { productId: loadedProductId },
    isDone: (answer) => Answer.parse(answer).licenseKey !== undefined,
  }),
  activate: () => {
    const seat = { license_key: nextKey(), device_id: `second-${options.offset}` }
    seats.push(seat)
    return {
      path: '/v1/licenses/activate',
      body: { product_id: loadedProductId, ...seat, name: 'Second' },
      isDone: (answer) => Answer.parse(answer).activated === true,
    }
  },
  'consume-one': () => consumeOf(loadedKeyOf(0)),
  'consume-many': () => consumeOf(nextKey()),
  deactivate: () => {
    const seat = seats.shift()
    if (!seat) return callOf.activate()
    return {
      path: '/v1/licenses/deactivate',
      body: { product_id: loadedProductId, ...seat },
      isDone: (answer) => Answer.parse(answer).deactivated === true,
    }
  },
}

/** Of twenty calls, seventeen validate, and one each activates, deactivates and mints. */
function nextCall(): Call {
  if (options.kind !== 'mixed') return callOf[options.kind]()
  const turn = calls % 20
  if (turn < 17) return callOf.validate()
  return turn === 17 ? callOf.activate() : turn === 18 ? callOf.mint() : callOf.deactivate()
}

/** In µs. */
const times = createHistogram()
const pool = new Pool(options.url, { connections: 64, pipelining: 1 })
let made = 0
let failed = 0
let failure = ''

async function call(dueAt: number): Promise<void> {
  const { path, body, isDone } = nextCall()
  const sentAt = performance.now()
  const from = sentAt - dueAt < timerMs ? sentAt : dueAt
  try {
    const answer = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) })
    const text = await answer.body.text()
    if (answer.statusCode >= 300 || !isDone(JSON.parse(text))) fail(`${path} ${answer.statusCode} ${text}`)
  } catch (error) {
    fail(`${path} ${String(error)}`)
  }
  made++
  if (dueAt >= measuredFrom) times.record(Math.max(1, Math.round((performance.now() - from) * 1000)))
}

function fail(what: string): void {
  failed++
  failure ||= what.slice(0, 300)
}

const startedAt = performance.now()
const measuredFrom = startedAt + warmUpMs
const endAt = measuredFrom + options.seconds * 1000

async function inOpenLoop(): Promise<void> {
  const total = Math.round((options.perSecond * (endAt - startedAt)) / 1000)
  const running = new Set<Promise<void>>()
  for (let sent = 0; sent < total; ) {
    for (; sent < total; sent++) {
      const dueAt = startedAt + (sent * 1000) / options.perSecond
      if (dueAt > performance.now()) break
      const called = call(dueAt).finally(() => running.delete(called))
      running.add(called)
    }
    await setTimeout(1)
  }
  await Promise.all(running)
}

async function callOneAfterAnother(): Promise<void> {
  while (performance.now() < endAt) await call(performance.now())
}

if (options.callers === undefined) await inOpenLoop()
else await Promise.all(Array.from({ length: options.callers }, callOneAfterAnother))
const lastedS = (performance.now() - measuredFrom) / 1000
const ms = (share: number) => times.percentile(share) / 1000
process.stdout.write(
  JSON.stringify({
    calls: made,
    failed,
    failure,
    p50Ms: ms(50),
    p95Ms: ms(95),
    p99Ms: ms(99),
    p999Ms: ms(99.9),
    perSecond: times.count / lastedS,
  }),
)
await pool.close()
