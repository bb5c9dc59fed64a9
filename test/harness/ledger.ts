import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BACKWARDS, END, type EventData, NO_STREAM } from '@eventstore/db-client'
import type { Pool } from 'pg'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createSharedLocks } from '../../projections/database/shared-locks.ts'
import { createLookups } from '../../projections/lookups.ts'
import { prepareReadModels } from '../../projections/runner/prepare.ts'
import { createReadModels, type ReadModels } from '../../projections/runner/read-models.ts'
import { createAttempts } from '../../src/access/attempts.ts'
import { createFingerprint } from '../../src/access/fingerprint.ts'
import { createOpenId } from '../../src/access/openid/openid.ts'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { createKeyTypeUse } from '../../src/commands/cross-stream/key-type-use.ts'
import { createPlanCapacity } from '../../src/commands/cross-stream/plan-capacity.ts'
import { createCounting } from '../../src/commands/meters/counting.ts'
import { causeOf, type Origin, sealSourceWith } from '../../src/commands/origin.ts'
import { createDeriveId, newId } from '../../src/credentials/id.ts'
import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { type LicenseCommand, licenses } from '../../src/domain/licenses/license.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { createIdempotency } from '../../src/idempotency/idempotency.ts'
import { clientOf } from '../../src/ledger/connection/client.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import { connectLedger, type Ledger, type LedgerLimits } from '../../src/ledger/ledger.ts'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import type { ReadFromSns } from '../../src/mail/bounces/sns.ts'
import { createMailing, type Mailing } from '../../src/mail/mailing.ts'
import { createReceipts } from '../../src/notary/receipt.ts'
import { createProviders, type ProviderSettings } from '../../src/payments/providers.ts'
import type { AllPorts } from '../../src/ports.ts'
import { createSeatEnds } from '../../src/seats/seat-ends.ts'
import { createSignSettings } from '../../src/signing/settings.ts'
import { createSigner } from '../../src/signing/signer.ts'
import { createUsageCounter } from '../../src/usage/counter.ts'
import { type Countries, noCountries } from '../../src/usage/countries.ts'
import { createDeviceTelemetry } from '../../src/usage/device-telemetry.ts'
import { createInstalls } from '../../src/usage/installs.ts'
import { createLimitHits } from '../../src/usage/limit-hits.ts'
import { createMachineReports } from '../../src/usage/machine-reports.ts'
import { createRefusals } from '../../src/usage/refusals.ts'
import { createSightings } from '../../src/usage/sightings.ts'
import { createTokenUse } from '../../src/usage/token-use.ts'
import { createDeviceHashing } from '../../src/vault/device-hashing.ts'
import { createKeptKeys } from '../../src/vault/kept-keys.ts'
import { createKeyHashing, keyHashSecret } from '../../src/vault/key-hashing.ts'
import { createMachines } from '../../src/vault/machines.ts'
import { checkMasterKey, type MasterKey, newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'
import { createPersonalKeys } from '../../src/vault/personal-keys.ts'
import { createSecrets } from '../../src/vault/secrets.ts'
import { createSubjects } from '../../src/vault/subjects.ts'
import { createTenantKeys } from '../../src/vault/tenant-keys.ts'
import { createTargetCheck, resolveBySystem } from '../../src/webhooks/targets.ts'
import { createTestSender } from '../../src/webhooks/test-event.ts'
import { createLedgerDatabase } from './database.ts'
import { openTestEventStore } from './event-store.ts'
import { release } from './release.ts'
import { waitMs } from './time-limits.ts'

/** A clock that only moves when a test moves it. */
type TestClock = {
  now(): Date
  set(moment: string): void
  advance(milliseconds: number): void
}

function createClock(moment: string): TestClock {
  let time = Date.parse(moment)
  return {
    now: () => new Date(time),
    set: (later) => {
      time = Date.parse(later)
    },
    advance: (milliseconds) => {
      time += milliseconds
    },
  }
}

/** Everything of a server on its own stores: a new database, and an event store in this process. */
export type TestLedger = {
  ports: AllPorts
  readModels: ReadModels
  db: Pool
  clock: TestClock
  masterKey: MasterKey
  databaseUrl: string
  eventStoreUrl: string
  /** Every stream that a projector has parked so far. */
  parked: { stream: string; revision: number; type: string; problem: string }[]
  /** Closes every connection and removes the stores. */
  close(): Promise<void>
}

export const noProgress = { onParked: () => undefined, onProgress: () => undefined }

export const origin: Origin = { requestId: 'req_test', actor: 'system:test' }

/** The addresses of host names in tests, which use no name server; other names have none. */
const addressesOf: Record<string, string[]> = {
  'public.example.com': ['93.184.215.14', '2606:2800:220:1:248:1893:25c8:1946'],
  'private.example.com': ['10.0.0.7'],
  'rebinding.example.com': ['93.184.215.14', '127.0.0.1'],
}

/** The time of a new ledger's clock. */
export const beginning = '2026-03-01T12:00:00.000Z'

/**
 * One per test file: a process can have only one client of the event store. On a shared event store, a file sees
 * the events of other files, so it names its tenants by {@link uniqueId}.
 */
export async function openTestLedger(
  options: {
    /** Patient by default; tests in which calls of the event store fail set it. */
    limits?: LedgerLimits
    providers?: Partial<ProviderSettings>
    mailing?: Mailing
    readFromSns?: ReadFromSns
    countries?: Countries
    /** How long a command waits for the read models; tests in which they fail change it. */
    visible?: { timeLimitMs: number }
    /** Derives the event store's URL, for a proxy in front of it. */
    through?: (url: string) => Promise<string>
  } = {},
): Promise<TestLedger> {
  const undo: (() => unknown)[] = []
  const own = await openTestEventStore(options.through && 0)
  undo.push(() => own.stop())
  const store = (await options.through?.(own.url)) ?? own.url
  const database = await createLedgerDatabase()
  undo.push(() => database.drop())
  const ledger = connectLedger(store, options.limits ?? { tryMs: waitMs, callMs: waitMs })
  undo.push(() => ledger.close())
  await migrate(database.url)
  const db = createPool(database.url)
  undo.push(() => db.end())
  const masterKey = parseMasterKey(newMasterKey())
  const locks = createSharedLocks(db)
  const locksDb = createPool(database.url, { size: 3 })
  undo.push(() => locksDb.end())
  undo.push(() => locks.stop())
  await checkMasterKey(db, masterKey)
  const parked: TestLedger['parked'] = []
  const onParked = (stream: TestLedger['parked'][number]) => void parked.push(stream)
  await prepareReadModels(db, ledger, { ...noProgress, onParked })
  const readModels = createReadModels(db, ledger, {
    get timeLimitMs() {
      return options.visible?.timeLimitMs ?? waitMs
    },
    onParked,
    onFailure: (error) => {
      if (!options.visible) console.error('a projection round failed', error)
    },
  })
  const clock = createClock(beginning)
  const usage = createUsageCounter(db, clock.now, () => undefined, 3_600_000)
  undo.push(() => usage.stop())
  const tokenUse = createTokenUse(db, clock.now, () => undefined, 3_600_000)
  undo.push(() => tokenUse.stop())
  const telemetry = createDeviceTelemetry(db, clock.now, () => undefined, 3_600_000)
  undo.push(() => telemetry.stop())
  const secrets = createSecrets(db, masterKey)
  const signer = createSigner(secrets)
  undo.push(() => signer.close())
  const installs = createInstalls(db, clock.now, () => undefined, 3_600_000)
  const limitHits = createLimitHits(db, clock.now, () => undefined, 3_600_000)
  undo.push(() => installs.stop())
  undo.push(() => limitHits.stop())
  const refusals = createRefusals(db, clock.now, () => undefined, 3_600_000)
  undo.push(() => refusals.stop())
  const mailDirectory = temporaryDirectory()
  undo.push(() => rmSync(mailDirectory, { recursive: true, force: true }))
  const untilVisible = (position: bigint) => readModels.advanceTo(position)
  const testSender = createTestSender(
    { newId, now: clock.now, secrets },
    { resolve: async () => ['127.0.0.1'], rules: { allowPrivate: true } },
  )
  undo.push(() => testSender.close())
  const { openId, close: closeOpenId } = createOpenId(resolveBySystem, { allowPrivate: true }, clock.now)
  undo.push(closeOpenId)
  const rawLog = openRawLog(store)
  undo.push(() => rawLog.close())
  const subjects = createSubjects(db, masterKey)
  const keyHashing = createKeyHashing(createTenantKeys(secrets, keyHashSecret, randomBytes))
  const machineReports = createMachineReports(() => undefined, 3_600_000)
  const sightings = createSightings(db, {
    now: clock.now,
    keys: createTenantKeys(secrets, 'networks', randomBytes),
    countries: options.countries ?? noCountries,
    onFailure: () => undefined,
    flushEveryMs: 3_600_000,
    refreshEveryMs: 3_600_000,
  })
  undo.push(() => sightings.stop())
  undo.push(() => machineReports.stop())
  const lookups = createLookups(db)
  const ports: AllPorts = {
    ledger,
    execute: createExecute(ledger, readModels, createKeyedMutex(), sealSourceWith(db, subjects)),
    deviceHashing: createDeviceHashing(db, masterKey),
    machineReports,
    sightings,
    seatEnds: createSeatEnds(db),
    untilVisible,
    db,
    ...lookups,
    counting: createCounting({ ...lookups, ledger, now: clock.now }),
    keyTypes: createKeyTypeUse(locks, ledger),
    planCapacity: createPlanCapacity({ locksDb, db, ledger, untilVisible }),
    subjects,
    secrets,
    keptKeys: createKeptKeys(db, subjects, keyHashing),
    keyHashing,
    machines: createMachines(createTenantKeys(secrets, 'machines', randomBytes)),
    personalKeys: createPersonalKeys(createTenantKeys(secrets, 'personal-keys', randomBytes)),
    signer,
    signSettings: createSignSettings(signer),
    providers: createProviders({ ...unreachableProviders, ...options.providers }),
    usage,
    tokenUse,
    telemetry,
    installs,
    limitHits,
    refusals,
    receipts: createReceipts({ db, log: rawLog, ledger }),
    attempts: createAttempts(db, clock.now),
    fingerprint: createFingerprint(masterKey),
    checkTarget: createTargetCheck(async (host) => addressesOf[host] ?? [], { allowPrivate: false }),
    sendTestEvent: testSender.send,
    openId,
    readFromSns:
      options.readFromSns ?? (() => Promise.reject(new Error('no certificate is expected to be read'))),
    mailing: options.mailing ?? createMailing({ smtpUrl: undefined, from: serviceAddress }, mailDirectory),
    idempotency: createIdempotency(db, masterKey, clock.now),
    now: clock.now,
    randomBytes,
    newId,
    deriveId: createDeriveId(masterKey.derivedIds),
  }
  const stores = { databaseUrl: database.url, eventStoreUrl: store }
  const testLedger: TestLedger = {
    ports,
    readModels,
    db,
    clock,
    masterKey,
    parked,
    ...stores,
    async close() {
      for (const step of undo.splice(0).reverse()) await step()
      release(ports, testLedger)
    },
  }
  return testLedger
}

export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), 'keyledger-test-'))

