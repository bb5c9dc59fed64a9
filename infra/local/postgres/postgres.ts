import { spawn } from 'node:child_process'
import { accessSync, closeSync, constants, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Durability } from '../durability.ts'
import { LocalPostgresError } from '../errors.ts'
import { makeSocketDirectory, NoSocketDirectory, removeSocketDirectory } from '../socket-directory.ts'
import { type Account, changeOwner, chooseAccount, serverEnvironment } from './account.ts'
import { isResponding } from './answers.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { advice, ClusterInUse, type ClusterPlan, ensureCluster, runStatements } from './cluster.ts'
import { boundLogFile, openLogFile, sizeOf, tailOfLogFile } from './log-file.ts'
import { type Passwords, readPasswords } from './passwords.ts'
import { findPostmaster, type Postmaster, removeMisleadingPidFile } from './postmaster.ts'
import { isAlive, signal, waitUntil } from './process-table.ts'
import { appRole, isSecured, schemaRole, secure } from './roles.ts'
import { databaseUrl, serverSettings, socketName } from './settings.ts'

/** A running embedded Postgres. It keeps running after this process ends, until `stop` is called. */
export type LocalPostgres = {
  /** The URL of the database `keyledger` for `pg`, with the application's role. */
  readonly url: string
  /** The same with the role that runs migrations. */
  readonly migrationUrl: string
  readonly pid: number
  /** Whether it was already running. */
  readonly adopted: boolean
  isRunning(): boolean
  /** Limits the size of the log file; call it from time to time while the server runs. */
  boundLog(): void
  /** Ends all connections and waits until the server has stopped. Does nothing when it is stopped. */
  stop(): Promise<void>
}

export type LocalPostgresOptions = {
  /** The directory of the cluster, its log and its socket; created when missing. */
  readonly directory: string
  /** `full` unless the data may be lost. */
  readonly durability?: Durability
  /** Called with a sentence about each slow step. */
  readonly log?: (message: string) => void
}

type ClusterFiles = {
  readonly directory: string
  readonly data: string
  readonly logFile: string
}

/** After a crash a large database recovers from its log before it is ready. */
const recoveryTimeoutMs = 10 * 60_000
const shutdownTimeoutMs = 60_000
/** With a pause of 100 ms each. */
const maxAttempts = 600
/** Disconnecting clients have finished within this time. */
const disconnectGraceMs = 300

/**
 * Starts the embedded Postgres on a directory, or adopts the one that runs there. Concurrent calls, also from
 * several processes, get the same server.
 *
 * @throws LocalPostgresError when it cannot run; the message says how to fix it
 */
export async function startPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  try {
    return await adoptOrStart(options)
  } catch (error) {
    if (error instanceof NoSocketDirectory) throw new LocalPostgresError(error.message, { cause: error })
    if (error instanceof LocalPostgresError || (error as NodeJS.ErrnoException).code === undefined)
      throw error
    throw new LocalPostgresError(
      `The embedded Postgres cannot use the directory ${options.directory}: ${(error as Error).message}. Start ` +
        `keyledger as the user who created it, make it writable for this user, or choose another directory with ` +
        `KEYLEDGER_DATA_DIR.`,
      { cause: error },
    )
  }
}

async function adoptOrStart(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const { log = () => undefined, durability = 'full' } = options
  const files = filesIn(makeDirectory(options.directory))
  const { directory } = files
  for (let attempt = 1; ; attempt += 1) {
    const running = await awaitRunning(files)
    if (running && isSecured(directory)) return handle(files, running, true)
    if (running) {
      log('Restarting Postgres, because it accepted every local connection')
      await handle(files, running, true).stop()
    }
    const binaries = findBinaries()
    const account = chooseAccount(binaries, directory)
    changeOwner(account, directory)
    const plan = { directory, binaries, account, durability, logFile: files.logFile }
    try {
      await ensureCluster(plan)
      await ensureSecured(plan, files)
    } catch (error) {
      if (!(error instanceof ClusterInUse)) throw error
      if (attempt === maxAttempts) {
        throw new LocalPostgresError(
          `The cluster in ${files.data} is in use by the process in its file postmaster.pid. Stop that process, and start again.`,
        )
      }
      // Another process is preparing or starting the cluster.
      await sleep(100)
      continue
    }
    const socketDirectory = makeSocketDirectory(directory, socketName, account.owner)
    const args = ['-D', files.data, ...serverSettings(socketDirectory, durability)]
    return await launch(files, binaries, account, args, log)
  }
}

async function ensureSecured(plan: ClusterPlan, { directory, data }: ClusterFiles): Promise<void> {
  if (isSecured(directory)) return
  removeMisleadingPidFile(data)
  await secure(directory, plan.account, (statements) => runStatements(plan, data, 'keyledger', statements))
}

/**
 * Finds the server that runs on a directory without starting it, for callers that stop it; undefined when none
 * runs.
 */
