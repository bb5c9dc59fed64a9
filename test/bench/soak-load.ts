// The load of the soak in its own process: one line of JSON as its argument, one per second as its progress, and a
// last one with the result. With a rate, calls are due at even intervals, independent of earlier ones, and are
// timed from when they were due, so that a pause of the server delays every call of that time.
import { createHistogram } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { Pool } from 'undici'
import { z } from 'zod'
import { instanceOf, keyOf, productId, sdkKeyOf, tenantOf } from './fill.ts'

const Options = z.object({
  url: z.string(),
  tenants: z.int(),
  licenses: z.int(),
  seconds: z.number(),
  connections: z.int(),
  /** Calls per second; undefined sends as many as are answered. */
  rate: z.int().optional(),
  /** Only calls the liveness probe, to measure what the machine allows. */
  bare: z.boolean().optional(),
})

const options = Options.parse(JSON.parse(process.argv[2] ?? '{}'))
const Activated = z.object({ instance_id: z.string() })
const headersOf = new Map(
  Array.from({ length: options.tenants }, (_, tenant) => {
    const tenantId = tenantOf(tenant, options.tenants)
    return [tenantId, { 'x-service-sdk-key': sdkKeyOf(tenantId), 'content-type': 'application/json' }]
  }),
)
const said = { app_version: '1.4.2', platform: 'macos' }

type Seat = { license: number; instanceId: string }
/** One call. */
type Turn =
  | { kind: 'validate' | 'activate' | 'config' | 'live'; license: number }
  | ({ kind: 'deactivate' } & Seat)
type Kind = Turn['kind']

/** Seats that this run has taken and not yet freed. */
const seats: Seat[] = []
const counts: Record<Kind, { answered: number; failed: number }> = {
  validate: { answered: 0, failed: 0 },
  activate: { answered: 0, failed: 0 },
  deactivate: { answered: 0, failed: 0 },
  config: { answered: 0, failed: 0 },
  live: { answered: 0, failed: 0 },
}
const failures = new Map<string, number>()
let names = 0

/** Of a hundred calls 85 validate, and 5 each do something else; without a seat to free, one is taken. */
function nextTurn(): Turn {
  const license = Math.floor(Math.random() * options.licenses)
  if (options.bare) return { kind: 'live', license }
  const dice = Math.random() * 100
  if (dice < 85) return { kind: 'validate', license }
  if (dice < 90) return { kind: 'activate', license }
  if (dice >= 95) return { kind: 'config', license }
  const seat = seats.pop()
  return seat ? { kind: 'deactivate', ...seat } : { kind: 'activate', license }
}

function bodyOf(turn: Turn): object | undefined {
  const license_key = keyOf(turn.license)
  switch (turn.kind) {
    case 'validate':
      return { license_key, instance_id: instanceOf(turn.license), ...said }
    case 'activate':
      return { license_key, instance_name: `soak-${++names}`, ...said }
    case 'deactivate':
      return { license_key, instance_id: turn.instanceId }
    case 'config':
    case 'live':
      return undefined
  }
}

function note({ kind, license }: Turn, status: number, body: string): void {
  if (status !== 200) {
    counts[kind].failed++
    const failure = `${kind} ${status} ${body.slice(0, 120)}`
    if (failures.size < 20 || failures.has(failure)) failures.set(failure, (failures.get(failure) ?? 0) + 1)
    return
  }
  counts[kind].answered++
  if (kind === 'activate') seats.push({ license, instanceId: Activated.parse(JSON.parse(body)).instance_id })
}

/** In µs. */
const times = createHistogram()
const pool = new Pool(options.url, { connections: options.connections, pipelining: 1 })

/** @param dueAt when the call was due */
async function call(dueAt: number): Promise<void> {
  const turn = nextTurn()
  const body = bodyOf(turn)
  const tenantId = tenantOf(turn.license, options.tenants)
  try {
    const answer = await pool.request({
      method: body ? 'POST' : 'GET',
      path: turn.kind === 'live' ? '/livez' : `/${tenantId}/${productId}/${turn.kind}`,
      headers: headersOf.get(tenantId) ?? {},
      body: body ? JSON.stringify(body) : null,
    })
    note(turn, answer.statusCode, await answer.body.text())
  } catch (error) {
    note(turn, 0, String(error))
  }
  times.record(Math.max(1, Math.round((performance.now() - dueAt) * 1000)))
}

/** Closed loop: each connection sends its next call at once. */
async function sendWithoutPause(until: number): Promise<void> {
  const keepSending = async () => {
    while (performance.now() < until) await call(performance.now())
  }
  await Promise.all(Array.from({ length: options.connections }, keepSending))
}

async function sendAtRate(perSecond: number, from: number, until: number): Promise<void> {
  const running = new Set<Promise<void>>()
  for (let dueAt = from; dueAt < until; ) {
    for (const now = performance.now(); dueAt <= now && dueAt < until; dueAt += 1000 / perSecond) {
      const called = call(dueAt).finally(() => running.delete(called))
      running.add(called)
    }
    await setTimeout(1)
  }
  await Promise.all(running)
}

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const sum = (what: 'answered' | 'failed') =>
  Object.values(counts).reduce((total, count) => total + count[what], 0)
const ticking = setInterval(() => say({ answered: sum('answered'), failed: sum('failed') }), 1000)

const startedAt = performance.now()
const until = startedAt + options.seconds * 1000
await (options.rate === undefined ? sendWithoutPause(until) : sendAtRate(options.rate, startedAt, until))
clearInterval(ticking)
say({
  perSecond: (sum('answered') * 1000) / (performance.now() - startedAt),
  p50Ms: times.percentile(50) / 1000,
  p99Ms: times.percentile(99) / 1000,
  maxMs: times.max / 1000,
  failed: sum('failed'),
  counts,
  failures: Object.fromEntries(failures),
})
await pool.close()
