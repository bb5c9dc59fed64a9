import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { limitVariables } from '../../src/config.ts'
import { type Checkout, startCheckout } from './checkout.ts'
import { type Figure, ms } from './figures.ts'
import type { Attack } from './hostile-sender.ts'
import { fill, runLoad } from './latency.ts'

const licenses = 20_000
/** Far from what the machine can answer, since the senders of the requests share its cores. */
const perSecond = 100
const roundSeconds = 4
const rounds = 3
const connections = 10
/** Ten connections leave the p99 of validates within this factor. */
const most = 2
/** What one request may cost the ledger. */
const mostCpuMs = 5

type Hostile = {
  what: string
  path: string
  method: 'GET' | 'POST'
  type?: string
  body?: string
  token?: true | undefined
}

/** Validates have no limit here; everything else has its own. */
const limitsByDefault = Object.fromEntries(
  limitVariables.filter((name) => name !== 'KEYLEDGER_LIMIT_RUNTIME').map((name) => [name, undefined]),
)

const json = 'application/json'
const fields = JSON.stringify(
  Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`f${index}`, 1])),
)
const deep = `${'{"a":'.repeat(80_000)}1${'}'.repeat(80_000)}`
const post = (path: string, body: string): Hostile => ({
  what: `POST ${path}`,
  path,
  method: 'POST',
  type: json,
  body,
})
const get = (path: string): Hostile => ({
  what: `GET ${path.split('?')[0]}`,
  path,
  method: 'GET',
  token: true,
})
const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Requests without a token, each with the largest body, and the expensive ones of a member of the tenant. */
const requestsAbout = (licenseId: string): readonly Hostile[] => [
  post('/v1/login/device', fields),
  post('/v1/login/device/token', deep),
  post('/v1/licenses/validate', fields),
  post('/demo/demo-app/activate', fields),
  post('/nowhere', fields),
  { ...post('/dashboard/sign-in', 'a=1&'.repeat(250_000)), type: 'application/x-www-form-urlencoded' },
  { ...get('/demo/.well-known/service-keys'), token: undefined },
  { ...get('/v1/transparency/checkpoint'), token: undefined },
  { ...post('/mcp', message('tools/list', {})), token: true },
  get('/v1/licenses?q=license&limit=100'),
  get(`/v1/licenses/${licenseId}/evidence`),
  get('/v1/licenses/export?format=csv'),
  get('/v1/insights?from=2020-01-01&to=2026-01-01'),
  { ...post(`/v1/licenses/${licenseId}/remint?dryRun=true`, '{}'), token: true },
]

/**
 * What ten connections that send hostile requests as fast as they are answered do to the p99 of validates, in turns with
 * rounds without them.
 */
export async function benchHostile(log: (line: string) => void): Promise<Figure[]> {
  const ledger = await startCheckout('this', join(import.meta.dirname, '../..'), undefined, limitsByDefault)
  try {
    await fill(ledger, log)
    let offset = 0
    const p99 = async () => {
      offset += 997
      const load = { url: ledger.address, token: ledger.token, kind: 'validate', perSecond } as const
      return (await runLoad({ ...load, seconds: roundSeconds, licenses, offset })).p99Ms
    }
    await p99()
    const figures: Figure[] = []
    const licenseId = await firstLicense(ledger)
    for (const hostile of requestsAbout(licenseId)) {
      const [without, beside]: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round++) {
        without.push(await p99())
        const attack = attackWith(ledger, hostile)
        beside.push(await p99())
        await attack.end()
      }
      const [calm, loaded] = [median(without), median(beside)]
      const { perSecond: rate, cpuMs } = await costOf(ledger, hostile)
      log(`${hostile.what}: ${ms(calm)} without, ${ms(loaded)} beside; ${rate}/s at ${ms(cpuMs)} of CPU each`)
      figures.push(
        {
          what: `p99 of validates at ${perSecond}/s beside ten connections with ${hostile.what}`,
          measured: ms(loaded),
          against: `without ${ms(calm)}`,
          ratio: `× ${(loaded / calm).toFixed(1)}`,
          bar: `≤ × ${most}`,
          holds: loaded <= most * calm,
        },
        {
          what: `CPU of the ledger for one ${hostile.what}`,
          measured: `${ms(cpuMs)}, ${rate} a second`,
          against: '',
          ratio: '',
          bar: `≤ ${mostCpuMs} ms`,
          holds: cpuMs <= mostCpuMs,
        },
      )
    }
    return figures
  } finally {
    await ledger.stop()
  }
}

/**
 * Sends requests from a process of its own, which takes the processor only when nothing else wants it: hostile clients are on
 * machines of their own.
 * @returns what ends it and tells how many were sent
 */
function attackWith({ address, token }: Checkout, hostile: Hostile): { end(): Promise<number> } {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'hostile-sender.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW)
  const { path, method, type, body } = hostile
  const headers = {
    accept: 'application/json, text/event-stream',
    ...(type !== undefined && { 'content-type': type }),
    ...(hostile.token && { authorization: `Bearer ${token}` }),
  }
  const sent = text(child.stdout)
  child.stdin.write(
    `${JSON.stringify({ connections, url: address + path, method, headers, body } satisfies Attack)}\n`,
  )
  return {
    async end() {
      child.stdin.end()
      return Number(await sent)
    },
  }
}

/** What the requests cost when nothing else is asked. */
async function costOf(ledger: Checkout, hostile: Hostile): Promise<{ perSecond: number; cpuMs: number }> {
  const before = ledger.cpuMs()
  const attack = attackWith(ledger, hostile)
  await sleep(roundSeconds * 1000)
  const sent = await attack.end()
  return { perSecond: Math.round(sent / roundSeconds), cpuMs: (ledger.cpuMs() - before) / sent }
}

async function firstLicense({ address, token }: Checkout): Promise<string> {
  const answer = await fetch(`${address}/v1/licenses?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const [license] = Page.parse(await answer.json()).items
  return license.id
}

const Page = z.object({ items: z.tuple([z.object({ id: z.string() })]) })

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
