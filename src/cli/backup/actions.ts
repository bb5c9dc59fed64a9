import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { verify } from '../../../projections/runner/verify.ts'
import { ownVersion } from '../../app/own-version.ts'
import { markWelcomed } from '../../app/start/first-start.ts'
import { requireLedger } from '../../app/start/ledger-here.ts'
import { findMasterKey, requireMasterKey } from '../../app/start/master-key-file.ts'
import { createBackup } from '../../backup/backup.ts'
import { logInFile } from '../../backup/log-in-file.ts'
import { createPace, fullSpeed, lowerPriority } from '../../backup/pace.ts'
import { checkMasterKeyOf } from '../../backup/restore.ts'
import { type Config, parseConfig } from '../../config.ts'
import { compareLogs } from '../../ledger/raw/compare-logs.ts'
import { CommandRefused, exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { type KeyOptions, keyOf, type LockOptions, lockOf } from './keys.ts'
import { checkFile, restoreInto } from './restoring.ts'
import { type BareStores, withBareStores } from './stores.ts'

export type MakeOptions = OutputOptions & LockOptions & { fullSpeed?: boolean }
export type OpenOptions = OutputOptions & KeyOptions

/** A pause of twice the working time, so that a backup takes a third of the stores' capacity. */
const restShare = 2

/** `keyledger backup <file>` */
export async function makeBackup(given: string, options: MakeOptions): Promise<void> {
  const config = parseConfig(process.env)
  const file = resolve(given)
  const lock = await lockOf(options)
  requireLedger(config)
  if (!options.fullSpeed) lowerPriority()
  const { manifest, bytes } = await withBareStores(config, async ({ log, migrationUrl }) => {
    const progress = showProgress('Backing up')
    const made = await createBackup(
      file,
      { log, databaseUrl: migrationUrl },
      {
        key: lock,
        version: ownVersion(),
        now: new Date(),
        pace: options.fullSpeed ? fullSpeed : createPace(restShare),
        onProgress: progress.update,
      },
    )
    progress.done()
    return made
  })
  const { id, log, tables } = manifest
  const encrypted = lock !== undefined
  print(options, { file, id, bytes, events: log.events, tables: tables.length, encrypted }, () => [
    `${file}: ${log.events} events and ${tables.length} tables, ${bytes} bytes, ${encrypted ? 'encrypted' : 'not encrypted'}.`,
    'The master key is not included. Without it, the personal data and secrets in the backup cannot be read.',
  ])
}

/** `keyledger restore <file>` */
export async function restoreBackup(given: string, options: OpenOptions): Promise<void> {
  const config = parseConfig(process.env)
  const masterKey = requireMasterKey(config)
  const backup = await checkFile(resolve(given), await keyOf(options))
  checkMasterKeyOf(backup, masterKey)
  await withBareStores(config, (stores) => restoreInto(backup, stores, async () => markWelcomed(config)))
  const { id, createdAt, log, tables } = backup.manifest
  print(options, { file: backup.file, id, createdAt, events: log.events, tables: tables.length }, () => [
    `Restored ${log.events} events and ${tables.length} tables as of ${createdAt}.`,
    'Later changes are lost. See "After a restore" in docs/operating/back-up.md.',
  ])
}

/** `keyledger backup verify <file>` */
export async function verifyBackup(given: string, options: OpenOptions): Promise<void> {
  const config = parseConfig(process.env)
  const backup = await checkFile(resolve(given), await keyOf(options))
  const masterKey = findMasterKey(config)
  if (masterKey) checkMasterKeyOf(backup, masterKey)
  const { id, createdAt, log } = backup.manifest
  const found = await inTemporaryStores(config, (stores) =>
    restoreInto(backup, stores, async (ledger, db) => {
      const progress = showProgress('Verifying')
      const source = logInFile(backup.file, backup.key, {
        manifest: backup.manifest,
        onBytes: () => undefined,
      })
      const compared = await compareLogs(source, stores.log, log.events, progress.update)
      const verified = await verify(db, ledger, progress.update)
      progress.done()
      return { compared, verified }
    }),
  )
  const { differences, rows } = found.verified
  const all = [...found.compared.differences, ...differences]
  if (!found.compared.equal && all.length === 0) throw new Error('the order of the restored log differs')
  print(
    options,
    {
      file: backup.file,
      id,
      createdAt,
      events: log.events,
      rows,
      masterKey: masterKey !== undefined,
      differences: all,
    },
    () => [
      ...all.map((difference) => JSON.stringify(difference)),
      `${backup.file}, created ${createdAt}: ${log.events} events restored and compared, ${rows} rows of the read models verified, ${all.length} differences.`,
      masterKey
        ? 'The master key decrypts its secrets.'
        : 'The secrets were not checked, because there is no master key here.',
    ],
  )
  if (all.length > 0) process.exitCode = exitCode.refused
}

/** Runs work on temporary embedded stores, which are removed afterwards, also on an interrupt. */
async function inTemporaryStores<T>(config: Config, work: (stores: BareStores) => Promise<T>): Promise<T> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'keyledger-verify-'))
  const own = {
    ...config,
    dataDirectory,
    databaseUrl: undefined,
    migrationUrl: undefined,
    eventstoreUrl: undefined,
  }
  const { promise: interrupted, reject } = Promise.withResolvers<never>()
  const interrupt = () => reject(new CommandRefused('Interrupted. The temporary copy was removed.'))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    return await withBareStores(own, (stores) => Promise.race([work(stores), interrupted]))
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}
