// Guarantee: several workers act as one server. All of them show what one has acknowledged; a dead worker is
// replaced while the others serve; SIGHUP replaces them without a failed request; and without their parent none
// continues.
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from '../../infra/local/postgres/process-table.ts'
import { createHost, type Environment, hasEnded, type Running, type Server } from '../harness/process.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
const metricsToken = 'metrics-token-of-the-tests'

type WorkerServer = { server: Server; token: string; environment: Environment }

let running: Promise<WorkerServer> | undefined

/** A server with two workers, reused from the previous test unless it ended: a start takes seconds of CPU. */
async function runningServer(): Promise<WorkerServer> {
  const left = await running
  if (left && !hasEnded(left.server)) return left
  running = startServer()
  return running
}

async function startServer(): Promise<WorkerServer> {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  const server = await host.serve({
    ...environment,
    KEYLEDGER_WORKERS: '2',
    KEYLEDGER_METRICS_TOKEN: metricsToken,
  })
  await expect.poll(() => listeningOf(server)).toBe(2)
  await client(server.address, token).createProduct(1)
  return { server, token, environment }
}

/** The number of workers that have begun to serve since the start. */
const listeningOf = ({ stderr }: Running): number =>
  new Set([...stderr().matchAll(/"worker":(\d+),.*Serving/g)].map(([, pid]) => pid)).size

function workersOf({ child }: Running): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [pid = 0, parent] = line.trim().split(/\s+/).map(Number)
    return parent === child.pid && isAlive(pid) ? [pid] : []
  })
}

/** Sends a request on a new connection, which goes to the next worker. */
async function askAnew(address: string, path: string, token: string, body?: object): Promise<unknown> {
  const { body: answer } = await request(address + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    reset: true,
  })
  const text = await answer.text()
  return text.startsWith('{') ? JSON.parse(text) : text
}

test('every worker shows changes that another one has acknowledged', async () => {
  const { server, token } = await runningServer()
  const vendor = client(server.address, token)
  const askAll = (path: string, body: object) =>
    Promise.all(Array.from({ length: 6 }, () => askAnew(server.address, path, token, body)))
  for (let round = 0; round < 5; round++) {
    const { licenseId, licenseKey } = await vendor.mint()
    await vendor.activate(licenseKey, 'laptop')
    const seat = { product_id: productId, license_key: licenseKey, device_id: 'laptop' }
    for (const answer of await askAll('/v1/licenses/validate', seat))
      expect(answer).toMatchObject({ valid: true, status: 'active' })
    await askAnew(server.address, `/v1/licenses/${licenseId}/remint`, token, {})
    for (const answer of await askAll('/v1/licenses/validate', seat))
      expect(answer).toMatchObject({ valid: false, status: 'reminted' })
  }
})

test('a killed worker is replaced, and its metrics remain', async () => {
  const { server, token } = await runningServer()
  const before = workersOf(server)
  const listening = listeningOf(server)
  expect(before).toHaveLength(2)
  const asked = 20
  const counted = await countedVerifies(server)
  for (let turn = 0; turn < asked; turn++) await askAnew(server.address, '/v1/tokens/verify', token)
  expect(await countedVerifies(server)).toBe(counted + asked)

  const [victim = 0, survivor] = before
  process.kill(victim, 'SIGKILL')
  await expect.poll(() => listeningOf(server)).toBe(listening + 1)
  const after = workersOf(server)
  expect(after).toHaveLength(2)
  expect(after).toContain(survivor)
  expect(after).not.toContain(victim)
  for (let turn = 0; turn < asked; turn++) await askAnew(server.address, '/v1/tokens/verify', token)
  expect(await countedVerifies(server)).toBe(counted + 2 * asked)
})

