import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { refuseWhileRestoring } from '../../projections/database/restoring.ts'
import { createSharedLocks, type SharedLocks } from '../../projections/database/shared-locks.ts'
import { createLookups } from '../../projections/lookups.ts'
import type { LogReader } from '../../projections/runner/log.ts'
import { createReadModels, type ReadModels } from '../../projections/runner/read-models.ts'
import { createAttempts } from '../access/attempts.ts'
import { createFingerprint } from '../access/fingerprint.ts'
import { createGuardedFetch } from '../access/openid/fetch.ts'
import { createOpenId } from '../access/openid/openid.ts'
import { createKeyedMutex } from '../async/keyed-mutex.ts'
import { createUndo, type Undo } from '../async/undo.ts'
import { createKeyTypeUse } from '../commands/cross-stream/key-type-use.ts'
import { createPlanCapacity } from '../commands/cross-stream/plan-capacity.ts'
import { createCounting } from '../commands/meters/counting.ts'
import { sealSourceWith } from '../commands/origin.ts'
import { type Config, ConfigError } from '../config.ts'
import { createDeriveId, newId } from '../credentials/id.ts'
import { type AppendGate, createAppendGate } from '../freeze/append-gate.ts'
import { freezable } from '../freeze/freeze.ts'
import { createIdempotency } from '../idempotency/idempotency.ts'
import { createExecute, type Execute, type ReadModels as Waits } from '../ledger/execute.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { createLogGuard } from '../ledger/log-guard.ts'
import { openRawLog } from '../ledger/raw/log.ts'
import { createTail, type Tail } from '../ledger/tail.ts'
import { createSnsReader } from '../mail/bounces/sns.ts'
import { createMailing } from '../mail/mailing.ts'
import { createReceipts } from '../notary/receipt.ts'
import { createProviders } from '../payments/providers.ts'
import type { AllPorts } from '../ports.ts'
import { createSeatEnds } from '../seats/seat-ends.ts'
import { createSignSettings } from '../signing/settings.ts'
import { createSigner } from '../signing/signer.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { createUsageCounter } from '../usage/counter.ts'
import { noCountries, openCountries } from '../usage/countries.ts'
import { createDeviceTelemetry } from '../usage/device-telemetry.ts'
import { createInstalls } from '../usage/installs.ts'
import { createLimitHits } from '../usage/limit-hits.ts'
import { createMachineReports } from '../usage/machine-reports.ts'
import { createRefusals } from '../usage/refusals.ts'
import { createSightings, type Sightings } from '../usage/sightings.ts'
import { createTokenUse } from '../usage/token-use.ts'
import { createDeviceHashing } from '../vault/device-hashing.ts'
import { createKeptKeys } from '../vault/kept-keys.ts'
import { createKeyHashing, keyHashSecret } from '../vault/key-hashing.ts'
import { createMachines } from '../vault/machines.ts'
import { checkMasterKey, type MasterKey } from '../vault/master-key.ts'
import { createPersonalKeys } from '../vault/personal-keys.ts'
import { createSecrets, type Secrets } from '../vault/secrets.ts'
import { createSubjects, type Subjects } from '../vault/subjects.ts'
import { createTenantKeys } from '../vault/tenant-keys.ts'
import { createTargetCheck, resolveByDns, resolveBySystem } from '../webhooks/targets.ts'
import { createTestSender } from '../webhooks/test-event.ts'
import { type Clocks, clocksOf } from './clocks.ts'
import { type OpenOptions, prepareLog, reachLedger, watchLogConnection } from './start/log-at-start.ts'
import { readMasterKey } from './start/master-key-file.ts'
import { joinStack } from './start/stack.ts'
import { startTraces } from './traces.ts'

/** Short, because a person waits for the provider's answer. */
const providerTimeLimitMs = 10_000

/** A command waits this long for its events to be visible, and otherwise reports that they are not visible yet. */
const readModelsTimeLimitMs = 8000

/** The connected stores with all services, and how to close them. */
export type Stores = {
  ports: AllPorts
  readModels: ReadModels
  /** The recent entries of the log; the read models take them from here and rarely read the log itself. */
  tail: Tail
  masterKey: MasterKey
  db: Pool
  /** Every append of this process passes this gate, which closes during a freeze. */
  appendGate: AppendGate
  locks: SharedLocks
  addresses: StoreAddresses
  /** Undefined when traces are off. */
  tracing: Tracing | undefined
  clocks: Clocks
  close(): Promise<void>
}

/** The URLs of the stores that a process uses, embedded or external. */
export type StoreAddresses = { databaseUrl: string; eventstoreUrl: string }

/** How the stores are used. A worker uses stores that its parent process has opened and prepared. */
export type StoreUse = OpenOptions & {
  /** The pool sizes; undefined takes those of a process that does everything. */
  connections?: ConnectionCounts
  /** Creates missing read models and migrates them to this version. */
  prepare: boolean
  /** Wraps the process's own read models, for example to let the parent process advance them. */
  advancing?: (own: ReadModels, log: LogReader) => ReadModels
}

export type ConnectionCounts = { db: number; hotDb: number; projectionDb: number; locksDb: number }

