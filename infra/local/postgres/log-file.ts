import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'

const maxBytes = 4 * 1024 * 1024

/**
 * Opens a log file for a child process to append to. A file that is too large is renamed to `<path>.1` and
 * replaces the previous one, so a log takes at most about twice the limit.
 *
 * @returns a file descriptor; the caller closes it after the child has it
 */
export function openLogFile(path: string): number {
  if (sizeOf(path) > maxBytes) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

/**
 * Limits the log of a running process. The process keeps the file open, so the file is copied and truncated
 * instead of renamed; lines written in between may be lost.
 */
export function boundLogFile(path: string): void {
  if (sizeOf(path) <= maxBytes) return
  copyFileSync(path, `${path}.1`)
  truncateSync(path)
}

/** The size of a log file in bytes, for `tailOfLogFile`. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The last lines of a log file, only those written after `from_bytes`. */
export function tailOfLogFile(path: string, from_bytes: number, lines = 12): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return ''
  }
  try {
    const size = fstatSync(file).size
    const start = Math.max(size - 16 * 1024, size < from_bytes ? 0 : from_bytes)
    const buffer = Buffer.alloc(size - start)
    readSync(file, buffer, 0, buffer.length, start)
    return lastLines(buffer.toString('utf8'), lines)
  } finally {
    closeSync(file)
  }
}

/** The last non-empty lines of a text. */
export function lastLines(text: string, lines = 12): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-lines)
    .join('\n')
}