test('without any worker the port answers 503, and a probe and a metric say that workers died', async () => {
  const { server } = await runningServer()
  const listening = listeningOf(server)
  const deaths = () => server.stderr().split('worker.died').length
  const before = deaths()
  for (const worker of workersOf(server)) process.kill(worker, 'SIGKILL')
  await expect.poll(deaths).toBe(before + 2)
  const answers = new Set<string>()
  await expect
    .poll(async () => {
      const { statusCode, headers, body } = await request(`${server.address}/v1/licenses/validate`, {
        method: 'POST',
        body: '{}',
        reset: true,
      })
      answers.add(`${statusCode} ${headers['retry-after']} ${await body.text()}`)
      return listeningOf(server)
    })
    .toBe(listening + 2)
  const unavailable = { error: { code: 'unavailable', message: 'the server is starting again; retry' } }
  expect([...answers]).toContain(`503 1 ${JSON.stringify(unavailable)}`)
  expect([...answers].filter((answer) => !/^(503|401) /.test(answer))).toStrictEqual([])

  const ready = await fetch(`${server.address}/readyz`)
  const died = expect.stringMatching(
    /^2 of 2 serve; \d died since the start, the last one at .* \(SIGKILL\)$/,
  ) as string
  expect(await ready.json()).toMatchObject({
    ready: true,
    parts: { workers: { ok: false, required: false, detail: died } },
  })
  const metrics = String(await askAnew(server.address, '/metrics', metricsToken))
  expect(Number(/^keyledger_worker_deaths_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(2)
})

/** The number of validates in the metrics of the whole server. */
async function countedVerifies({ address }: Server): Promise<number> {
  const text = String(await askAnew(address, '/metrics', metricsToken))
  const names = text.split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  expect(names).toContain('process_start_time_seconds')
  expect(names).toContain('keyledger_projection_lag_events')
  expect(names).toStrictEqual([...new Set(names)])
  const line = /^keyledger_request_duration_seconds_count\{.*route="\/v1\/tokens\/verify".*\} (\d+)$/m
  return Number(line.exec(text)?.[1] ?? 0)
}

test('SIGHUP replaces every worker, and no request fails meanwhile', async () => {
  const { server, token } = await runningServer()
  const before = workersOf(server)
  const failures: unknown[] = []
  let answered = 0
  let over = false
  const keepAsking = async (ask: () => Promise<{ status: number }>) => {
    while (!over) {
      try {
        const { status } = await ask()
        if (status === 200) answered++
        else failures.push(status)
      } catch (error) {
        failures.push(error)
      }
      // With this pause, a connection is idle when its worker begins to drain.
      await sleep(5)
    }
  }
  const pool = new Pool(server.address, { connections: 4, pipelining: 1 })
  onTestFinished(() => pool.close())
  const headers = { authorization: `Bearer ${token}` }
  const kept = async () => {
    // A repeated POST could hide a closed connection; undici does not repeat one.
    const { statusCode: status, body } = await pool.request({
      path: '/v1/licenses/validate',
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ product_id: productId, license_key: 'K', device_id: 'd' }),
    })
    await body.dump()
    return { status }
  }
  const asking = [
    ...Array.from({ length: 4 }, () => keepAsking(kept)),
    keepAsking(() => fetch(`${server.address}/readyz`, { headers: { connection: 'close' } })),
  ]

  server.child.kill('SIGHUP')
  await expect.poll(() => server.stderr()).toContain('The workers were replaced')
  await expect.poll(() => workersOf(server).filter((pid) => before.includes(pid))).toStrictEqual([])
  expect(workersOf(server)).toHaveLength(2)
  over = true
  await Promise.all(asking)
  expect(failures).toStrictEqual([])
  expect(answered).toBeGreaterThan(0)
})

test('a start on a port in use fails with one sentence', async () => {
  const { server, environment } = await runningServer()
  const second = host.startServer({ ...environment, KEYLEDGER_WORKERS: '2' }, portOf(server))
  const { code, stderr } = await second.finished
  expect(code).toBe(1)
  expect(stderr).toContain(`Port ${portOf(server)} on localhost is in use.`)
})

test('Ctrl-C finishes requests in flight and ends the workers', async () => {
  const { server, token } = await runningServer()
  const vendor = client(server.address, token)
  const workers = workersOf(server)
  // A terminal sends the signal to every process.
  const minting = Array.from({ length: 20 }, () => vendor.mint())
  await Promise.race(minting)
  for (const worker of workers) process.kill(worker, 'SIGINT')
  const { code } = await server.end('SIGINT')
  const outcomes = await Promise.allSettled(minting)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toStrictEqual([])
  expect(code).toBe(0)
  expect(workers.filter(isAlive)).toStrictEqual([])
})

test('workers exit when their parent is killed', async () => {
  const { server } = await runningServer()
  const workers = workersOf(server)
  await server.end('SIGKILL')
  await expect.poll(() => workers.filter(isAlive)).toStrictEqual([])
  await expect(fetch(`${server.address}/livez`)).rejects.toThrow()
})

const portOf = ({ address }: Server): number => Number(new URL(address).port)
