import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Tracks the users of a data directory with locks that the operating system releases when their process ends.
 * It uses SQLite, which has such locks on every platform; its two files here have no contents.
 *
 * - `users.sqlite`: every member holds a shared lock. A process that gets the exclusive lock knows that there
 *   are no members.
 * - `start.sqlite`: the exclusive lock is held while starting or stopping the parts.
 */
export class Membership {
  readonly #start: DatabaseSync
  readonly #users: DatabaseSync

  /** @param directory the existing directory of the two files */
  constructor(directory: string) {
    // No waiting inside SQLite, which would block the event loop.
    this.#start = new DatabaseSync(join(directory, 'start.sqlite'), { timeout: 0 })
    this.#users = new DatabaseSync(join(directory, 'users.sqlite'), { timeout: 0 })
  }

  /**
   * Runs the work while no other process starts or stops parts. The other process may be creating a cluster, so
   * there is no time limit; `onSlow` is called once after 5 seconds.
   */
  async decide<Result>(work: () => Promise<Result>, onSlow: () => void): Promise<Result> {
    const since = performance.now()
    let reported = false
    while (!acquire(this.#start, 'begin exclusive')) {
      if (!reported && performance.now() - since > 5_000) {
        reported = true
        onSlow()
      }
      await sleep(20)
    }
    try {
      return await work()
    } finally {
      this.#start.exec('rollback')
    }
  }

  /** Whether there are no members, including this process. Only inside `decide`. */
  isEmpty(): boolean {
    if (!acquire(this.#users, 'begin exclusive')) return false
    this.#users.exec('rollback')
    return true
  }

  /** Joins as a member, until `leave` or the end of the process. Only inside `decide`. */
  enter(): void {
    // A transaction takes its shared lock with its first read. Inside `decide` no process holds the exclusive
    // lock.
    this.#users.exec('begin; select count(*) from sqlite_schema')
  }

  /** Ends this process's membership. Only inside `decide`. */
  leave(): void {
    this.#users.exec('rollback')
  }

  /** Closes the files; the object must not be used afterwards. */
  close(): void {
    this.#users.close()
    this.#start.close()
  }
}

function acquire(database: DatabaseSync, statement: string): boolean {
  try {
    database.exec(statement)
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

function isBusy(error: unknown): boolean {
  const busy = 5
  return error instanceof Error && 'errcode' in error && error.errcode === busy
}
