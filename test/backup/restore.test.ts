// Guarantee: a restore gives the same ledger: the same events in the same order, and the same rows of the
// durable tables and the read models. It overwrites nothing. The next restore completes an interrupted one, and
// until then the database cannot be used.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startEventStore } from '../../infra/local/eventstore/server.ts'
import { knownMigrations } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { RestoreUnfinished, refuseWhileRestoring } from '../../projections/database/restoring.ts'
import { createBackup } from '../../src/backup/backup.ts'
import { fullSpeed } from '../../src/backup/pace.ts'
import { type CheckedBackup, checkBackup, checkMasterKeyOf } from '../../src/backup/restore.ts'
import { excludedTables } from '../../src/backup/table-loader.ts'
import { restoreInto } from '../../src/cli/backup/restoring.ts'
import { createIdempotency } from '../../src/idempotency/idempotency.ts'
import { eventsOf } from '../../src/ledger/raw/copy.ts'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import { newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'
import { createTestDatabase } from '../harness/database.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { startScenario } from '../projections/scenario.ts'
import { everyStep } from '../projections/steps.ts'
import { dumpWithoutPositions } from '../projections/tables.ts'

let ledger: TestLedger
let directory: string
let file: string
let backup: CheckedBackup

beforeAll(async () => {
  ledger = await openTestLedger()
  const scenario = await startScenario(ledger)
  for (const step of everyStep) await scenario.run(step)
  await ledger.db.query(
    `insert into vault.sessions (session_hash, data, created_at, last_seen_at) values ('a session', '{}', now(), now())`,
  )
  directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  file = join(directory, 'backup')
  await makeBackup(file)
  backup = await checkBackup(file, undefined, () => undefined)
})
afterAll(async () => {
  await ledger.close()
  rmSync(directory, { recursive: true, force: true })
})

async function makeBackup(name: string) {
  const log = openRawLog(ledger.eventStoreUrl)
  const options = {
    key: undefined,
    version: '1.2.3',
    now: new Date(),
    pace: fullSpeed,
    onProgress: () => undefined,
  }
  try {
    return await createBackup(name, { log, databaseUrl: ledger.databaseUrl }, options)
  } finally {
    await log.close()
  }
}

/** Empty stores. */
async function emptyStores() {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const events = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  onTestFinished(() => rmSync(events, { recursive: true, force: true }))
  const store = await startEventStore({ directory: events })
  onTestFinished(() => store.close())
  const log = openRawLog(store.url)
  onTestFinished(() => log.close())
  const db = createPool(database.url)
  onTestFinished(() => db.end())
  const { url } = database
  return { log, db, eventstoreUrl: store.url, databaseUrl: url, migrationUrl: url }
}

async function eventsOfLedger(url: string) {
  const log = openRawLog(url)
  try {
    const events: object[] = []
    for await (const { position: _, data, metadata, ...event } of eventsOf(log, undefined)) {
      events.push({
        ...event,
        data: Buffer.from(data).toString(),
        metadata: Buffer.from(metadata).toString(),
      })
    }
    return events
  } finally {
    await log.close()
  }
}

/** Every durable row as text. */
async function durableRows(db: pg.Pool): Promise<Record<string, string[]>> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('vault', 'usage') order by 1`,
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const { rows } = await db.query<{ row: string }>(
      `select to_json(t)::text as row from ${name} t order by 1`,
    )
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

test('events, durable rows and read models are restored', async () => {
  const target = await emptyStores()
  await restoreInto(backup, target, async () => undefined)
  expect(await eventsOfLedger(target.eventstoreUrl)).toStrictEqual(await eventsOfLedger(ledger.eventStoreUrl))
  expect(await dumpWithoutPositions(target.db)).toStrictEqual(await dumpWithoutPositions(ledger.db))
  const { 'vault.idempotency': _, ...expected } = await durableRows(ledger.db)
  for (const table of Object.keys(excludedTables)) expected[table] = []
  const { 'vault.idempotency': __, ...found } = await durableRows(target.db)
  expect(found).toStrictEqual(expected)
  expect(found['usage.installs']?.length).toBeGreaterThan(0)
  await expect(refuseWhileRestoring(target.db)).resolves.toBeUndefined()
})

test('every durable table is either included in backups or excluded', async () => {
  const all = Object.keys(await durableRows(ledger.db))
  const kept = backup.manifest.tables.map(({ name }) => name)
  expect([...kept, ...Object.keys(excludedTables)].sort()).toStrictEqual(all)
  expect(kept).toStrictEqual([
    'usage.app_versions',
    'usage.denied_takings',
    'usage.device_telemetry',
    'usage.hourly',
    'usage.ignored_tests',
    'usage.installs',
    'usage.limit_hits',
    'usage.notification_arrivals',
    'usage.refusals',
    'usage.refused_calls',
    'usage.relay_minutes',
    'usage.token_use',
    'usage.trial_days',
    'usage.unknown_keys',
    'usage.unlicensed',
    'usage.use_reports',
    'vault.begun_attempts',
    'vault.customer_identities',
    'vault.idempotency',
    'vault.kept_keys',
    'vault.master_key_check',
    'vault.member_credentials',
    'vault.member_identities',
    'vault.member_links',
    'vault.member_passkeys',
    'vault.secrets',
    'vault.subject_keys',
  ])
})

test('a stored answer is excluded, and its request runs again with its reserved values', async () => {
  const request = {
    tenantId: 'acme',
    tokenId: 'tok',
    route: 'POST /v1/licenses',
    key: 'order-1017',
    params: {},
    query: {},
    body: { productId: 'editor' },
  }
  const first = await ledger.ports.idempotency.reserve(request, 'req_1')
  if (first.state !== 'run') throw new Error('it was not reserved')
  await first.end.answer({ status: 201, contentType: 'application/json', body: '{"licenseKey":"ED-1"}' })
  const name = join(directory, 'with-answer')
  await makeBackup(name)
  const target = await emptyStores()
  await restoreInto(await checkBackup(name, undefined, () => undefined), target, async () => undefined)
  const { rows } = await target.db.query('select reply from vault.idempotency')
  expect(rows).toStrictEqual([{ reply: null }])
  const idempotency = createIdempotency(target.db, ledger.masterKey, ledger.clock.now)
  const again = await idempotency.reserve(request, 'req_2')
  if (again.state !== 'run') throw new Error('it was not run again')
  expect(again.run).toMatchObject({ resumed: true, firstRequestId: 'req_1', at: first.run.at })
  expect(again.run.newId('lic')).toBe(first.run.newId('lic'))
  await again.end.forget()
})

describe('nothing is overwritten', () => {
  test('a database in use', async () => {
    const target = await emptyStores()
    await target.db.query('create schema vault')
    await expect(restoreInto(backup, target, async () => undefined)).rejects.toThrow('The database is in use')
    expect(await eventsOfLedger(target.eventstoreUrl)).toStrictEqual([])
  })

  test('an event store with events', async () => {
    const target = { ...(await emptyStores()), log: openRawLog(ledger.eventStoreUrl) }
    onTestFinished(() => target.log.close())
    await expect(restoreInto(backup, target, async () => undefined)).rejects.toThrow(
      'The event store already contains events',
    )
    const { rows } = await target.db.query(
      `select nspname from pg_namespace where nspname in ('vault', 'usage')`,
    )
    expect(rows).toStrictEqual([])
    await expect(refuseWhileRestoring(target.db)).resolves.toBeUndefined()
  })

  test('a target of another unfinished restore', async () => {
    const target = await emptyStores()
    const failing = restoreInto(backup, target, () => Promise.reject(new Error('stopped')))
    await expect(failing).rejects.toThrow('stopped')
    await expect(refuseWhileRestoring(target.db)).rejects.toThrow(RestoreUnfinished)
    const other = { ...backup, manifest: { ...backup.manifest, id: '5b0b51a4-23e7-4b39-9d1e-5f8a4f0a0d11' } }
    const second = restoreInto(other, target, async () => undefined)
    await expect(second).rejects.toThrow('Another backup is being restored there')
    await restoreInto(backup, target, async () => undefined)
    await expect(refuseWhileRestoring(target.db)).resolves.toBeUndefined()
    expect(await dumpWithoutPositions(target.db)).toStrictEqual(await dumpWithoutPositions(ledger.db))
  })
})

test('another master key is refused before anything is restored', () => {
  expect(() => checkMasterKeyOf(backup, ledger.masterKey)).not.toThrow()
  expect(() => checkMasterKeyOf(backup, parseMasterKey(newMasterKey()))).toThrow(
    `The master key does not decrypt the secrets in ${file}`,
  )
})

test('a backup with a migration that this version does not know is refused', async () => {
  const name = join(directory, 'newer')
  await ledger.db.query(`insert into public.keyledger_migrations (name, run_on) values ('9999_newer', now())`)
  try {
    await makeBackup(name)
  } finally {
    await ledger.db.query(`delete from public.keyledger_migrations where name = '9999_newer'`)
  }
  await expect(checkBackup(name, undefined, () => undefined)).rejects.toThrow(
    'which has the migration 9999_newer that this version does not know',
  )
})

test('a backup of an earlier version is migrated', async () => {
  const earlier = knownMigrations().indexOf('0020_ignored_tests')
  // That version did not count trials by day.
  await ledger.db.query('delete from usage.trial_days')
  // Nor did it search people by parts.
  await ledger.db.query('delete from vault.subject_keys')
  const laterColumns = ['trigrams', 'fully_indexed']
  const name = join(directory, 'earlier')
  await makeBackup(name)
  const backup = await checkBackup(name, undefined, () => undefined)
  const later = [
    'usage.app_versions',
    'usage.ignored_tests',
    'usage.notification_arrivals',
    'usage.refusals',
    'usage.refused_calls',
    'usage.relay_minutes',
    'usage.trial_days',
    'usage.unknown_keys',
    'vault.kept_keys',
  ]
  for (const table of later) {
    const { rows: tables } = await ledger.db.query(`select from ${table}`)
    expect(tables).toStrictEqual([])
  }
  // The tables and migrations as that version wrote them.
  const known = backup.manifest.tables
    .filter(({ name }) => !later.includes(name))
    .map((table) => ({ ...table, columns: table.columns.filter((name) => !laterColumns.includes(name)) }))
  const manifest = {
    ...backup.manifest,
    tables: known,
    migrations: backup.manifest.migrations.slice(0, earlier),
  }
  const target = await emptyStores()
  await restoreInto({ ...backup, manifest }, target, async () => undefined)
  const { rows } = await target.db.query<{ name: string }>(
    'select name from public.keyledger_migrations order by id',
  )
  expect(rows.map(({ name }) => name)).toStrictEqual(knownMigrations())
  expect(await dumpWithoutPositions(target.db)).toStrictEqual(await dumpWithoutPositions(ledger.db))
})
