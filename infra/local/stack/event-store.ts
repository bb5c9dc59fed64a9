import { spawn } from 'node:child_process'
import { closeSync, readFileSync, rmSync } from 'node:fs'
import type { NetConnectOpts } from 'node:net'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { LocalStackError } from '../errors.ts'
import { isResponding } from '../postgres/answers.ts'
import { boundLogFile, openLogFile, sizeOf, tailOfLogFile } from '../postgres/log-file.ts'
import { commandLineOf, isAlive, signal, waitUntil } from '../postgres/process-table.ts'
import type { DataDirectory } from './data-directory.ts'

/** A running embedded event store. It keeps running after this process ends, until `stop` is called. */
export type LocalEventStore = {
  readonly url: string
  readonly pid: number
  isRunning(): boolean
  /** Limits the size of the log file; call it from time to time while it runs. */
  boundLog(): void
  /** Waits until it has finished pending requests and ended. */
  stop(): Promise<void>
}

export type EventStoreOptions = {
  readonly directories: DataDirectory
  /** A replacement for the event store program, for tests. */
  readonly program?: string | undefined
}

/** TypeScript in a clone, JavaScript in the npm package, like this file. */
const eventStoreProgram = join(import.meta.dirname, `../eventstore/main${extname(import.meta.filename)}`)
/** It checks its log when it opens, which takes a while for millions of events. */
const startTimeoutMs = 5 * 60_000
const stopTimeoutMs = 30_000
/** The exit code when another process uses the directory. */
const directoryLocked = 2

const Endpoint = z.object({ url: z.string().min(1), pid: z.int().positive() })
type Endpoint = z.infer<typeof Endpoint>
const socketScheme = 'unix:'

/**
 * Starts the event store, or adopts the one that runs on this data directory. It listens on a unix socket that
 * only this user can reach, and on no port. Its address depends only on the directory.
 *
 * @throws LocalStackError when it cannot run; the message says how to fix it
 */
export async function startEventStore(options: EventStoreOptions): Promise<LocalEventStore> {
  const { directories } = options
  const log = logFileOf(directories)
  await endStoreOnPort(directories)
  for (let attempt = 1; ; attempt += 1) {
    const running = await findEventStore(directories)
    if (running) return running
    const from_bytes = sizeOf(log)
    const exitCode = await launch(options)
    if (exitCode === undefined) continue
    // A store left by a killed process is still opening the directory, or is ending.
    if (exitCode === directoryLocked && attempt < 60) {
      await sleep(250)
      continue
    }
    throw new LocalStackError(
      `The event store did not start in ${directories.eventStore}: it exited with ${exitCode}. ` +
        `Its log is ${log} and ends with:\n${tailOfLogFile(log, from_bytes)}`,
    )
  }
}

/**
 * Stops a store of an earlier version, which listened on a port that every user of the machine could reach.
 * Such a store is not adopted; its acknowledged events are on disk.
 */
async function endStoreOnPort(directories: DataDirectory): Promise<void> {
  const endpoint = readEndpoint(directories)
  if (endpoint && !endpoint.url.startsWith(socketScheme)) await handle(directories, endpoint).stop()
  rmSync(join(directories.run, 'eventstore-port.json'), { force: true })
}

/** Finds the event store that runs on this data directory and responds; undefined when there is none. */
export async function findEventStore(directories: DataDirectory): Promise<LocalEventStore | undefined> {
  const endpoint = readEndpoint(directories)
  if (!endpoint || !isEventStore(endpoint.pid, directories)) return undefined
  // It writes its endpoint when it listens, so no response means that it is ending. HTTP/2 servers send first.
  if (!(await isResponding(addressOf(endpoint)))) {
    await waitUntil(() => !isAlive(endpoint.pid), { within_ms: stopTimeoutMs })
    return undefined
  }
  return handle(directories, endpoint)
}

function addressOf({ url }: Endpoint): NetConnectOpts {
  if (url.startsWith(socketScheme)) return { path: url.slice(socketScheme.length) }
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

function handle(directories: DataDirectory, { pid, url }: Endpoint): LocalEventStore {
  return {
    url,
    pid,
    isRunning: () => isEventStore(pid, directories),
    boundLog: () => boundLogFile(logFileOf(directories)),
    async stop() {
      if (!isEventStore(pid, directories)) return
      signal(pid, 'SIGTERM')
      if (await waitUntil(() => !isAlive(pid), { within_ms: stopTimeoutMs })) return
      // Safe: acknowledged events are on disk.
      signal(pid, 'SIGKILL')
      await waitUntil(() => !isAlive(pid), { within_ms: stopTimeoutMs })
    },
  }
}

/** The pid alone is not enough: after a crash of the machine it may belong to another program. */
function isEventStore(pid: number, { eventStore }: DataDirectory): boolean {
  return isAlive(pid) && `${commandLineOf(pid)} `.includes(` --directory ${eventStore} `)
}

/** Starts the store. @returns undefined when it is ready, or its exit code when it ends before */
async function launch(options: EventStoreOptions): Promise<number | string | undefined> {
  const { directories } = options
  const program = options.program ?? eventStoreProgram
  const log = openLogFile(logFileOf(directories))
  const args = [program, '--directory', directories.eventStore]
  const child = spawn(process.execPath, args, {
    cwd: '/',
    // In its own process group, so that Ctrl-C in the terminal does not end it before the application has
    // drained.
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
  await waitUntil(() => isReady() || ended !== undefined, { within_ms: startTimeoutMs })
  return ended ?? (isReady() ? undefined : 'no sign that it is ready')
}

function readEndpoint({ eventStore }: DataDirectory): Endpoint | undefined {
  try {
    return Endpoint.parse(JSON.parse(readFileSync(join(eventStore, 'endpoint.json'), 'utf8')))
  } catch {
    return undefined
  }
}

function logFileOf({ run }: DataDirectory): string {
  return join(run, 'eventstore.log')
}
