import type { ClientBase } from 'pg'
import { Connection } from '../../projections/database/connection.ts'
import { knownMigrations, migrate } from '../../projections/database/migrate.ts'
import {
  claimForRestore,
  clearDurableSchemas,
  endRestore,
  isBeingRestored,
  markLoaded,
  type RestorePhase,
} from '../../projections/database/restoring.ts'
import { copyLog, TargetDiffers } from '../ledger/raw/copy.ts'
import type { RawLog } from '../ledger/raw/log.ts'
import { type MasterKey, opensCheck } from '../vault/master-key.ts'
import { checkArchive, type Entry, readParts } from './archive-reader.ts'
import { plainOf } from './compression.ts'
import { copySettings } from './dump.ts'
import type { DecryptionKey } from './encryption.ts'
import { BackupError, TargetNotEmpty } from './errors.ts'
import { type Manifest, tableOf } from './format.ts'
import { logInFile } from './log-in-file.ts'
import { createTableLoader } from './table-loader.ts'

/** Called with the number of bytes read, to estimate the remaining time. */
export type OnBytes = (bytes: number) => void

/** A backup whose contents match its digests. */
export type CheckedBackup = { file: string; key: DecryptionKey; manifest: Manifest; masterKeyCheck: Buffer[] }

const checkTable = 'vault.master_key_check'

/**
 * Reads a whole backup and compares it with its digests before a restore.
 * @throws BackupError when it is damaged, incomplete, or of a newer version
 */
export async function checkBackup(
  file: string,
  key: DecryptionKey,
  onBytes: OnBytes,
): Promise<CheckedBackup> {
  const keep = (name: string) => tableOf(name) === checkTable
  const { manifest, kept } = await checkArchive(file, key, { keep, onBytes })
  const known = knownMigrations()
  const unknown = manifest.migrations.find((name, index) => name !== known[index])
  if (unknown !== undefined) {
    throw new BackupError(
      `${file} was written by keyledger ${manifest.keyledger}, which has the migration ${unknown} that this version does not know. Use that version or a newer one.`,
    )
  }
  return { file, key, manifest, masterKeyCheck: await sealedIn(kept) }
}

/** Reads the values sealed under the master key from rows in COPY's format. */
async function sealedIn(parts: readonly Entry[]): Promise<Buffer[]> {
  const plain = await Promise.all(parts.map(({ bytes }) => plainOf(bytes)))
  const hex = Buffer.concat(plain)
    .toString()
    .matchAll(/\\\\x([0-9a-f]+)/g)
  return [...hex].map(([, digits = '']) => Buffer.from(digits, 'hex'))
}

/** @throws BackupError when the backup's secrets are sealed under another master key */
export function checkMasterKeyOf({ file, masterKeyCheck }: CheckedBackup, master: MasterKey): void {
  if (masterKeyCheck.every((sealed) => opensCheck(master, sealed))) return
  throw new BackupError(
    `The master key does not decrypt the secrets in ${file}. Use the master key of the backed-up installation, as KEYLEDGER_MASTER_KEY or as master.key in the data directory.`,
  )
}

type Target = {
  log: RawLog
  /** With the role that owns the durable schemas. */
  databaseUrl: string
}

/**
 * Restores the tables and the log of a backup into empty stores. If it is interrupted, call it again with the
 * same backup to continue. The database cannot be used until `finishRestore`.
 * @throws TargetNotEmpty, BackupError, and errors of the stores when they do not answer
 */
export async function restore(
  backup: CheckedBackup,
  target: Target,
  options: {
    onProgress: (done: { events: number; position: bigint; head: bigint }) => void
    onRetry: (error: Error) => void
  },
): Promise<void> {
  await withClient(target.databaseUrl, async (client) => {
    const phase = await claim(client, backup, target.log)
    if (phase === 'begun') await loadTables(client, backup, target.databaseUrl)
  })
  await migrate(target.databaseUrl)
  try {
    const source = logInFile(backup.file, backup.key, { manifest: backup.manifest, onBytes: () => undefined })
    await copyLog(source, target.log, options)
  } catch (error) {
    if (error instanceof TargetDiffers)
      throw new TargetNotEmpty(`The event store contains events that are not in the backup`)
    throw error
  }
}

/** @returns the phase that an earlier run has reached */
async function claim(client: ClientBase, { manifest }: CheckedBackup, log: RawLog): Promise<RestorePhase> {
  const isResumed = await isBeingRestored(client)
  if (!isResumed && !(await isEmpty(log))) throw new TargetNotEmpty('The event store already contains events')
  const phase = await claimForRestore(client, manifest.id)
  if (phase !== undefined) return phase
  throw new TargetNotEmpty(isResumed ? 'Another backup is being restored there' : 'The database is in use')
}

async function isEmpty(log: RawLog): Promise<boolean> {
  for await (const { events } of log.pages(undefined)) if (events.length > 0) return false
  return true
}

/** Creates the tables as of the backup's version, and fills them in one transaction. */
async function loadTables(client: ClientBase, backup: CheckedBackup, databaseUrl: string): Promise<void> {
  const { file, key, manifest } = backup
  await clearDurableSchemas(client)
  await migrate(databaseUrl, manifest.migrations.length)
  await client.query('begin')
  const loader = createTableLoader(client, manifest.tables)
  for await (const { name, bytes } of readParts(file, key, manifest, () => undefined)) {
    const table = tableOf(name)
    // The tables come before the log.
    if (table === undefined) break
    await loader.write(table, await plainOf(bytes))
  }
  await loader.end()
  await markLoaded(client)
  await client.query('commit')
}

async function withClient<T>(databaseUrl: string, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = new Connection({
    connectionString: databaseUrl,
    options: copySettings,
    application_name: 'keyledger restore',
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Ends a restore after the read models are built; from then on the database can be used. */
export const finishRestore = (databaseUrl: string): Promise<void> => withClient(databaseUrl, endRestore)