export function findLocalPostgres(directory: string): LocalPostgres | undefined {
  const files = filesIn(directory)
  const found = findPostmaster(files.data)
  return found && handle(files, found, true)
}

function filesIn(directory: string): ClusterFiles {
  return { directory, data: join(directory, 'data'), logFile: join(directory, 'postgres.log') }
}

function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  accessSync(path, constants.W_OK | constants.X_OK)
  return realpathSync(path)
}

/** Waits for the server on this cluster to be ready; undefined when none runs or the last one is stopping. */
async function awaitRunning(files: ClusterFiles): Promise<Postmaster | undefined> {
  let found = findPostmaster(files.data)
  await waitUntil(
    async () => {
      found = findPostmaster(files.data)
      return found === undefined || (found.status === 'ready' && (await isServing(found)))
    },
    { within_ms: recoveryTimeoutMs },
  )
  return found
}

/**
 * Sends an SSLRequest, the first message of the protocol, which needs no user.
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html SSLRequest
 */
const isServing = ({ socketDirectory }: Postmaster): Promise<boolean> =>
  isResponding({ path: join(socketDirectory, socketName) }, Buffer.of(0, 0, 0, 8, 4, 210, 22, 47))

async function launch(
  files: ClusterFiles,
  binaries: Binaries,
  account: Account,
  args: string[],
  log: (message: string) => void,
): Promise<LocalPostgres> {
  // A killed server leaves workers behind that end by themselves; until then a new server cannot start.
  for (let attempt = 1; ; attempt += 1) {
    removeMisleadingPidFile(files.data)
    const from_bytes = sizeOf(files.logFile)
    const pid = spawnServer(files, account.command(binaries.postgres, args))
    const ready = await awaitStart(files, pid, log)
    if (ready) return handle(files, ready, ready.pid !== pid)
    const tail = tailOfLogFile(files.logFile, from_bytes)
    if (attempt < 40 && /is still in use|lock file .* already exists/.test(tail)) {
      await sleep(250)
      continue
    }
    throw new LocalPostgresError(
      `Postgres did not start on ${files.data}. ${advice(tail)}Its log is ${files.logFile} and ends with:\n${tail}`,
    )
  }
}

/**
 * Starts the server in its own process group, so that Ctrl-C in the terminal does not end it before the
 * application.
 */
function spawnServer(files: ClusterFiles, command: ReturnType<Account['command']>): number | undefined {
  const logFile = openLogFile(files.logFile)
  try {
    const child = spawn(command.file, command.args, {
      ...command.identity,
      cwd: '/',
      env: serverEnvironment(),
      detached: true,
      stdio: ['ignore', logFile, logFile],
    })
    child.on('error', () => undefined)
    child.unref()
    return child.pid
  } finally {
    closeSync(logFile)
  }
}

/**
 * Waits until the started server is ready or, if another server won the race for the cluster, until that one
 * is.
 */
async function awaitStart(
  files: ClusterFiles,
  pid: number | undefined,
  log: (message: string) => void,
): Promise<Postmaster | undefined> {
  if (pid === undefined) return undefined
  const slow = setTimeout(
    () => log('Postgres is still starting; after a crash it recovers its data first'),
    5_000,
  )
  try {
    const isReady = () => findPostmaster(files.data)?.status === 'ready'
    await waitUntil(() => isReady() || !isAlive(pid), { within_ms: recoveryTimeoutMs })
    return await awaitRunning(files)
  } finally {
    clearTimeout(slow)
  }
}

function handle(files: ClusterFiles, { pid, socketDirectory }: Postmaster, adopted: boolean): LocalPostgres {
  const isRunning = () => findPostmaster(files.data)?.pid === pid
  return {
    get url() {
      return databaseUrl(socketDirectory, appRole, passwordsOf(files).app)
    },
    get migrationUrl() {
      return databaseUrl(socketDirectory, schemaRole, passwordsOf(files).schema)
    },
    pid,
    adopted,
    isRunning,
    boundLog: () => boundLogFile(files.logFile),
    async stop() {
      if (!isRunning()) return
      // SIGTERM first gives closing connections time to finish: a connection that the server ends instead would
      // cause an error in its client.
      signal(pid, 'SIGTERM')
      if (await waitUntil(() => !isAlive(pid), { within_ms: disconnectGraceMs }))
        return removeSocketDirectory(socketDirectory)
      signal(pid, 'SIGINT')
      if (!(await waitUntil(() => !isAlive(pid), { within_ms: shutdownTimeoutMs }))) {
        // Safe: commits are in the write-ahead log, and the next start applies it.
        signal(pid, 'SIGQUIT')
        await waitUntil(() => !isAlive(pid), { within_ms: shutdownTimeoutMs })
      }
      removeSocketDirectory(socketDirectory)
    },
  }
}

function passwordsOf({ directory }: ClusterFiles): Passwords {
  const passwords = readPasswords(directory)
  if (passwords) return passwords
  throw new LocalPostgresError(
    `The passwords of Postgres in ${directory} are missing. Stop all keyledger processes and start again.`,
  )
}
