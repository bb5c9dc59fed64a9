import { spawn } from 'node:child_process'
import { closeSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { answers } from '../postgres/answers.ts'
import { boundLogFile, openLogFile, sizeOf, tailOfLogFile } from '../postgres/log-file.ts'
import { commandLineOf, isAlive, signal, waitUntil } from '../postgres/process-table.ts'
import type { DataDirectory } from './data-directory.ts'
import { LocalStackError } from './error.ts'
import { findFreePort, isPortFree } from './port.ts'

/** A running embedded event store. It outlives this process, until somebody calls `stop`. */
export interface LocalEventStore {
  readonly url: string
  readonly pid: number
  isRunning(): boolean
  /** Keeps the log file within its bound; to be called now and then while it runs. */
  boundLog(): void
  /** Lets it finish what it has accepted, and waits until it has ended. */
  stop(): Promise<void>
}

export interface EventStoreOptions {
  readonly directories: DataDirectory
  /** Whether somebody may know its address already, so that no other port will do. */
  readonly addressInUse: boolean
  /** Another program than the event store, for tests. */
  readonly program?: string | undefined
}

/** TypeScript in a clone, JavaScript in the npm package, as this file is itself. */
const eventStoreProgram = join(import.meta.dirname, `../eventstore/main${extname(import.meta.filename)}`)
/** Its event log is checked when it opens, which takes a moment for millions of events. */
const longestStart_ms = 5 * 60_000
const longestStop_ms = 30_000
/** How the event store ends when another process holds its directory. */
const directoryLocked = 2

const Endpoint = z.object({ url: z.string().min(1), port: z.int().positive(), pid: z.int().positive() })
const RememberedPort = z.object({ port: z.int().positive() })

/**
 * Starts the event store, or adopts the one that already runs on this data directory. Its port stays the same
 * from start to start, unless another program has taken it while nobody used the event store.
 *
 * @throws LocalStackError when it cannot run; the message says what to mend
 */
export async function startEventStore(options: EventStoreOptions): Promise<LocalEventStore> {
  const log = logFileOf(options.directories)
  for (let attempt = 1; ; attempt += 1) {
    const running = await findEventStore(options.directories)
    if (running) return running
    const from_bytes = sizeOf(log)
    const port = await choosePort(options)
    const exitCode = await launch(options, port)
    if (exitCode === undefined) continue
    // Left by a killed process, another one is still opening the directory, or is just ending.
    const mayPass = exitCode === directoryLocked || !(await isPortFree(port))
    if (mayPass && attempt < 60) {
      await sleep(250)
      continue
    }
    throw new LocalStackError(
      `The event store did not start in ${options.directories.eventStore}: it ended with ${exitCode}. ` +
        `Its log is ${log} and ends with:\n${tailOfLogFile(log, from_bytes)}`,
    )
  }
}

/** The event store that runs on this data directory and answers, or undefined. */
export async function findEventStore(directories: DataDirectory): Promise<LocalEventStore | undefined> {
  const endpoint = readEndpoint(directories)
  if (!endpoint || !isEventStore(endpoint.pid, directories)) return undefined
  // It writes its endpoint when it listens, so silence means that it is ending. HTTP/2 servers speak first.
  if (!(await answers({ host: '127.0.0.1', port: endpoint.port }))) {
    await waitUntil(() => !isAlive(endpoint.pid), { within_ms: longestStop_ms })
    return undefined
  }
  return handle(directories, endpoint.pid, endpoint.url)
}

function handle(directories: DataDirectory, pid: number, url: string): LocalEventStore {
  return {
    url,
    pid,
    isRunning: () => isEventStore(pid, directories),
    boundLog: () => boundLogFile(logFileOf(directories)),
    async stop() {
      if (!isEventStore(pid, directories)) return
      signal(pid, 'SIGTERM')
      if (await waitUntil(() => !isAlive(pid), { within_ms: longestStop_ms })) return
      // Harmless: what it has acknowledged is on disk.
      signal(pid, 'SIGKILL')
      await waitUntil(() => !isAlive(pid), { within_ms: longestStop_ms })
    },
  }
}

/** The number alone would not do: after a crash of the machine it may belong to another program. */
function isEventStore(pid: number, { eventStore }: DataDirectory): boolean {
  return isAlive(pid) && commandLineOf(pid)?.includes(` --directory ${eventStore} `) === true
}

/** Returns once it is ready, or with its exit code when it ends before. */
async function launch(options: EventStoreOptions, port: number): Promise<number | string | undefined> {
  const { directories } = options
  const program = options.program ?? eventStoreProgram
  const log = openLogFile(logFileOf(directories))
  const args = [program, '--directory', directories.eventStore, '--port', String(port)]
  const child = spawn(process.execPath, args, {
    cwd: '/',
    // A process group of its own: Ctrl-C in the terminal must not end it before the application has drained.
    detached: true,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  let ended: number | string | undefined
  child.on('error', (error) => {
    ended = error.message
  })
  child.on('exit', (code, signalName) => {
    ended = code ?? signalName ?? 'an unknown cause'
  })
  const isReady = () => readEndpoint(directories)?.pid === child.pid
  await waitUntil(() => isReady() || ended !== undefined, { within_ms: longestStart_ms })
  return ended ?? (isReady() ? undefined : 'no sign of being ready')
}

async function choosePort({ directories, addressInUse }: EventStoreOptions): Promise<number> {
  const remembered = readJson(portFileOf(directories), RememberedPort)?.port
  if (remembered !== undefined && (await isPortFree(remembered))) return remembered
  if (remembered !== undefined && addressInUse) {
    throw new LocalStackError(
      `The event store cannot be started again: another program has taken its port ${remembered}, which running ` +
        `keyledger processes rely on. End that program, or stop all keyledger processes and start again.`,
    )
  }
  const port = await findFreePort()
  const file = portFileOf(directories)
  writeFileSync(`${file}.new`, JSON.stringify({ port }), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return port
}

function readEndpoint(directories: DataDirectory): z.infer<typeof Endpoint> | undefined {
  return readJson(join(directories.eventStore, 'endpoint.json'), Endpoint)
}

function readJson<Schema extends z.ZodType>(path: string, schema: Schema): z.infer<Schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

function logFileOf({ run }: DataDirectory): string {
  return join(run, 'eventstore.log')
}

function portFileOf({ run }: DataDirectory): string {
  return join(run, 'eventstore-port.json')
}
