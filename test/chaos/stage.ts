import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { limitVariables } from '../../src/config.ts'
import { natsServer } from '../harness/nats-server.ts'
import { freePort } from '../harness/port.ts'
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts'
import { appendPostgresSettings, directUrl, proxiedUrl } from './addresses.ts'
import { type Arrival, readArrivals } from './arrivals.ts'
import { canMount, mountSmallDisk, type SmallDisk } from './disk.ts'
import { seller } from './operator-commands.ts'
import { type Operator, startOperator } from './operator-process.ts'
import { keepPostgresRunning, keepRunning, type OnEnd, type RunningPart } from './parts.ts'
import type { Clock, Disk, Link, Part } from './schedule.ts'

const root = join(import.meta.dirname, '../..')
export const program = join(root, 'src/cli/keyledger.ts')
const clockImport = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href
export const platformSecret = 'whsec_chaos_of_the_platform'

type AppNumber = 1 | 2
const apps: readonly AppNumber[] = [1, 2]

/** The system under test: each part in its own process, and every connection between them through a proxy. */
export type Stage = {
  readonly directory: string
  readonly parts: Readonly<Record<Part, RunningPart>>
  readonly links: Readonly<Record<Link, TcpProxy>>
  /** Undefined when file systems cannot be mounted. */
  readonly disks: Readonly<Record<Disk, SmallDisk>> | undefined
  readonly operator: Operator
  /** Without a proxy. */
  readonly databaseUrl: string
  /** The environment of a command that connects to the stores without a proxy. */
  readonly environment: NodeJS.ProcessEnv
  /** The token of each tenant. */
  readonly tokens: Readonly<Record<string, string>>
  /** The URLs of the applications, through their proxies. */
  readonly addresses: Readonly<Record<AppNumber, string>>
  /** The URL of the receiver for webhooks. */
  readonly receiver: string
  setClock(clock: Clock, shiftMs: number): void
  /** Whether an application's clock may be off by more than this; a frozen application applies a change late. */
  isOff(app: AppNumber, byMs: number): boolean
  arrivals(): Arrival[]
  /** Lines with which the applications say that an error has ended a process, or that a worker has died. */
  crashes(): string[]
  /** Resolves when both applications are ready. @throws NotReady after the given time */
  untilReady(withinMs: number): Promise<void>
  stop(): Promise<void>
}

export class NotReady extends Error {}

/** A process that ended by itself. */
export type Ended = { part: Part; code: number | null; signal: NodeJS.Signals | null }

/** Enough for a run of an hour; the write-ahead log of Postgres is kept small. */
const sizesMiB: Record<Disk, number> = { 'event store': 512, Postgres: 1024 }
const walSettings = "max_wal_size = '96MB'\nmin_wal_size = '32MB'\n"

/** How late a process may apply the change of its clock. */
const lateMs = 30_000

type OnEnded = (ended: Ended) => void
const endHandlerOf =
  (part: Part, onEnded: OnEnded): OnEnd =>
  (code, signal) =>
    onEnded({ part, code, signal })

const pathsIn = (directory: string) => ({
  logOf: (name: string) => join(directory, 'logs', `${name.replace(' ', '-')}.log`),
  clockOf: (name: string) => join(directory, 'clocks', name.replace(' ', '-')),
  eventStore: join(directory, 'disks', 'event-store'),
  postgres: join(directory, 'disks', 'postgres'),
  arrivals: join(directory, 'arrivals.jsonl'),
  secrets: join(directory, 'secrets.json'),
})

/**
 * Starts all parts in a directory, and creates the tenants.
 * @param onEnded called for each process that ends by itself
 */
