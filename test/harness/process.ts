import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import { limitVariables } from '../../src/config.ts'
import { type Environment, type Finished, startCommands, withoutProgress } from './commands.ts'
import { createTestDatabase } from './database.ts'
import { openTestEventStore } from './event-store.ts'
import { freePort } from './port.ts'

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
/** The command that `npm start` runs. */
export const program = fileOf('src/cli/keyledger.ts')

export type { Environment, Finished } from './commands.ts'
export { freePort } from './port.ts'

const limitsOff = Object.fromEntries(limitVariables.map((name) => [name, 'off']))

/** Stores that outlive every keyledger process: a database and an event store process. */
export type Stores = { databaseUrl: string; eventstoreUrl: string; environment: Environment }

export type Host = {
  /** Removed after the file's tests. */
  readonly directory: string
  /** An unused path in the directory. */
  path(name: string): string
  /** Stores that run independently of keyledger, so that killing it does not affect them. */
  stores(): Promise<Stores>
  /** Starts a program with keyledger's environment; `node` as its first word is the running Node. */
  start(command: readonly string[], environment: Environment): Running
  /** Runs `keyledger <args>` in a process that is reused for the next command. */
  run(args: readonly string[], environment: Environment): Promise<Finished>
  /** Runs `keyledger <args> --json` and parses its output; throws for any exit code but 0. */
  json<S extends z.ZodType>(schema: S, args: readonly string[], environment: Environment): Promise<z.infer<S>>
  /** Starts `keyledger serve` without waiting. */
  startServer(environment: Environment, port: number, roles?: string): Running
  /** Starts `keyledger serve` and waits until it is ready. */
  serve(environment: Environment, options?: { roles?: string; port?: number }): Promise<Server>
  /** The output of all processes. */
  output(): string
}

export type Running = {
  readonly child: ChildProcess
  readonly finished: Promise<Finished>
  stdout(): string
  stderr(): string
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Finished>
}

export type Server = Running & { readonly address: string }

/** The processes and files of one test file. They are always ended and removed. */
export function createHost(): Host {
  const directory = mkdtempSync(join(tmpdir(), 'kl-'))
  const guardian = spawn(process.execPath, [fileOf('test/harness/process-guardian.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  guardian.stdin.write(`${directory}\n`)
  const running = new Set<Running>()
  const ended: (() => Promise<void>)[] = []
  let printed = ''
  beforeAll(() => {
    mkdirSync(join(directory, 'tmp'))
  })
  afterAll(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all([...running].map(({ finished }) => finished))
    await commands?.end()
    guardian.stdin.end()
    await once(guardian, 'exit')
    for (const step of ended) await step()
  })

  const onText = (text: string) => {
    printed += text
  }
  const own: Environment = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    TMPDIR: join(directory, 'tmp'),
    // As `npm start` sets it, which makes each start faster.
    NODE_COMPILE_CACHE: fileOf('node_modules/.cache/keyledger'),
    // Tests send requests as fast as they can; tests of the limits set them.
    ...limitsOff,
    // Several workers take longer to start; tests that need them set the number.
    KEYLEDGER_WORKERS: '1',
  }

  function start([first = '', ...rest]: readonly string[], environment: Environment): Running {
    const child = spawn(first === 'node' ? process.execPath : first, rest, {
      cwd: directory,
      env: { ...own, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const process_ = follow(child, onText)
    running.add(process_)
    void process_.finished.then(() => running.delete(process_))
    return process_
  }

  let commands: ReturnType<typeof startCommands> | undefined
  const run = (args: readonly string[], environment: Environment) => {
    commands ??= startCommands({ cwd: directory, env: own }, onText)
    return commands.run(args, { ...own, ...environment })
  }

  const startServer = (environment: Environment, port: number, roles?: string) =>
    start(['node', program, 'serve', ...(roles === undefined ? [] : ['--roles', roles])], {
      ...environment,
      KEYLEDGER_PORT: String(port),
    })

  /** The URL of a separate event store: a container in `npm run test:containers`, if its image is available. */
  async function eventStoreUrl(): Promise<string> {
    if (process.env.KEYLEDGER_TEST_EVENTSTORE === 'container') {
      const { url, stop } = await openTestEventStore()
      ended.push(async () => void (await stop()))
      return url
    }
    const script = fileOf('infra/local/eventstore/main.ts')
    const store = start(['node', script, '--directory', host.path('events'), '--port', '0'], {})
    return Endpoint.parse(JSON.parse(await firstLine(store))).url
  }

  let names = 0
  const host: Host = {
    directory,
    path: (name) => join(directory, `${name}-${++names}`),
    start,
    run,
    startServer,
    output: () => printed,
    async stores() {
      const database = await createTestDatabase()
      ended.push(() => database.drop())
      const url = await eventStoreUrl()
      const environment = {
        KEYLEDGER_DATA_DIR: host.path('unused'),
        KEYLEDGER_DATABASE_URL: database.url,
        KEYLEDGER_EVENTSTORE_URL: url,
        KEYLEDGER_MASTER_KEY: randomBytes(32).toString('base64'),
      }
      return { databaseUrl: database.url, eventstoreUrl: url, environment }
    },
    async json(schema, args, environment) {
      const { code, stdout, stderr } = await run([...args, '--json'], environment)
      if (code !== 0) throw new Error(`keyledger ${args.join(' ')} ended with ${code}: ${stderr}`)
      return schema.parse(JSON.parse(stdout))
    },
    async serve(environment, { roles, port } = {}) {
      const chosen = port ?? (await freePort())
      const server = startServer(environment, chosen, roles)
      const address = `http://localhost:${chosen}`
      await answering(address, server)
      return { ...server, address }
    },
  }
  return host
}

const Endpoint = z.object({ url: z.string() })

function follow(
  child: ChildProcessByStdio<null, Readable, Readable>,
  onText: (text: string) => void,
): Running {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
      onText(text)
    })
  }
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      // A killed process may leave children that keep its outputs open.
      const done = () => resolve({ code, signal, ...texts, stderr: withoutProgress(texts.stderr) })
      child.once('close', done)
      setTimeout(done, 1000).unref()
    })
  })
  return {
    child,
    finished,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    async end(signal) {
      child.kill(signal)
      return finished
    },
  }
}

async function firstLine(process_: Running): Promise<string> {
  for (;;) {
    const [line, ...more] = process_.stdout().split('\n')
    if (line !== undefined && more.length > 0) return line
    if (hasEnded(process_)) throw new Error(`it ended without a line: ${process_.stderr()}`)
    await sleep(10)
  }
}

async function answering(address: string, server: Running): Promise<void> {
  while (!(await fetch(`${address}/livez`).catch(() => undefined))?.ok) {
    if (hasEnded(server)) throw new Error(`keyledger serve ended: ${server.stderr()}`)
    // A call that is refused costs a millisecond, and a start a second or two.
    await sleep(50)
  }
}

export const hasEnded = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null
