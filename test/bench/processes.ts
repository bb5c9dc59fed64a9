import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { findLocalPostgres } from '../../infra/local/postgres/postgres.ts'
import { limitVariables } from '../../src/config.ts'

const root = join(import.meta.dirname, '../..')

export type Server = { address: string; pid: number; stop(): Promise<void> }

const Load = z.object({
  perSecond: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  failed: z.int(),
  answered: z.int(),
})
export type Load = z.infer<typeof Load>

const Address = z.object({ address: z.string() })

const farAbove = Object.fromEntries(limitVariables.map((name) => [name, '100000000']))

/** The ledger as `npm start` runs it. */
export async function startLedger(
  dataDirectory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = spawn(process.execPath, [join(root, 'src/cli/keyledger.ts'), 'serve'], {
    env: {
      ...process.env,
      KEYLEDGER_DATA_DIR: dataDirectory,
      KEYLEDGER_PORT: '0',
      // Enabled so that their cost is measured, but far above any load.
      ...farAbove,
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return serverOf(child, child.stderr)
}

export const startBare = (): Promise<Server> => startOwn('test/bench/bare-server.ts')
/** See `peer-server.ts`. */
export const startPeer = (licenses: number): Promise<Server> =>
  startOwn('test/bench/peer-server.ts', [String(licenses)])
export const startSink = (): Promise<Server> => startOwn('test/bench/sink.ts')

/** Uses the stores of a running ledger; see `floor-server.ts`. */
export const startFloor = (dataDirectory: string, licenses: number): Promise<Server> =>
  startOwn('test/bench/floor-server.ts', [eventStoreUrl(dataDirectory), String(licenses)], {
    BENCH_DATABASE_URL: postgresUrl(dataDirectory),
  })

function startOwn(
  program: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<Server> {
  const child = spawn(process.execPath, [join(root, program), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return serverOf(child, child.stdout)
}

/** Waits for the line of JSON with its URL. */
async function serverOf(child: ChildProcess, output: NodeJS.ReadableStream): Promise<Server> {
  let last = ''
  for await (const line of createInterface({ input: output })) {
    last = line
    const found = line.startsWith('{') ? Address.safeParse(JSON.parse(line)) : undefined
    if (!found?.success) continue
    output.resume()
    return {
      address: found.data.address,
      pid: child.pid ?? 0,
      async stop() {
        child.kill('SIGTERM')
        if (child.exitCode === null) await once(child, 'exit')
      },
    }
  }
  throw new Error(`the server ended before it listened: ${last}`)
}

/** Runs a program of the benchmark and parses the line of JSON that it prints. */
async function run(program: string, args: string[]): Promise<unknown> {
  const child = spawn(process.execPath, [join(root, 'test/bench', program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return JSON.parse(text)
}

export async function load(options: {
  url: string
  token: string
  kind: 'validate' | 'activate' | 'mint' | 'client-validate' | 'client-activate'
  from?: number
  to?: number
  seconds?: number
  requests?: number
  connections?: number
}): Promise<Load> {
  return Load.parse(await run('load.ts', [JSON.stringify({ from: 0, to: 1, connections: 64, ...options })]))
}

const Rate = z.object({ perSecond: z.number() })

export async function bareAppends(url: string, bytes: number, count: number): Promise<number> {
  return Rate.parse(await run('appender.ts', [url, String(bytes), String(count)])).perSecond
}

/** With a store, each post is recorded by one append. */
export async function barePosts(address: string, storeUrl?: string): Promise<number> {
  const options = storeUrl === undefined ? [address] : [address, storeUrl]
  return Rate.parse(await run('poster.ts', options)).perSecond
}

/** Resident memory of a process in MiB, as the kernel reports it. */
export function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

function postgresUrl(dataDirectory: string): string {
  const running = findLocalPostgres(join(dataDirectory, 'postgres'))
  if (!running) throw new Error('no ledger runs there')
  return running.url
}

export function eventStoreUrl(dataDirectory: string): string {
  const endpoint: unknown = JSON.parse(readFileSync(join(dataDirectory, 'eventstore/endpoint.json'), 'utf8'))
  return z.object({ url: z.string() }).parse(endpoint).url
}