export async function openStage(directory: string, onEnded: OnEnded): Promise<Stage> {
  // Postgres runs as a separate user.
  chmodSync(directory, 0o711)
  const paths = pathsIn(directory)
  const base = baseEnvironment(directory)
  for (const name of ['logs', 'clocks', 'tmp']) mkdirSync(join(directory, name))
  const disks = mountDisks(directory)

  const stores = await startStores(directory, base, onEnded)
  const [appPort1, appPort2] = [await freePort(), await freePort()]
  const { url, migrationUrl } = stores.parts.Postgres.postgres
  const links = await openLinks({ ...stores.ports, app1: appPort1, app2: appPort2 }, url)
  const environment = {
    ...base,
    KEYLEDGER_DATA_DIR: join(directory, 'unused'),
    KEYLEDGER_DATABASE_URL: url,
    KEYLEDGER_MIGRATION_DATABASE_URL: migrationUrl,
    KEYLEDGER_EVENTSTORE_URL: `esdb://127.0.0.1:${stores.ports.eventStore}?tls=false`,
    KEYLEDGER_MASTER_KEY: randomBytes(32).toString('base64'),
    KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true',
    KEYLEDGER_STRIPE_WEBHOOK_SECRET: platformSecret,
  }
  const operator = startOperator(environment, paths.logOf('operator'))
  const receiver = `http://127.0.0.1:${links['apps to receiver'].port}`
  const { tokens, secret } = await operator.send('setUp', { receiver })
  writeFileSync(paths.secrets, JSON.stringify({ [seller]: secret }), { mode: 0o600 })

  const keepApp = (app: AppNumber, port: number) =>
    keepNode(directory, `app ${app}`, [program, 'serve'], onEnded, {
      ...environment,
      KEYLEDGER_PORT: String(port),
      KEYLEDGER_DATA_DIR: join(directory, `app-${app}`),
      KEYLEDGER_DATABASE_URL: proxiedUrl(url, links[`app ${app} to Postgres`].port),
      KEYLEDGER_MIGRATION_DATABASE_URL: proxiedUrl(migrationUrl, links[`app ${app} to Postgres`].port),
      KEYLEDGER_EVENTSTORE_URL: `esdb://127.0.0.1:${links[`app ${app} to event store`].port}?tls=false`,
      KEYLEDGER_NATS_URL: `nats://127.0.0.1:${links[`app ${app} to NATS`].port}`,
      KEYLEDGER_LOG_LEVEL: 'warn',
    })
  const parts = { ...stores.parts, 'app 1': keepApp(1, appPort1), 'app 2': keepApp(2, appPort2) }
  const shifts: Record<Clock, number> = { 'app 1': 0, 'app 2': 0, 'event store': 0, all: 0 }
  const isBeyond = (app: AppNumber, byMs: number) => Math.abs(shifts[`app ${app}`] + shifts.all) > byMs
  const offUntil = new Map<AppNumber, number>()
  return {
    directory,
    parts,
    links,
    disks,
    operator,
    databaseUrl: url,
    environment,
    tokens,
    receiver,
    addresses: {
      1: `http://127.0.0.1:${links['clients to app 1'].port}`,
      2: `http://127.0.0.1:${links['clients to app 2'].port}`,
    },
    setClock(clock, shiftMs) {
      for (const app of apps) if (isBeyond(app, 0)) offUntil.set(app, performance.now() + lateMs)
      shifts[clock] = shiftMs
      for (const name of ['app 1', 'app 2', 'event store'] as const) {
        writeFileSync(paths.clockOf(name), String(shifts[name] + shifts.all))
      }
    },
    isOff: (app, byMs) =>
      isBeyond(app, byMs) || performance.now() < (offUntil.get(app) ?? Number.NEGATIVE_INFINITY),
    arrivals: () => readArrivals(paths.arrivals),
    crashes: () => apps.flatMap((app) => crashesIn(paths.logOf(`app ${app}`))),
    untilReady: (withinMs) => untilReady([appPort1, appPort2], withinMs),
    async stop() {
      operator.stop()
      // Stops the users of the stores first.
      await Promise.all([parts['app 1'].stop(), parts['app 2'].stop()])
      await Promise.all(Object.values(parts).map((part) => part.stop()))
      await Promise.all(Object.values(links).map((link) => link.close()))
    },
  }
}

