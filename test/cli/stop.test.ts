// Guarantee: Ctrl-C stops everything in order: requests in flight are completed, the embedded parts are stopped, no
// process is left, the exit code is 0; and the next start continues with the same data.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { commandLineOf } from '../../infra/local/postgres/process-table.ts'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import { connectTo, eventStoreOf } from '../flows/embedded.ts'
import { client, createVendor } from '../flows/vendor.ts'
import { oldNode } from '../harness/old-node.ts'
import { createHost, type Environment, freePort, program, type Running } from '../harness/process.ts'

const host = createHost()
const launcher = fileURLToPath(new URL('../../bin/keyledger.js', import.meta.url))
const Tenants = z.array(z.looseObject({ tenantId: z.string() }))
const tokenLine = /^ {2}kl_pat_\w+$/m

test('Ctrl-C completes requests in flight and stops every process; the next start continues without a new token', async () => {
  const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
  const first = await host.serve(environment)
  await expect.poll(() => first.stdout()).toMatch(tokenLine)
  const vendor = client(first.address, await createVendor(environment))
  await vendor.createProduct(1)

  // A response waits for the read models, which are blocked here until the server is stopping.
  const session = await connectTo(environment)
  await session.query('select pg_advisory_lock($1)', [projectionLock])
  const inFlight = Array.from({ length: 20 }, () => vendor.mint().then(() => 'minted', brokenConnection))
  await mintedInLog(environment, 20)
  const stopped = first.end('SIGINT')
  await expect.poll(() => first.stderr()).toContain('Stopping after the running requests have finished')
  await session.end()
  const { code, stdout } = await stopped
  expect(code).toBe(0)
  expect(stdout).toMatch(tokenLine)
  const outcomes = await Promise.all(inFlight)
  expect(new Set(outcomes)).toStrictEqual(new Set(['minted']))
  expect(processesOf(environment)).toStrictEqual([])

  const second = await host.serve(environment)
  await ready(second)
  expect(second.stdout()).not.toMatch(tokenLine)
  expect(second.stdout()).toContain(`${second.address}/dashboard`)
  expect(await vendorsKnownTo(environment)).toStrictEqual(['acme', 'demo'])
  expect((await second.end('SIGTERM')).code).toBe(0)
  expect(processesOf(environment)).toStrictEqual([])

  // Without a server, the command starts what it needs and stops it again.
  expect(await vendorsKnownTo(environment)).toStrictEqual(['acme', 'demo'])
  expect(processesOf(environment)).toStrictEqual([])
})

test('the demo ends with 0 differences, and leaves no file and no process', async () => {
  const { code, stdout, stderr } = await host.start(['node', program, 'demo'], {
    KEYLEDGER_PORT: 'ignored',
  }).finished
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('POST /v1/licenses/activate')
  expect(stdout).toContain('seat_limit_reached')
  expect(stdout).toContain('● LicenseRevoked')
  expect(stdout.trimEnd()).toMatch(/\d+ events replayed, \d+ rows compared, 0 differences$/)
  expect(
    readdirSync(join(host.directory, 'tmp')).filter((name) => name.startsWith('keyledger-')),
  ).toStrictEqual([])
})

const old = oldNode()
test.runIf(old !== undefined)(
  'the launcher under an older Node passes on arguments, output and exit codes',
  async () => {
    const { environment } = await host.stores()
    const launch = (...args: string[]) => host.start([old ?? '', launcher, ...args], environment).finished
    expect(await launch('tenant', 'create', 'acme', '--json')).toMatchObject({ code: 0, stderr: '' })
    expect(await launch('tenant', 'create', 'acme')).toMatchObject({ code: 1, stdout: '' })
    expect(await launch('nonsense')).toMatchObject({ code: 2, stdout: '' })
  },
)

test.runIf(old !== undefined).each(['SIGINT', 'SIGTERM'] as const)(
  'the launcher under an older Node passes on %s, and exits with the code of the server',
  async (signal) => {
    const { environment } = await host.stores()
    const port = String(await freePort())
    const running = host.start([old ?? '', launcher, 'serve'], { ...environment, KEYLEDGER_PORT: port })
    await ready(running)
    expect(await running.end(signal)).toMatchObject({ code: 0 })
    await expect(fetch(`http://localhost:${port}/livez`)).rejects.toThrow()
  },
)

/** Waits until the log contains this many licenses. */
async function mintedInLog(environment: Environment, count: number): Promise<void> {
  const ledger = connectLedger(eventStoreOf(environment)?.url ?? '')
  const minted = async () => {
    const { entries } = await ledger.readPage(undefined, 1000)
    return entries.filter((entry) => entry.readable && entry.event.type === 'LicenseMinted').length
  }
  await expect.poll(minted).toBe(count)
  await ledger.close()
}

async function ready(running: Running): Promise<void> {
  await expect.poll(() => running.stderr()).toContain('"msg":"Ready"')
}

const brokenConnection = (error: unknown) => (error instanceof Error ? error.message : 'broken')

async function vendorsKnownTo(environment: Environment): Promise<string[]> {
  const tenants = await host.json(Tenants, ['tenant', 'list'], environment)
  return tenants.map(({ tenantId }) => tenantId).toSorted()
}

/** The embedded parts that are running on the data directory. */
function processesOf({ KEYLEDGER_DATA_DIR: directory = '' }: Environment): string[] {
  const pids = execFileSync('ps', ['-axo', 'pid='], { encoding: 'utf8' }).trim().split(/\s+/)
  const lines = pids.map((pid) => commandLineOf(Number(pid)) ?? '')
  return lines.filter((line) => line.includes(`${directory}/`))
}
