import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Who uses a data directory, told by locks that the operating system drops with the process that holds them.
 * SQLite has such locks on every platform; its two files here hold nothing.
 *
 * - `users.sqlite`: every member holds a shared lock. Whoever gets the exclusive one knows that nobody is there.
 * - `start.sqlite`: the exclusive lock is held while deciding about starting or stopping the parts.
 */
export class Membership {
  readonly #start: DatabaseSync
  readonly #users: DatabaseSync

  /** @param directory where the two files are; it exists */
  constructor(directory: string) {
    // No waiting inside SQLite: that would block the event loop.
    this.#start = new DatabaseSync(join(directory, 'start.sqlite'), { timeout: 0 })
    this.#users = new DatabaseSync(join(directory, 'users.sqlite'), { timeout: 0 })
  }

  /**
   * Runs the work while no other process decides. The other one may be making a cluster, so there is no time
   * limit; `onSlow` is told once when it takes long.
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

  /** Whether there is no member, ourselves included. Only to be asked inside `decide`. */
  isEmpty(): boolean {
    if (!acquire(this.#users, 'begin exclusive')) return false
    this.#users.exec('rollback')
    return true
  }

  /** Becomes a member, until `leave` or the end of the process. Only inside `decide`. */
  enter(): void {
    // A transaction takes its shared lock with its first read. Inside `decide` nobody holds the exclusive one.
    this.#users.exec('begin; select count(*) from sqlite_schema')
  }

  /** Ends our membership. Only inside `decide`. */
  leave(): void {
    this.#users.exec('rollback')
  }

  /** Lets go of the files; the object is not used after this. */
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
