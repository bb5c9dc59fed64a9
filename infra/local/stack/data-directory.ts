import { accessSync, chmodSync, chownSync, constants, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { serverUser } from '../postgres/account.ts'
import { LocalStackError } from './error.ts'

/** What stands where in the data directory. */
export interface DataDirectory {
  readonly postgres: string
  readonly eventStore: string
  /** Locks and what one start tells the next. */
  readonly run: string
}

/**
 * Makes the data directory, private to this user, or takes the one that is there.
 *
 * @throws LocalStackError when it cannot be used; the message says what to mend
 */
export function openDataDirectory(path: string): DataDirectory {
  try {
    if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) letServerUserPass(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const root = realpathSync(path)
    const directories = {
      postgres: join(root, 'postgres'),
      eventStore: join(root, 'eventstore'),
      run: join(root, 'run'),
    }
    for (const directory of [directories.eventStore, directories.run]) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    }
    return directories
  } catch (error) {
    throw new LocalStackError(`The data directory ${path} cannot be used: ${explain(path, error)}`, {
      cause: error,
    })
  }
}

/** Where we are root, Postgres runs as another user: its group may pass through, and do nothing else. */
function letServerUserPass(path: string): void {
  const user = serverUser()
  if (!user) return
  chownSync(path, 0, user.gid)
  chmodSync(path, 0o710)
}

function explain(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `a file is in its way. Move that file, or choose another directory with KEYLEDGER_DATA_DIR.`
    case 'EACCES':
    case 'EPERM':
      return (
        `this user may not write there. Start keyledger as the user who made it, give it to this user ` +
        `(chown -R), or choose another directory with KEYLEDGER_DATA_DIR.`
      )
    case 'EROFS':
      return `the file system is read-only. Choose another directory with KEYLEDGER_DATA_DIR.`
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk is full. Free some space and start again.`
    default:
      return `${message}. Choose another directory with KEYLEDGER_DATA_DIR, or mend ${dirname(path)}.`
  }
}
