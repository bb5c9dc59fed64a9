import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SCHEMA_VERSION = 1
const SQLITE_BUSY = 5

/** Another process, or another store in this one, has the directory open. */
export class DirectoryInUse extends Error {
  constructor(directory: string) {
    super(
      `${directory} is in use by another event store process. Connect to that one (its address is in ` +
        `${join(directory, 'endpoint.json')}), stop it, or choose another directory.`,
    )
  }
}

/**
 * Opens the database of a directory, for this connection alone.
 *
 * The exclusive locking mode keeps an operating-system lock for as long as the connection lives, so the lock
 * dies with the process and can never be stale. It also keeps the WAL index in memory instead of a file.
 */
export function openDatabase(directory: string): DatabaseSync {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(join(directory, 'events.sqlite'))
  try {
    database.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma cache_size = -65536;
      pragma wal_autocheckpoint = 4000;
    `)
    createSchema(database)
    return database
  } catch (error) {
    database.close()
    throw isBusy(error) ? new DirectoryInUse(directory) : error
  }
}

function createSchema(database: DatabaseSync): void {
  database.exec('begin immediate')
  const version = database.prepare('pragma user_version').get()?.user_version
  if (version !== 0 && version !== SCHEMA_VERSION) {
    throw new Error(`The events were written by another version of the event store (schema ${version}).`)
  }
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
    pragma user_version = ${SCHEMA_VERSION};
    commit;
  `)
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
