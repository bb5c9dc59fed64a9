import { createHash } from 'node:crypto'
import { chmodSync, chownSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** The system's limit for the path of a unix socket: 103 bytes on macOS, 107 on Linux. */
const maxPathBytes = 103

/** The directory for a socket cannot be created. The message says why and what to do. */
export class NoSocketDirectory extends Error {
  override readonly name = 'NoSocketDirectory'
}

/**
 * Creates the directory for a server's socket, which only its owner can enter. It is inside the server's
 * directory or, if that path is too long for a socket, a short one in `/tmp`.
 *
 * @param socket the socket's file name
 * @param owner the user who runs the server; undefined for this user
 * @throws NoSocketDirectory when it cannot be created
 */
export function makeSocketDirectory(
  directory: string,
  socket: string,
  owner?: { readonly uid: number; readonly gid: number },
): string {
  const inside = join(directory, 'socket')
  const fits = Buffer.byteLength(join(inside, socket)) <= maxPathBytes
  // The name is derived from the path, so a restarted server keeps its address.
  const name = `/tmp/keyledger-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`
  const candidates = fits
    ? [inside]
    : [name, ...Array.from({ length: 8 }, (_, index) => `${name}-${index + 2}`)]
  const failures: string[] = []
  for (const path of candidates) {
    try {
      return claim(path, owner)
    } catch (error) {
      failures.push((error as Error).message)
    }
  }
  throw new NoSocketDirectory(
    fits
      ? `The directory for the socket cannot be created: ${failures[0]}. Make ${directory} writable for this user, or choose another directory with KEYLEDGER_DATA_DIR.`
      : `The path ${directory} is too long for a socket, and none can be created in /tmp: ${failures.at(-1)}. Choose a shorter directory with KEYLEDGER_DATA_DIR.`,
  )
}

/** Creates the directory, or uses an existing one of this user or the server's owner. */
function claim(path: string, owner: { readonly uid: number; readonly gid: number } | undefined): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  const ours = [process.getuid?.(), owner?.uid]
  if (!found.isDirectory() || !ours.includes(found.uid)) throw new Error(`${path} belongs to another user`)
  chmodSync(path, 0o700)
  if (owner) chownSync(path, owner.uid, owner.gid)
  return path
}

/** Removes the directory of a stopped server, unless it contains something. */
export function removeSocketDirectory(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // A new server may already use it.
  }
}
