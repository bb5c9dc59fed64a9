import { statSync } from 'node:fs'
import type { Pool } from 'pg'
import { createPool } from '../../../projections/database/pool.ts'
import { prepareReadModels } from '../../../projections/runner/prepare.ts'
import { rebuild } from '../../../projections/runner/rebuild.ts'
import type { DecryptionKey } from '../../backup/encryption.ts'
import type { CheckedBackup } from '../../backup/restore.ts'
import { checkBackup, finishRestore, restore } from '../../backup/restore.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { connectLedger } from '../../ledger/ledger.ts'
import { printToStderr } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import type { BareStores } from './stores.ts'

/** Reads a whole backup file and compares it with its digests. @throws BackupError */
export async function checkFile(file: string, key: DecryptionKey): Promise<CheckedBackup> {
  const head = BigInt(statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  const progress = showProgress('Checking the file', { unit: 'bytes' })
  let read = 0
  const checked = await checkBackup(file, key, (bytes) => {
    read += bytes
    progress.update({ events: read, position: BigInt(read), head })
  })
  progress.done()
  return checked
}

/**
 * Fills empty stores from a backup and builds the read models.
 * @param after runs on the restored ledger before the restore counts as finished
 * @throws TargetNotEmpty, BackupError, and errors of the stores
 */
export async function restoreInto<T>(
  backup: CheckedBackup,
  { log, eventstoreUrl, databaseUrl, migrationUrl }: BareStores,
  after: (ledger: Ledger, db: Pool) => Promise<T>,
): Promise<T> {
  const progress = showProgress('Restoring the log')
  await restore(
    backup,
    { log, databaseUrl: migrationUrl },
    {
      onProgress: progress.update,
      onRetry: ({ message }) => printToStderr(`${message}; retrying`),
    },
  )
  progress.done()
  const ledger = connectLedger(eventstoreUrl)
  const db = createPool(databaseUrl, { size: 2, planOnce: true })
  try {
    await makeReadModels(db, ledger)
    const found = await after(ledger, db)
    await finishRestore(migrationUrl)
    return found
  } finally {
    await db.end()
    await ledger.close()
  }
}

const emptyLog = {
  head: () => Promise.resolve(undefined),
  readPage: () => Promise.resolve({ entries: [], through: undefined }),
}

/** Creates empty tables and then rebuilds beside them, which applies a whole log several times as fast. */
async function makeReadModels(db: Pool, ledger: Ledger): Promise<void> {
  const onParked = ({ stream, problem }: { stream: string; problem: string }) =>
    printToStderr(`${stream} is parked: ${problem}`)
  await prepareReadModels(db, emptyLog, { onParked, onProgress: () => undefined })
  const progress = showProgress('Building the read models')
  await rebuild(db, ledger, { onParked, onProgress: progress.update })
  progress.done()
}
