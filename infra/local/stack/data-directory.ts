import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LocalStackError } from '../errors.ts'
import { isWritableByAll, restrictAccess } from './exposure.ts'

/** The directories inside the data directory. */
export type DataDirectory = {
  readonly postgres: string
  readonly eventStore: string
  /** Locks and log files. */
  readonly run: string
}

/**
 * Creates the data directory for this user only, or restricts an existing one.
 *
 * @param holdsData whether it holds data, or only locks
 * @param log called for each path that was open to others and no longer is
 * @throws LocalStackError when it cannot be used; the message says how to fix it
 */
export function openDataDirectory(
  path: string,
  { holdsData, log }: { readonly holdsData: boolean; readonly log: (message: string) => void },
): DataDirectory {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const root = realpathSync(path)
    if (holdsData) refuseAnotherOwner(join(root, 'eventstore'))
    for (const { problem } of restrictAccess(root)) log(problem)
    if (holdsData && isWritableByAll(root)) throw new WritableByAll()
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

class WritableByAll extends Error {}

class OfAnotherUser extends Error {
  readonly uid: number

  constructor(uid: number) {
    super()
    this.uid = uid
  }
}

/** Files that this process would make there, also as root, would be closed to the user whose directory it is. */
function refuseAnotherOwner(path: string): void {
  const uid = statSync(path, { throwIfNoEntry: false })?.uid
  if (uid !== undefined && uid !== process.getuid?.()) throw new OfAnotherUser(uid)
}

function explain(path: string, error: unknown): string {
  if (error instanceof WritableByAll) {
    return (
      `every user of this machine can write to it, and keyledger cannot restrict it because it contains other files. Choose ` +
      `a separate directory with KEYLEDGER_DATA_DIR, for example one inside it.`
    )
  }
  if (error instanceof OfAnotherUser)
    return (
      `it belongs to another user (${String(error.uid)}). Start keyledger as that user, change its owner to this user ` +
      `(chown -R), or choose another directory with KEYLEDGER_DATA_DIR.`
    )
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `a file is in the way. Move that file, or choose another directory with KEYLEDGER_DATA_DIR.`
    case 'EACCES':
    case 'EPERM':
      return (
        `this user cannot write to it. Start keyledger as the user who created it, change its owner to this user ` +
        `(chown -R), or choose another directory with KEYLEDGER_DATA_DIR.`
      )
    case 'EROFS':
      return `the file system is read-only. Choose another directory with KEYLEDGER_DATA_DIR.`
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk is full. Free up space and restart.`
    case 'EIO':
      return `the disk reports an error. Check the system log, and move the data to another disk.`
    default:
      return `${message}. Choose another directory with KEYLEDGER_DATA_DIR, or fix ${dirname(path)}.`
  }
}