/** Runs a command on a license, also one without a route. */
export async function commandLicense(
  { ports }: Pick<TestLedger, 'ports'>,
  licenseId: string,
  command: LicenseCommand,
): Promise<LicenseEvent[]> {
  const cause = causeOf(origin, ports.now().toISOString())
  const { events } = await ports.execute(licenses, licenseId, command, cause)
  return events
}

/** The sender of mails in tests. */
const serviceAddress = { name: null, email: 'licenses@keyledger.example' }

/** Nothing listens there: tests never call a real provider. */
const nobody = 'http://127.0.0.1:1'
const unreachableProviders: ProviderSettings = {
  stripeSecretKey: undefined,
  stripeWebhookSecret: undefined,
  platformFeeBasisPoints: 50,
  apiUrls: { stripe: nobody, lemonsqueezy: nobody, paddle: nobody, polar: nobody },
  timeLimitMs: 2000,
}

/** A slug that no other test uses, on any store. */
export const uniqueId = (what: string): string => `${what}-${randomBytes(5).toString('hex')}`

/** The events of a stream, oldest first. */
export async function eventsIn(ledger: Ledger, stream: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for await (const entry of ledger.readStream(stream)) entries.push(entry)
  return entries
}

/**
 * Appends events without any check of the ledger, and returns the position of the last one. With credentials the
 * client sends a plain append, and so avoids the table of pending batch appends that all clients of a process
 * share.
 */
export async function appendRaw(
  { eventStoreUrl }: Pick<TestLedger, 'eventStoreUrl'>,
  stream: string,
  events: EventData[],
  expectedRevision: bigint | typeof NO_STREAM = NO_STREAM,
): Promise<bigint> {
  const client = clientOf(eventStoreUrl)
  try {
    const credentials = { username: 'admin', password: 'changeit' }
    await client.appendToStream(stream, events, { expectedRevision, credentials })
    const last = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
    for await (const { event } of last) return event?.position.commit ?? -1n
    return -1n
  } finally {
    await client.dispose()
  }
}
