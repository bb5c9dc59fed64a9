import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { RawLog } from '../ledger/raw-log.ts'
import { existing, writeArchive } from './archive-writer.ts'
import { dumpLog, dumpTables } from './dump.ts'
import type { EncryptionKey } from './encryption.ts'
import type { Manifest } from './format.ts'
import type { Pace } from './pace.ts'

type Sources = {
  log: RawLog
  /** As the role that owns the durable schemas. */
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
 * Writes a backup while the stores serve. The end of the log is looked up first and the database is read after that: what
 * an event needs of the vault is put there before the event is appended, so all of it is in the backup.
 * @throws BackupError when the file exists; what the stores throw when they do not answer
 */
export async function createBackup(
  file: string,
  { log, databaseUrl }: Sources,
  { key, version, now, pace, onProgress }: Options,
): Promise<{ manifest: Manifest; bytes: number }> {
  if (existsSync(file)) throw existing(file)
  return writeArchive(file, { keyledger: version, key }, async (archive) => {
    const cut = await log.head()
    // At once, and not after the log was read: what is destroyed meanwhile would be missing.
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
