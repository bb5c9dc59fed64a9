import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { LocalStackError } from '../errors.ts'

/**
 * Tracks the users of a data directory with locks that the operating system releases when their process ends.
 * It uses SQLite, which has such locks on every platform; its two files here have no contents.
 *
 * - `users.sqlite`: every member holds a shared lock. A process that gets the exclusive lock knows that there
 *   are no members.
 * - `start.sqlite`: the exclusive lock is held while starting or stopping the parts.
 */
export type Membership = {
  /**
   * Runs the work while no other process starts or stops parts. The other process may be creating a cluster, so
   * there is no time limit; `onSlow` is called once after 5 seconds.
   */
  decide<Result>(work: () => Promise<Result>, onSlow: () => void): Promise<Result>
  /** Whether there are no members, including this process. Only inside `decide`. */
  isEmpty(): boolean
  /** Joins as a member, until `leave` or the end of the process. Only inside `decide`. */
  enter(): void
  /** Ends this process's membership. Only inside `decide`. */
  leave(): void
  /** Closes the files; the object must not be used afterwards. */
  close(): void
}

/**
 * @param directory the existing directory of the two files
 * @throws LocalStackError
 */
export function openMembership(directory: string): Membership {
  const { start, users } = openLocks(directory)

  return {
    async decide(work, onSlow) {
      const since = performance.now()
      let reported = false
      while (!acquire(start, 'begin exclusive')) {
        if (!reported && performance.now() - since > 5_000) {
          reported = true
          onSlow()
        }
        await sleep(20)
      }
      try {
        return await work()
      } finally {
        start.exec('rollback')
      }
    },
    isEmpty() {
      if (!acquire(users, 'begin exclusive')) return false
      users.exec('rollback')
      return true
    },
    enter() {
      // A transaction takes its shared lock with its first read. Inside `decide` no process holds the exclusive
      // lock.
      users.exec('begin; select count(*) from sqlite_schema')
    },
    leave() {
      users.exec('rollback')
    },
    close() {
      users.close()
      start.close()
    },
  }
}

function openLocks(directory: string): { start: DatabaseSync; users: DatabaseSync } {
  // No waiting inside SQLite, which would block the event loop.
  const open = (file: string) => new DatabaseSync(join(directory, file), { timeout: 0 })
  try {
    return { start: open('start.sqlite'), users: open('users.sqlite') }
  } catch (error) {
    throw new LocalStackError(
      `The locks in ${directory} cannot be opened: ${(error as Error).message}. Make the files in it writable ` +
        `for this user, or remove them while no keyledger process runs.`,
      { cause: error },
    )
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