/** The pool sizes of a process that does everything. */
const allConnections: ConnectionCounts = { db: 10, hotDb: 3, projectionDb: 2, locksDb: 3 }

/**
 * Starts or joins the embedded parts for which no URL is set, migrates the schemas and connects.
 * @throws ConfigError, LocalStackError, WrongMasterKey, EventStoreRefused, WrongLog, or the connection errors of
 *   the stores
 */
export async function openStores(config: Config, log: Logger, options: OpenOptions = {}): Promise<Stores> {
  // Only a server has a person who waits for it.
  const step = (name: string) => options.supervise && log.info(name)
  step('Opening the stores')
  const stack = await (options.stack ??
    joinStack(config, (message) => log.info(message), { supervise: options.supervise !== undefined }))
  try {
    const addresses = {
      databaseUrl: addressOf(config.databaseUrl ?? stack.databaseUrl),
      eventstoreUrl: addressOf(config.eventstoreUrl ?? stack.eventstoreUrl),
    }
    const masterKey = readMasterKey(config)
    step('Preparing the database')
    await migrate(
      config.databaseUrl === undefined
        ? addressOf(stack.migrationUrl)
        : (config.migrationUrl ?? addresses.databaseUrl),
    )
    step('Reading the log')
    const stores = await connectStores(config, masterKey, addresses, log, {
      ...options,
      prepare: true,
    })
    const close = async () => {
      try {
        await stores.close()
      } finally {
        await stack.leave()
      }
    }
    return { ...stores, close }
  } catch (error) {
    await stack.leave()
    throw error
  }
}

/**
 * Connects to running stores whose schemas have this version. The clients of the stores are built only here.
 * @throws WrongMasterKey, RestoreUnfinished, EventStoreRefused, WrongLog, or the connection errors of the stores
 */
export async function connectStores(
  config: Config,
  masterKey: MasterKey,
  addresses: StoreAddresses,
  log: Logger,
  use: StoreUse,
): Promise<Stores> {
  const undo = createUndo()
  const close = undo.run
  try {
    const traces = await startTraces(config, log, undo)
    const guard = createLogGuard()
    const connected = await reachLedger(addresses.eventstoreUrl, guard)
    undo.push(() => connected.close())
    const { db, hotDb, projectionDb, locksDb } = createPools(
      addresses.databaseUrl,
      use.connections ?? allConnections,
      log,
      undo,
    )
    await refuseWhileRestoring(db)
    const locks = createSharedLocks(db)
    const appendGate = createAppendGate(db)
    const ledger = traces.ledger(freezable(connected, appendGate))
    await checkMasterKey(db, masterKey)

    const onParked = (parked: object) => log.error(parked, 'projection.stream_parked')
    const { eventstoreUrl: url } = addresses
    if (use.prepare) await prepareLog({ connected, ledger, url, db, projectionDb, onParked }, use)
    if (use.supervise) undo.push(watchLogConnection({ ledger, guard, db, log }, use.supervise))
    const rawLog = openRawLog(url)
    undo.push(() => rawLog.close())
    const clocks = clocksOf(url, db)
    const tail = createTail(ledger)
    const batches = traces.batches(tail)
    const ownReadModels = createReadModels(projectionDb, batches.log, {
      timeLimitMs: readModelsTimeLimitMs,
      onParked,
      onFailure: (err) => log.warn({ err }, 'projection.batch_failed'),
      onBatch: batches.onBatch,
    })
    const readModels = use.advancing?.(ownReadModels, ledger) ?? ownReadModels
    const now = () => new Date()
    const counters = createCounters(db, now, log)
    for (const counter of Object.values(counters).reverse()) undo.push(() => counter.stop())
    undo.push(() => locks.stop())
    undo.push(() => appendGate.stop())
    const withMasterKey = createKeyed(db, masterKey, now)
    undo.push(() => withMasterKey.signer.close())
    const sightings = createOwnSightings(config, db, withMasterKey.secrets, log, undo)
    const mailing = createMailing(config.mail, config.dataDirectory)
    undo.push(() => mailing.mailer.close())
    const untilVisible = (position: bigint) => readModels.advanceTo(position)
    const ports: AllPorts = {
      ledger,
      execute: traces.execute(executeOn(ledger, traces.wait(readModels), db, withMasterKey.subjects)),
      untilVisible,
      db,
      ...createHotPorts(hotDb, ledger, now),
      keyTypes: createKeyTypeUse(locks, ledger),
      seatEnds: createSeatEnds(hotDb),
      planCapacity: createPlanCapacity({ locksDb, db, ledger, untilVisible }),
      ...withMasterKey,
      providers: createProviders({ ...config.payments, timeLimitMs: providerTimeLimitMs }),
      ...counters,
      sightings,
      receipts: createReceipts({ db, log: rawLog, ledger }),
      attempts: createAttempts(db, now),
      checkTarget: createTargetCheck(resolveByDns, { allowPrivate: config.webhookAllowPrivate }),
      ...createOutgoing(config, { ...withMasterKey, newId, now }, undo),
      mailing,
      now,
      randomBytes,
      newId,
    }
    const { tracing } = traces
    return { ports, readModels, tail, masterKey, db, appendGate, locks, addresses, clocks, tracing, close }
  } catch (error) {
    await close().catch((err: unknown) => log.warn({ err }, 'stop.incomplete'))
    throw error
  }
}

