// Guarantee: a backup made while the ledger serves restores to a ledger with everything that was acknowledged
// before it, and without erased persons. It contains no secret in plaintext. A ledger from a killed restore does
// not serve.
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { PG_MIGRATE_LOCK_ID } from 'node-pg-migrate'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import { checkArchive } from '../../src/backup/archive-reader.ts'
import { plainOf } from '../../src/backup/compression.ts'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import {
  createHost,
  type Environment,
  type Finished,
  hasEnded,
  program,
  type Running,
} from '../harness/process.ts'
import { dumpWithoutPositions } from '../projections/tables.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
const Made = z.looseObject({ events: z.int(), encrypted: z.boolean() })
const Restored = z.looseObject({ events: z.int() })
const Verified = z.looseObject({ events: z.int(), masterKey: z.boolean(), differences: z.array(z.unknown()) })
const Customers = z.looseObject({ license: z.looseObject({ email: z.string().nullable() }) })
const email = 'wren.holderton@backup-mail.example'
const erasedEmail = 'erased.person@backup-mail.example'

test('an encrypted backup of a running server is verified, restored to another directory and served there', async () => {
  const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
  const server = await host.serve(environment)
  const token = await createVendor(environment)
  const vendor = client(server.address, token)
  await vendor.createProduct(2)
  const kept = await vendor.mint({ email })
  const erased = await vendor.mint({ email: erasedEmail })
  const keyed = await mintWithKey(server.address, token)
  await host.json(z.looseObject({}), ['subject', 'erase', erasedEmail, '--tenant', 'acme'], environment)

  const identity = await generateX25519Identity()
  const identityFile = host.path('identity')
  writeFileSync(identityFile, `# a key of a test\n${identity}\n`)
  const files = { encrypted: host.path('encrypted'), plain: host.path('plain') }
  const selling = new AbortController()
  const load = keepMinting(vendor, selling.signal)
  const recipient = ['--recipient', await identityToRecipient(identity)]
  const made = await host.json(Made, ['backup', files.encrypted, ...recipient], environment)
  await host.json(Made, ['backup', files.plain], environment)
  selling.abort()
  const minted = await load
  expect(made.encrypted).toBe(true)
  expect(statSync(files.encrypted).mode & 0o777).toBe(0o600)

  const canaries = [email, erasedEmail, token, kept.licenseKey, keyed.licenseKey, idempotencyKey]
  expect(await foundIn(files.plain, canaries)).toStrictEqual([])

  const opened = ['--identity', identityFile]
  expect(await host.run(['backup', 'verify', files.encrypted], environment)).toMatchObject({ code: 1 })
  const verified = await host.json(Verified, ['backup', 'verify', files.encrypted, ...opened], environment)
  expect(verified).toMatchObject({ events: made.events, masterKey: true, differences: [] })
  const left = readdirSync(join(host.directory, 'tmp')).filter((name) => name.startsWith('keyledger-verify'))
  expect(left).toStrictEqual([])

  const inUse = await host.run(['restore', files.plain], environment)
  expectEnd(inUse, 1, 'A restore never overwrites data')

  const elsewhere = { KEYLEDGER_DATA_DIR: host.path('elsewhere') }
  const noKey = await host.run(['restore', files.encrypted, ...opened], elsewhere)
  expectEnd(noKey, 2, 'The master key of the backed-up installation is missing')
  const wrongKey = { ...elsewhere, KEYLEDGER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
  const refused = await host.run(['restore', files.encrypted, ...opened], wrongKey)
  expectEnd(refused, 1, 'The master key does not decrypt')
  expect(existsSync(elsewhere.KEYLEDGER_DATA_DIR)).toBe(false)

  mkdirSync(elsewhere.KEYLEDGER_DATA_DIR, { mode: 0o700 })
  copyFileSync(
    join(environment.KEYLEDGER_DATA_DIR, 'master.key'),
    join(elsewhere.KEYLEDGER_DATA_DIR, 'master.key'),
  )
  await server.end('SIGTERM')
  expect(await host.json(Restored, ['restore', files.encrypted, ...opened], elsewhere)).toMatchObject({
    events: made.events,
  })

  const again = await host.serve(elsewhere)
  const there = client(again.address, token)
  for (const { licenseKey } of [kept, erased, keyed, ...minted.slice(0, 1)]) {
    expect((await there.activate(licenseKey, 'laptop')).status).toBe(200)
    expect((await there.validate(licenseKey, 'laptop')).body).toMatchObject({ valid: true })
  }
  const emailOf = async (licenseId: string) =>
    Customers.parse((await there.send('GET', `/v1/licenses/${licenseId}`)).body).license.email
  expect(await emailOf(kept.licenseId)).toBe(email)
  expect(await emailOf(erased.licenseId)).toBeNull()
  // The backup does not contain the response: the request runs again, and mints the same license.
  expect(await mintWithKey(again.address, token)).toStrictEqual(keyed)
  expect(again.stdout()).not.toContain('kl_pat_')
})

function expectEnd({ code, stderr }: Finished, expected: number, said: string): void {
  expect(stderr).toContain(said)
  expect(code).toBe(expected)
}

const idempotencyKey = 'canary-backup-order-1017'

async function mintWithKey(
  address: string,
  token: string,
): Promise<{ licenseId: string; licenseKey: string }> {
  const response = await fetch(`${address}/v1/licenses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ productId }),
  })
  const { license, licenseKey } = z
    .object({ license: z.looseObject({ id: z.string() }), licenseKey: z.string() })
    .parse(await response.json())
  return { licenseId: license.id, licenseKey }
}

async function keepMinting(vendor: ReturnType<typeof client>, signal: AbortSignal) {
  const minted = [await vendor.mint()]
  while (!signal.aborted) {
    minted.push(await vendor.mint())
    await sleep(20)
  }
  return minted
}

/** Which of the texts occur anywhere in the decompressed archive. */
async function foundIn(file: string, texts: readonly string[]): Promise<string[]> {
  const { kept, manifest } = await checkArchive(file, undefined, {
    keep: () => true,
    onBytes: () => undefined,
  })
  const plain = await Promise.all(kept.map(({ bytes }) => plainOf(bytes)))
  // bytea values are written in hex.
  const all = [JSON.stringify(manifest), ...plain.map((bytes) => bytes.toString())].join('\n')
  return texts.filter((text) => all.includes(text) || all.includes(Buffer.from(text).toString('hex')))
}

test('a killed backup leaves no file, and a restore killed at any step is completed by the next one', async () => {
  const source = await host.stores()
  const token = await createVendor(source.environment)
  const server = await host.serve(source.environment)
  const vendor = client(server.address, token)
  await vendor.createProduct(2)
  const { licenseKey } = await vendor.mint({ email })
  await vendor.activate(licenseKey, 'laptop')
  await server.end('SIGTERM')
  const file = host.path('backup')
  await killedBackup(source.environment, source.databaseUrl, file)
  const { events } = await host.json(Made, ['backup', file], source.environment)
  expect(partialFiles(file)).toStrictEqual([])

  const target = await host.stores()
  const environment = {
    ...target.environment,
    KEYLEDGER_MASTER_KEY: source.environment.KEYLEDGER_MASTER_KEY ?? '',
  }
  const session = await connect(target.databaseUrl)
  const start = () => host.start(['node', program, 'restore', file], environment)
  const expectRefused = async () => {
    const refused = await host.run(['projections', 'status'], environment)
    expectEnd(refused, 1, 'a restore of this database has not finished')
  }
  const killWhereItWaits = async (hold: string) => {
    await session.query(`begin; ${hold}`)
    const restoring = start()
    await waiting(session, restoring)
    await restoring.end('SIGKILL')
    // Postgres would end the waiting statement before it notices that the client is gone.
    await session.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await session.query('rollback')
    await untilGone(session)
    await expectRefused()
  }
  // Before the tables are created; a start then creates them instead.
  await killWhereItWaits(`select pg_advisory_xact_lock(${PG_MIGRATE_LOCK_ID})`)
  // After the tables were filled, before the commit.
  await killWhereItWaits('lock table public.keyledger_restore in exclusive mode')
  // With a part of the log written.
  const restoring = start()
  await holdsEvents(target.eventstoreUrl, restoring)
  await restoring.end('SIGKILL')
  await untilGone(session)
  await expectRefused()
  // Before the read models exist, and after everything exists.
  await killWhereItWaits(`select pg_advisory_xact_lock(${projectionLock})`)
  await killWhereItWaits('lock table public.keyledger_restore in access share mode')

  expect(await host.json(Restored, ['restore', file], environment)).toMatchObject({ events })
  const verified = await host.json(Verified.partial(), ['projections', 'verify'], environment)
  expect(verified).toMatchObject({ events, differences: [] })
  expect(await readModelsOf(target.databaseUrl)).toStrictEqual(await readModelsOf(source.databaseUrl))
})

/** Kills a backup that waits for a table, and checks that no file has its name. */
async function killedBackup(environment: Environment, databaseUrl: string, file: string): Promise<void> {
  const session = await connect(databaseUrl)
  await session.query('begin; lock table vault.secrets in access exclusive mode')
  const backup = host.start(['node', program, 'backup', file], environment)
  await waiting(session, backup)
  expect(partialFiles(file)).toHaveLength(1)
  await backup.end('SIGKILL')
  await session.query('rollback')
  expect(existsSync(file)).toBe(false)
}

const partialFiles = (file: string): string[] =>
  readdirSync(dirname(file)).filter((name) => name === `.${basename(file)}.partial`)

async function connect(url: string): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  onTestFinished(() => session.end())
  return session
}

/**
 * Waits until a statement of the process waits for a lock of the session. Within a transaction, pg_stat_activity
 * does not change.
 */
async function waiting(session: pg.Client, process_: Running): Promise<void> {
  for (;;) {
    const { rows } = await session.query<{ found: boolean }>(
      `select exists (select from pg_locks
         where not granted and database = (select oid from pg_database where datname = current_database())) as found`,
    )
    if (rows[0]?.found) return
    if (hasEnded(process_)) throw new Error(`it did not wait: ${process_.stderr()}`)
    await sleep(10)
  }
}

/** Waits until the database has closed the connections of the killed process. */
async function untilGone(session: pg.Client): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await session.query(
        `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      )
      return rows.length
    })
    .toBe(0)
}

async function holdsEvents(url: string, process_: Running): Promise<void> {
  const log = openRawLog(url)
  try {
    for (;;) {
      for await (const { events } of log.pages(undefined)) if (events.length > 0) return
      if (hasEnded(process_)) throw new Error(`it ended: ${process_.stderr()}`)
      await sleep(5)
    }
  } finally {
    await log.close()
  }
}

async function readModelsOf(databaseUrl: string) {
  const session = await connect(databaseUrl)
  await session.query('set search_path = read_models; set timezone = UTC')
  return dumpWithoutPositions(session)
}
