import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { RawLog } from '../ledger/raw/log.ts'
import { existing, writeArchive } from './archive-writer.ts'
import { dumpLog, dumpTables } from './dump.ts'
import type { EncryptionKey } from './encryption.ts'
import type { Manifest } from './format.ts'
import type { Pace } from './pace.ts'

type Sources = {
  log: RawLog
  /** With the role that owns the durable schemas. */
  databaseUrl: string
}

type Options = {
  key: EncryptionKey
  /** The version of keyledger. */
  version: string
  now: Date
  pace: Pace
  onProgress: (done: { events: number; position: bigint; head: bigint }) => void
}

/**
 * Writes a backup while the stores are in use. It reads the end of the log before the database: vault entries
 * are written before the events that need them, so the backup contains all of them.
 * @throws BackupError when the file exists; errors of the stores when they do not answer
 */
export async function createBackup(
  file: string,
  { log, databaseUrl }: Sources,
  { key, version, now, pace, onProgress }: Options,
): Promise<{ manifest: Manifest; bytes: number }> {
  if (existsSync(file)) throw existing(file)
  return writeArchive(file, { keyledger: version, key }, async (archive) => {
    const cut = await log.head()
    // Now rather than after the log is read, because rows that are deleted in the meantime would be missing.
    const { tables, migrations } = await dumpTables(databaseUrl, archive, pace)
    return {
      id: randomUUID(),
      createdAt: now.toISOString(),
      log: await dumpLog(log, cut, archive, { pace, onProgress }),
      tables,
      migrations,
    }
  })
}