/** The look-ups of the hot path, and what counts by them. */
function createHotPorts(hotDb: Pool, ledger: Ledger, now: () => Date) {
  const lookups = createLookups(hotDb)
  return { ...lookups, counting: createCounting({ ...lookups, ledger, now }) }
}

const executeOn = (ledger: Ledger, readModels: Waits, db: Pool, subjects: Subjects): Execute =>
  createExecute(ledger, readModels, createKeyedMutex(), sealSourceWith(db, subjects))

/** How webhook endpoints and sign-in providers may be reached. */
export function webhookRules({ webhookAllowPrivate: allowPrivate }: Config) {
  return { resolve: allowPrivate ? resolveBySystem : resolveByDns, rules: { allowPrivate } }
}

/** What calls the servers of vendors. */
function createOutgoing(
  config: Config,
  ports: Pick<AllPorts, 'newId' | 'now' | 'secrets'>,
  undo: Undo,
): Pick<AllPorts, 'openId' | 'readFromSns' | 'sendTestEvent'> {
  const targets = webhookRules(config)
  const testSender = createTestSender(ports, targets)
  undo.push(() => testSender.close())
  const { openId, close } = createOpenId(targets.resolve, targets.rules, ports.now)
  undo.push(close)
  const guarded = createGuardedFetch(targets.resolve, targets.rules)
  undo.push(() => guarded.close())
  return { openId, readFromSns: createSnsReader(guarded.fetch), sendTestEvent: testSender.send }
}

/** The services that need the master key. */
function createKeyed(db: Pool, masterKey: MasterKey, now: () => Date) {
  const secrets = createSecrets(db, masterKey)
  const signer = createSigner(secrets)
  const subjects = createSubjects(db, masterKey)
  const keyHashing = createKeyHashing(createTenantKeys(secrets, keyHashSecret, randomBytes))
  return {
    subjects,
    secrets,
    keptKeys: createKeptKeys(db, subjects, keyHashing),
    keyHashing,
    deviceHashing: createDeviceHashing(db, masterKey),
    machines: createMachines(createTenantKeys(secrets, 'machines', randomBytes)),
    personalKeys: createPersonalKeys(createTenantKeys(secrets, 'personal-keys', randomBytes)),
    signer,
    signSettings: createSignSettings(signer),
    fingerprint: createFingerprint(masterKey),
    idempotency: createIdempotency(db, masterKey, now),
    deriveId: createDeriveId(masterKey.derivedIds),
  }
}

function createPools(databaseUrl: string, counts: ConnectionCounts, log: Logger, undo: Undo) {
  const onError = (err: Error) => log.warn({ err }, 'database.connection_lost')
  const pools = {
    db: createPool(databaseUrl, { size: counts.db, onError }),
    // Separate connections, so that the lookups of validates never wait for other queries.
    hotDb: createPool(databaseUrl, { size: counts.hotDb, planOnce: true, onError }),
    // Plans are cached: the tables grow from empty to large, and every statement goes by key.
    projectionDb: createPool(databaseUrl, { size: counts.projectionDb, planOnce: true, onError }),
    // Separate connections, so that requests waiting for a lock do not block the one that holds it.
    locksDb: createPool(databaseUrl, { size: counts.locksDb, onError }),
  }
  for (const pool of Object.values(pools)) undo.push(() => pool.end())
  return pools
}

/** Counters that are kept in memory and flushed periodically. */
function createCounters(db: Pool, now: () => Date, log: Logger) {
  const onFailure = (err: unknown) => log.warn({ err }, 'usage.flush_failed')
  return {
    usage: createUsageCounter(db, now, onFailure),
    tokenUse: createTokenUse(db, now, onFailure),
    telemetry: createDeviceTelemetry(db, now, onFailure),
    machineReports: createMachineReports((err) => log.warn({ err }, 'machine_reports.record_failed')),
    installs: createInstalls(db, now, onFailure),
    limitHits: createLimitHits(db, now, onFailure),
    refusals: createRefusals(db, now, onFailure),
  }
}

/** @throws ConfigError if the database of countries cannot be read */
function createOwnSightings(config: Config, db: Pool, secrets: Secrets, log: Logger, undo: Undo): Sightings {
  const sightings = createSightings(db, {
    now: () => new Date(),
    keys: createTenantKeys(secrets, 'networks', randomBytes),
    countries: config.countryDatabase === undefined ? noCountries : readCountries(config.countryDatabase),
    onFailure: (err) => log.warn({ err }, 'usage.flush_failed'),
  })
  undo.push(() => sightings.stop())
  return sightings
}

function readCountries(path: string) {
  try {
    return openCountries(path)
  } catch (error) {
    throw new ConfigError(
      `KEYLEDGER_COUNTRY_DATABASE: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function addressOf(url: string | undefined): string {
  if (url === undefined) throw new Error('the embedded stores returned no address')
  return url
}
