// The load of the soak, in a process of its own: asked by one line of JSON as its argument, answers with one a second and
// a last one with the figures.
import autocannon from 'autocannon'
import { z } from 'zod'
import { instanceOf, keyOf, productId, sdkKeyOf, tenantOf } from './fill.ts'

const Asked = z.object({
  url: z.string(),
  tenants: z.int(),
  licenses: z.int(),
  seconds: z.number(),
  connections: z.int(),
  /** A second; absent: as many as are answered. */
  rate: z.int().optional(),
})

const asked = Asked.parse(JSON.parse(process.argv[2] ?? '{}'))
const Activated = z.object({ instance_id: z.string() })
const headersOf = new Map(
  Array.from({ length: asked.tenants }, (_, tenant) => {
    const tenantId = tenantOf(tenant, asked.tenants)
    return [tenantId, { 'x-service-sdk-key': sdkKeyOf(tenantId), 'content-type': 'application/json' }]
  }),
)
const said = { app_version: '1.4.2', platform: 'macos' }

type Seat = { license: number; instanceId: string }
/** What one connection has asked for, and not heard of yet. */
type Turn = { kind: Kind; license: number }
type Kind = 'validate' | 'activate' | 'deactivate' | 'config'

/** Taken by this run, and not given back yet. */
const seats: Seat[] = []
const counts: Record<Kind, { answered: number; failed: number }> = {
  validate: { answered: 0, failed: 0 },
  activate: { answered: 0, failed: 0 },
  deactivate: { answered: 0, failed: 0 },
  config: { answered: 0, failed: 0 },
}
const failures = new Map<string, number>()
let names = 0

/** 85 of a hundred validate, 5 each do something else; where no seat can be given back, one is taken. */
function kindOfTurn(): Kind {
  const dice = Math.random() * 100
  if (dice < 85) return 'validate'
  if (dice < 90) return 'activate'
  if (dice < 95) return seats.length > 0 ? 'deactivate' : 'activate'
  return 'config'
}

function requestOf(turn: Turn): { method: 'GET' | 'POST'; body?: object } {
  const { kind, license } = turn
  const license_key = keyOf(license)
  switch (kind) {
    case 'validate':
      return { method: 'POST', body: { license_key, instance_id: instanceOf(license), ...said } }
    case 'activate':
      return { method: 'POST', body: { license_key, instance_name: `soak-${++names}`, ...said } }
    case 'config':
      return { method: 'GET' }
    case 'deactivate': {
      const seat = seats.pop()
      if (!seat) return requestOf({ ...turn, kind: 'activate' })
      turn.license = seat.license
      return { method: 'POST', body: { license_key: keyOf(seat.license), instance_id: seat.instanceId } }
    }
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

const turns = new WeakMap<object, Turn>()
const instance = autocannon(
  {
    url: asked.url,
    connections: asked.connections,
    duration: asked.seconds,
    ...(asked.rate !== undefined && { overallRate: asked.rate }),
    requests: [
      {
        setupRequest: (request, context) => {
          const turn = { kind: kindOfTurn(), license: Math.floor(Math.random() * asked.licenses) }
          const { method, body } = requestOf(turn)
          turns.set(context, turn)
          const tenantId = tenantOf(turn.license, asked.tenants)
          const path = `/${tenantId}/${productId}/${turn.kind}`
          return {
            ...request,
            method,
            path,
            // Of its own, since the length of the body is written into it.
            headers: { ...headersOf.get(tenantId) },
            body: body && JSON.stringify(body),
          }
        },
        onResponse: (status, body, context) => {
          const turn = turns.get(context)
          if (turn) note(turn, status, body)
        },
      },
    ],
  },
  (error, result) => {
    if (error) throw error as Error
    say({
      perSecond: result.requests.total / result.duration,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
      mostMs: result.latency.max,
      failed: result.errors + result.non2xx,
      counts,
      failures: Object.fromEntries(failures),
    })
  },
)
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const sum = (what: 'answered' | 'failed') =>
  Object.values(counts).reduce((total, count) => total + count[what], 0)
instance.on('tick', () => say({ answered: sum('answered'), failed: sum('failed') }))
