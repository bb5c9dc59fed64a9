import { existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Durability } from '../../durability.ts'
import { type Acknowledged, openAcknowledged } from './acknowledged.ts'
import { findDamage } from './write-ahead-log.ts'

const schemaVersion = 1
const sqliteBusy = 5

/** The directory is open in another process, or in another store of this one. */
export class DirectoryInUse extends Error {
  constructor(directory: string) {
    super(
      `${directory} is in use by another event store process. Connect to that process (its address is in ` +
        `${join(directory, 'endpoint.json')}), stop it, or choose another directory.`,
    )
  }
}

/** Acknowledged events are missing. The message says what to do. */
class EventsMissing extends Error {
  constructor(directory: string, problem: string) {
    super(
      `${problem} Restore all of ${directory} from one backup. Without a backup, copy it away, create the empty file ` +
        `${join(directory, acceptLoss)}, and start again to continue without the missing events.`,
    )
  }
}

/** The file with which an operator accepts the loss of events. */
const acceptLoss = 'accept-loss'

/** An open directory, locked by this process: its database, and the acknowledged position. */
export type OpenDirectory = {
  readonly database: DatabaseSync
  readonly acknowledged: Acknowledged
  /**
   * Checks the end of the log; called before anything is written.
   * @throws EventsMissing when the log ends before the acknowledged position
   */
  verify(nextPosition: number): void
  close(): void
}

/**
 * Opens the database of a directory, and locks it for this process.
 *
 * The lock is an operating system lock, which ends with the process and so is never stale. The write-ahead log
 * is checked before SQLite opens it, because SQLite removes what it cannot read.
 *
 * @throws DirectoryInUse
 * @throws EventsMissing when the write-ahead log is damaged
 */
export function openDirectory(directory: string, durability: Durability): OpenDirectory {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const lock = lockDirectory(directory)
  const pathOf = (name: string): string => join(directory, name)
  const lossAccepted = existsSync(pathOf(acceptLoss))
  const writeAheadLog = pathOf('events.sqlite-wal')
  const kept = pathOf('events.sqlite-wal.kept')
  try {
    const damage = lossAccepted ? undefined : findDamage(writeAheadLog)
    if (damage !== undefined) {
      throw new EventsMissing(directory, `The write-ahead log ${writeAheadLog} is damaged at byte ${damage}.`)
    }
    keep(writeAheadLog, kept)
    const acknowledged = openAcknowledged(pathOf('acknowledged'))
    const mayBeEmpty = acknowledged.position === 0 || lossAccepted
    const database = openDatabase(directory, mayBeEmpty, durability)
    const close = (): void => {
      database.close()
      acknowledged.close()
      lock.close()
    }
    const verify = (nextPosition: number): void => {
      if (nextPosition < acknowledged.position && !lossAccepted) {
        const finding = `The log ends at position ${nextPosition}, but position ${acknowledged.position} was acknowledged.`
        throw new EventsMissing(directory, finding)
      }
      acknowledged.advance(nextPosition)
      // Removes the damaged frames that SQLite skipped.
      database.exec('pragma wal_checkpoint(truncate)')
      rmSync(kept, { force: true })
      rmSync(pathOf(acceptLoss), { force: true })
    }
    return { database, acknowledged, verify, close }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Keeps a link to the write-ahead log, because SQLite removes the log after reading it, even if it could read
 * only part of it.
 */
function keep(writeAheadLog: string, kept: string): void {
  if (!existsSync(writeAheadLog) || existsSync(kept)) return
  try {
    linkSync(writeAheadLog, kept)
  } catch {
    // Not every file system supports links.
  }
}

function lockDirectory(directory: string): DatabaseSync {
  const lock = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    throw isBusy(error) ? new DirectoryInUse(directory) : error
  }
}

/** The exclusive locking mode keeps the WAL index in memory instead of a file. */
function openDatabase(directory: string, mayBeEmpty: boolean, durability: Durability): DatabaseSync {
  const database = new DatabaseSync(join(directory, 'events.sqlite'))
  try {
    database.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = wal;
      pragma synchronous = ${durability === 'full' ? 'full' : 'off'};
      pragma cache_size = -65536;
      pragma wal_autocheckpoint = 4000;
    `)
    if (isEmpty(database)) {
      if (!mayBeEmpty)
        throw new EventsMissing(directory, 'The database is empty, but events were acknowledged.')
      createSchema(database)
    }
    return database
  } catch (error) {
    database.close()
    throw isBusy(error) ? new DirectoryInUse(directory) : error
  }
}

/**
 * Whether the tables do not exist yet. An existing database is not written to until it is known to be complete.
 */
function isEmpty(database: DatabaseSync): boolean {
  const version = database.prepare('pragma user_version').get()?.user_version
  if (version === 0 || version === schemaVersion) return version === 0
  throw new Error(`The events were written by another version of the event store (schema ${version}).`)
}

function createSchema(database: DatabaseSync): void {
  database.exec('begin immediate')
  database.exec(`
    create table if not exists streams (
      stream_id integer primary key,
      name text not null unique,
      head integer not null,
      truncate_before integer not null,
      max_count integer,
      max_age_seconds integer
    ) strict;
    create table if not exists events (
      position integer primary key,
      stream_id integer not null references streams,
      revision integer not null,
      id text not null,
      type text not null,
      is_json integer not null,
      created_ms integer not null,
      metadata blob not null,
      data blob not null
    ) strict;
    create unique index if not exists events_by_stream on events (stream_id, revision);
    pragma user_version = ${schemaVersion};
    commit;
  `)
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
}
