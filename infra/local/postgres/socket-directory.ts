import { createHash } from 'node:crypto'
import { chmodSync, chownSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { LocalPostgresError } from './error.ts'
import { port } from './settings.ts'

/** The system's bound on the path of a unix socket: 103 bytes on macOS, 107 on Linux. */
const longestPath_bytes = 103

/**
 * Makes the directory that holds the server's socket: inside the cluster's directory or, where that path is
 * too long for a socket, a short one that only the server's user can enter.
 *
 * @throws LocalPostgresError when no such directory can be made
 */
export function makeSocketDirectory(directory: string, account: Account): string {
  const inside = join(directory, 'socket')
  if (fits(inside)) return claim(inside, account)
  // The name follows from the path, so that a restarted server keeps the address that its clients know.
  const name = `keyledger-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`
  for (let attempt = 1; ; attempt += 1) {
    try {
      return claim(`/tmp/${name}${attempt === 1 ? '' : `-${attempt}`}`, account)
    } catch (error) {
      if (attempt === 9) {
        throw new LocalPostgresError(
          `The path ${directory} is too long to hold a socket, and none can be made in /tmp: ` +
            `${(error as Error).message}. Choose a shorter directory with KEYLEDGER_DATA_DIR.`,
          { cause: error },
        )
      }
    }
  }
}

function fits(directory: string): boolean {
  return Buffer.byteLength(socketPath(directory)) <= longestPath_bytes
}

/** Makes the directory, or takes an existing one that nobody else can have made. */
function claim(path: string, account: Account): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  const ours = [process.getuid?.(), account.owner?.uid]
  if (!found.isDirectory() || !ours.includes(found.uid)) throw new Error(`${path} belongs to somebody else`)
  chmodSync(path, 0o700)
  if (account.owner) chownSync(path, account.owner.uid, account.owner.gid)
  return path
}

/** Removes the directory of a stopped server, unless something is still in it. */
export function removeSocketDirectory(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // A new server may already be using it.
  }
}

export const socketPath = (directory: string): string => join(directory, `.s.PGSQL.${port}`)

/** The address for `pg`, with the socket's directory where a host name would stand. */
export function databaseUrl(socketDirectory: string): string {
  return `postgresql://keyledger@/keyledger?host=${encodeURIComponent(socketDirectory)}`
}
