import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { joinLocalStack } from '../../infra/local/stack/stack.ts'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createLookups } from '../../projections/lookups.ts'
import { prepareReadModels } from '../../projections/runner/prepare.ts'
import { createReadModels, type ReadModels } from '../../projections/runner/read-models.ts'
import { createAttempts } from '../access/attempts.ts'
import { createFingerprint } from '../access/fingerprint.ts'
import type { Services } from '../commands/services.ts'
import type { Config } from '../config.ts'
import { createDeriveId, newId } from '../credentials/id.ts'
import { createIdempotency } from '../idempotency/idempotency.ts'
import { createHandle } from '../ledger/handle.ts'
import { connectLedger } from '../ledger/ledger.ts'
import { createTail, type Tail } from '../ledger/tail.ts'
import { createTurns } from '../ledger/turns.ts'
import { createMailing } from '../mail/mailing.ts'
import { createProviders } from '../payments/providers.ts'
import { createSignSettings } from '../signing/settings.ts'
import { createSigner } from '../signing/signer.ts'
import { createUsageCounter } from '../usage/counter.ts'
import { createDeviceTelemetry } from '../usage/device-telemetry.ts'
import { createInstalls } from '../usage/installs.ts'
import { createLimitHits } from '../usage/limit-hits.ts'
import { createTokenUse } from '../usage/token-use.ts'
import { checkMasterKey } from '../vault/check.ts'
import { createMachines } from '../vault/machines.ts'
import type { MasterKey } from '../vault/master-key.ts'
import { createSecrets } from '../vault/secrets.ts'
import { createSubjects } from '../vault/subjects.ts'
import { createTargetCheck, resolveByDns } from '../webhooks/resolve.ts'
import { readMasterKey } from './master-key-file.ts'
import { showProgress } from './progress.ts'

/** A person waits for what a payment provider says. */
const providerTimeLimitMs = 10_000

/** Everything that is connected to the stores, and how to let go of it again. */
export type Stores = {
  services: Services
  readModels: ReadModels
  /** What the read models read of the log; following it spares them most of the reading. */
  tail: Tail
  masterKey: MasterKey
  db: Pool
  close(): Promise<void>
}

/**
 * Starts or joins the embedded parts that are not replaced by an address, brings the schemas to this version and
 * connects. The only place where the clients of the stores are built.
 * @param supervise for a process that lives long: a part that dies is started again
 * @throws ConfigError, LocalStackError, WrongMasterKey, or what the stores say when they cannot be reached
 */
export async function openStores(config: Config, log: Logger, supervise = false): Promise<Stores> {
  const undo: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const stack = await joinLocalStack({
      dataDirectory: config.dataDirectory,
      parts: { postgres: config.databaseUrl === undefined, eventStore: config.eventstoreUrl === undefined },
      log: (message) => log.info(message),
      supervise,
    })
    undo.push(() => stack.leave())
    const masterKey = readMasterKey(config)
    const databaseUrl = addressOf(config.databaseUrl ?? stack.databaseUrl)
    const ledger = connectLedger(addressOf(config.eventstoreUrl ?? stack.eventstoreUrl))
    undo.push(() => ledger.close())
    await migrate(databaseUrl)
    const onError = (err: Error) => log.warn({ err }, 'database.connection_lost')
    const db = createPool(databaseUrl, { onError })
    undo.push(() => db.end())
    // Validates wait for nothing else: their look-ups have connections of their own.
    const hotDb = createPool(databaseUrl, { size: 3, planOnce: true, onError })
    undo.push(() => hotDb.end())
    // Read models are folded by key, from nothing to whatever they grow to.
    const foldingDb = createPool(databaseUrl, { size: 2, planOnce: true, onError })
    undo.push(() => foldingDb.end())
    await checkMasterKey(db, masterKey)

    const onParked = (parked: object) => log.error(parked, 'projection.stream_parked')
    const progress = showProgress('Rebuilding the read models')
    await prepareReadModels(foldingDb, ledger, { onParked, onProgress: progress.update })
    progress.done()
    const tail = createTail(ledger)
    const readModels = createReadModels(foldingDb, tail, {
      timeLimitMs: 10_000,
      onParked,
      onFailure: (err) => log.warn({ err }, 'projection.round_failed'),
    })
    const now = () => new Date()
    const counters = createCounters(db, now, log)
    undo.push(() => stopAll(Object.values(counters)))
    const secrets = createSecrets(db, masterKey)
    const signer = createSigner(secrets)
    undo.push(() => signer.close())
    const mailing = createMailing(config.mail, config.dataDirectory)
    undo.push(() => mailing.mailer.close())
    const services: Services = {
      ledger,
      handle: createHandle(ledger, readModels, createTurns()),
      untilVisible: (position) => readModels.advanceTo(position),
      db,
      ...createLookups(hotDb),
      subjects: createSubjects(db, masterKey),
      secrets,
      machines: createMachines(secrets, randomBytes),
      signer,
      signSettings: createSignSettings(signer),
      providers: createProviders({ ...config.payments, timeLimitMs: providerTimeLimitMs }),
      ...counters,
      attempts: createAttempts(db, now),
      fingerprint: createFingerprint(masterKey),
      checkTarget: createTargetCheck(resolveByDns, { allowPrivate: config.webhookAllowPrivate }),
      mailing,
      idempotency: createIdempotency(db, masterKey, now),
      now,
      randomBytes,
      newId,
      deriveId: createDeriveId(masterKey.derivedIds),
    }
    return { services, readModels, tail, masterKey, db, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What is counted in memory and written down now and then. */
function createCounters(db: Pool, now: () => Date, log: Logger) {
  const onFailure = (err: unknown) => log.warn({ err }, 'usage.flush_failed')
  return {
    usage: createUsageCounter(db, now, onFailure),
    tokenUse: createTokenUse(db, now, onFailure),
    telemetry: createDeviceTelemetry(db, now, onFailure),
    installs: createInstalls(db, now, onFailure),
    limitHits: createLimitHits(db, now, onFailure),
  }
}

async function stopAll(all: readonly { stop(): Promise<unknown> }[]): Promise<void> {
  for (const one of all) await one.stop()
}

function addressOf(url: string | undefined): string {
  if (url === undefined) throw new Error('the embedded stack gave no address')
  return url
}
