import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The file of the relay cannot be read or written now: disk full, locked or damaged. Nothing was changed. */
export class StoreFailed extends Error {}

/** How long another command of this machine may write, such as `keyledger relay accept`. */
const busyMs = 2000

/** Bounds the memory that pages of the file take. */
const cacheKiB = 1024

const schema = `
  create table if not exists state (name text primary key, value text not null) strict, without rowid;
  create table if not exists seats (instance_id text primary key, seat text not null, ends_at integer) strict, without rowid;
  create table if not exists entries (
    number integer primary key, hash text not null, instance_id text not null, at integer not null, entry text not null
  ) strict;
  create index if not exists entries_of_instance on entries (instance_id);
  create table if not exists blocked (id integer primary key, seat text not null) strict;
  create table if not exists requests (
    counter integer primary key, nonce text not null unique, text text not null, seats integer not null,
    at integer not null, minute integer not null, length integer not null, hash text not null
  ) strict;
  create table if not exists minutes (
    minute integer primary key, peak integer not null, taken integer not null, denied integer not null
  ) strict;
`

export const fileIn = (directory: string): string => join(directory, 'relay.sqlite')

/** Whether a relay was ever enrolled in the directory. */
export const hasFile = (directory: string): boolean => existsSync(fileIn(directory))

/** The one file of a relay. Several processes may have it open; one of them serves. */
export type Database = {
  /** All that the query reads is of one moment, while another process writes. @throws StoreFailed */
  read: <Result>(query: (database: DatabaseSync) => Result) => Result
  /**
   * Does all of the work or nothing; after the return it is durable. What it throws undoes it.
   * @param hasChanged whether another process has written since the last transaction or read of this one
   * @throws StoreFailed
   */
  transact: <Result>(work: (database: DatabaseSync, hasChanged: boolean) => Result) => Result
  /** Whether another process has written since the last transaction. @throws StoreFailed */
  hasChanged: () => boolean
  close: () => void
}

/**
 * Opens the file; it is made where it is missing. After a failure it is opened again for the next call, so that the relay
 * recovers by itself.
 * @param maxPages bounds the size of the file; only tests set it
 */
export function openDatabase(directory: string, maxPages?: number): Database {
  let opened: { database: DatabaseSync; version: number } | undefined

  const open = () => {
    opened ??= { database: connect(directory, maxPages), version: -1 }
    return opened
  }
  const versionOf = (database: DatabaseSync): number =>
    Number(database.prepare('pragma data_version').get()?.data_version)

  function attempt<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      if (!isOfSqlite(error)) throw error
      const { message } = error
      opened?.database.close()
      opened = undefined
      throw new StoreFailed(`${fileIn(directory)}: ${message}`, { cause: error })
    }
  }
  return {
    read: (query) =>
      attempt(() => {
        const { database } = open()
        database.exec('begin')
        try {
          return query(database)
        } finally {
          if (database.isTransaction) database.exec('commit')
        }
      }),
    transact: (work) =>
      attempt(() => {
        const connection = open()
        const { database } = connection
        database.exec('begin immediate')
        try {
          const version = versionOf(database)
          const result = work(database, version !== connection.version)
          database.exec('commit')
          connection.version = version
          return result
        } catch (error) {
          if (database.isTransaction) database.exec('rollback')
          throw error
        }
      }),
    hasChanged: () =>
      attempt(() => {
        const { database, version } = open()
        return versionOf(database) !== version
      }),
    close() {
      opened?.database.close()
      opened = undefined
    },
  }
}

function connect(directory: string, maxPages: number | undefined): DatabaseSync {
  const isNew = !hasFile(directory)
  const database = new DatabaseSync(fileIn(directory), { timeout: busyMs })
  // Its other files get the same mode.
  if (isNew) chmodSync(fileIn(directory), 0o600)
  try {
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -${String(cacheKiB)}; ${schema}`,
    )
    if (maxPages !== undefined) database.exec(`pragma max_page_count = ${String(maxPages)}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const isOfSqlite = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