function mountDisks(directory: string): Stage['disks'] {
  const { eventStore, postgres } = pathsIn(directory)
  if (canMount(join(directory, 'disks', 'trial'))) {
    return {
      'event store': mountSmallDisk(eventStore, sizesMiB['event store']),
      Postgres: mountSmallDisk(postgres, sizesMiB.Postgres),
    }
  }
  for (const path of [eventStore, postgres]) mkdirSync(path, { recursive: true })
  return undefined
}

const crashesIn = (log: string): string[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /"msg":"(?:process\.failed|worker\.died)"/.test(line))

/** Keeps a Node program running whose clock can be moved. */
function keepNode(
  directory: string,
  part: Part,
  args: readonly string[],
  onEnded: OnEnded,
  environment: NodeJS.ProcessEnv,
): RunningPart {
  const { logOf, clockOf } = pathsIn(directory)
  const command = [process.execPath, '--import', clockImport, ...args]
  const own = { ...environment, CHAOS_CLOCK_FILE: clockOf(part) }
  return keepRunning(command, own, logOf(part), endHandlerOf(part, onEnded))
}

async function startStores(directory: string, base: NodeJS.ProcessEnv, onEnded: OnEnded) {
  const paths = pathsIn(directory)
  const ports = { eventStore: await freePort(), nats: await freePort(), receiver: await freePort() }
  const cluster = join(paths.postgres, 'cluster')
  const postgres = await keepPostgresRunning(cluster, endHandlerOf('Postgres', onEnded))
  appendPostgresSettings(cluster, walSettings, postgres.postgres.pid)
  const script = join(root, 'infra/local/eventstore/main.ts')
  const storeArgs = [script, '--directory', join(paths.eventStore, 'events')]
  const eventStorePort = ['--port', String(ports.eventStore)]
  const natsArgs = ['-a', '127.0.0.1', '-p', String(ports.nats), '-js', '-sd', join(directory, 'nats')]
  writeFileSync(paths.secrets, '{}', { mode: 0o600 })
  const receiverArgs = [String(ports.receiver), paths.arrivals, paths.secrets]
  const receiver = join(import.meta.dirname, 'receiver.ts')
  return {
    ports,
    parts: {
      Postgres: postgres,
      'event store': keepNode(directory, 'event store', [...storeArgs, ...eventStorePort], onEnded, base),
      NATS: keepRunning(
        [natsServer(), ...natsArgs],
        base,
        paths.logOf('NATS'),
        endHandlerOf('NATS', onEnded),
      ),
      receiver: keepNode(directory, 'receiver', [receiver, ...receiverArgs], onEnded, base),
    },
  }
}

type Ports = Record<'app1' | 'app2' | 'eventStore' | 'nats' | 'receiver', number>

async function openLinks(ports: Ports, databaseUrl: string): Promise<Record<Link, TcpProxy>> {
  const { socket } = directUrl(databaseUrl)
  return {
    'clients to app 1': await startTcpProxy(ports.app1),
    'clients to app 2': await startTcpProxy(ports.app2),
    'app 1 to event store': await startTcpProxy(ports.eventStore),
    'app 2 to event store': await startTcpProxy(ports.eventStore),
    'app 1 to Postgres': await startTcpProxy(socket),
    'app 2 to Postgres': await startTcpProxy(socket),
    'app 1 to NATS': await startTcpProxy(ports.nats),
    'app 2 to NATS': await startTcpProxy(ports.nats),
    'apps to receiver': await startTcpProxy(ports.receiver),
  }
}

function baseEnvironment(directory: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    TMPDIR: join(directory, 'tmp'),
    // As `npm start` sets it, which makes each start faster.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/keyledger'),
    // The load has no rate limits; they are tested elsewhere.
    ...Object.fromEntries(limitVariables.map((name) => [name, 'off'])),
  }
}

async function untilReady(ports: readonly number[], withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  const isReady = async (port: number) =>
    (
      await fetch(`http://localhost:${port}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(
        () => undefined,
      )
    )?.status === 200
  while (!(await Promise.all(ports.map(isReady))).every(Boolean)) {
    if (performance.now() > deadline) throw new NotReady(`not ready within ${withinMs / 1000} s`)
    await sleep(100)
  }
}
