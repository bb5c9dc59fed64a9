import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createRelayClock, ownClocks } from '../../src/relay/clock.ts'
import { enroll } from '../../src/relay/enrollment.ts'
import { openKey } from '../../src/relay/key.ts'
import { acceptAnswer } from '../../src/relay/requests.ts'
import { openDatabase } from '../../src/relay/store/database.ts'
import { createVendor, productId, tenantId, type Vendor } from '../relay/vendor.ts'
import { memoryMiBOfTree } from './cpu.ts'
import { type Figure, ms } from './figures.ts'

const clients = 500
const perSecond = 200
const seconds = 30
const starts = 7

/** A relay with 500 clients that send 200 heartbeats a second: its start, its memory, and how long its answers take. */
export async function benchRelay(log: (line: string) => void): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'kl-bench-relay-'))
  const vendor = createVendor()
  try {
    await prepare(directory, vendor)
    const startMs: number[] = []
    for (let start = 0; start < starts; start++) {
      const from = performance.now()
      const relay = await startRelay(directory)
      // The first one compiles the code for those after it.
      if (start > 0) startMs.push(performance.now() - from)
      await relay.stop()
    }
    log(`starts: ${startMs.map(ms).join(', ')}`)
    const relay = await startRelay(directory)
    const idleMiB = memoryMiBOfTree(relay.pid)
    const taken = await load(relay.address, vendor)
    log(
      `${String(clients)} seats taken, p50 ${ms(at(taken.takenMs, 0.5))}, p99 ${ms(at(taken.takenMs, 0.99))}`,
    )
    const busyMiB = memoryMiBOfTree(relay.pid)
    const [anonymousMiB, residentMiB] = ['Anonymous', 'Rss'].map((name) => smapsMiB(relay.pid, name))
    log(
      `memory: PSS ${busyMiB.toFixed(1)}, anonymous ${String(anonymousMiB)}, resident ${String(residentMiB)} MiB`,
    )
    await relay.stop()
    const { beatsMs, failed } = taken
    const median = at(startMs, 0.5)
    const bare = { against: `${String(clients)} clients, ${String(perSecond)}/s`, ratio: '' }
    return [
      {
        what: 'relay, start until it answers',
        measured: ms(median),
        against: `${String(starts - 1)} starts, at most ${ms(Math.max(...startMs))}`,
        ratio: '',
        bar: '< 1 s',
        holds: median < 1000,
      },
      {
        ...bare,
        what: 'relay, memory (PSS)',
        measured: `${String(Math.round(busyMiB))} MiB`,
        against: `${String(Math.round(idleMiB))} MiB after the start; ${String(anonymousMiB)} anonymous, ${String(residentMiB)} resident`,
        bar: '< 60 MB',
        holds: busyMiB * 1.048_576 < 60,
      },
      {
        ...bare,
        what: `relay, heartbeat: p50 and p99 of ${beatsMs.length.toLocaleString('en-US')}`,
        measured: `${ms(at(beatsMs, 0.5))}, ${ms(at(beatsMs, 0.99))}`,
        bar: 'none failed',
        holds: failed === 0,
      },
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** A line of what the kernel says of a process's memory. */
function smapsMiB(pid: number, name: string): number {
  const rollup = readFileSync(`/proc/${String(pid)}/smaps_rollup`, 'utf8')
  return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1]) / 1024)
}

async function prepare(directory: string, vendor: Vendor): Promise<void> {
  const enrollment = { tenantId, productId, name: 'Bench', seats: clients, server: null }
  const secrets = { licenseKey: vendor.licenseKey, password: 'correct horse battery staple' }
  const asked = await enroll(directory, { ...enrollment, ...secrets }, ownClocks)
  const database = openDatabase(directory)
  acceptAnswer(database, openKey(directory), createRelayClock(ownClocks, undefined), vendor.answer(asked))
  database.close()
}

async function startRelay(directory: string) {
  const bin = join(import.meta.dirname, '../../bin/keyledger.js')
  const child = spawn(process.execPath, [bin, 'relay', 'serve', '--data', directory, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /http:\S+/.exec(line)?.[0]
    if (address === undefined) continue
    child.stdout.resume()
    return {
      address,
      pid: child.pid ?? 0,
      async stop() {
        child.kill('SIGTERM')
        await once(child, 'exit')
      },
    }
  }
  throw new Error('the relay did not start')
}

const Seated = z.looseObject({ instance_id: z.string(), seat: z.looseObject({ fence: z.int() }) })

/** Every client has a connection of its own, takes a seat, and sends a heartbeat every 2.5 s. */
async function load(address: string, vendor: Vendor) {
  const key = { license_key: vendor.licenseKey }
  const [takenMs, beatsMs]: [number[], number[]] = [[], []]
  let failed = 0
  const seats = await Promise.all(
    Array.from({ length: clients }, async (_, number) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const from = performance.now()
      const body = { ...key, instance_name: `client ${String(number)}`, lease_version: 2 }
      const { instance_id, seat } = Seated.parse(
        (await post(agent, `${address}/${tenantId}/${productId}/activate`, body)).said,
      )
      takenMs.push(performance.now() - from)
      return { agent, instance_id, fence: seat.fence }
    }),
  )
  const sent: Promise<void>[] = []
  const from = performance.now()
  for (let beat = 0; beat < perSecond * seconds; beat++) {
    const due = from + (beat * 1000) / perSecond
    if (due > performance.now()) await sleep(due - performance.now())
    const seat = seats[beat % clients]
    if (!seat) continue
    const { agent, ...named } = seat
    // What waits to be sent counts as well.
    sent.push(
      post(agent, `${address}/${tenantId}/${productId}/heartbeat`, { ...key, ...named }).then(
        ({ status }) => {
          beatsMs.push(performance.now() - due)
          if (status !== 200) failed += 1
        },
      ),
    )
  }
  await Promise.all(sent)
  for (const { agent } of seats) agent.destroy()
  return { takenMs, beatsMs, failed }
}

function post(agent: Agent, url: string, body: object): Promise<{ status: number; said: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const call = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, said: JSON.parse(text) })
      })
    })
    call.on('error', reject)
    call.end(JSON.stringify(body))
  })
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
