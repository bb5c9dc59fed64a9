import { DirectoryInUse } from './storage/database.ts'

const sqliteReadonly = 8
const sqliteIoError = 10
const sqliteCorrupt = 11
const sqliteFull = 13
const sqliteCannotOpen = 14
const sqliteNotADatabase = 26

export type StartFailure = {
  message: string
  exitCode: 1 | 2
}

/** Describes a failed start in one line: what went wrong, and how to fix it. */
export function describeStartFailure(error: unknown): StartFailure {
  const reason = reasonOf(error)
  const message = `event store: ${reason}`
  if (error instanceof DirectoryInUse) return { message, exitCode: 2 }
  const remedy = remedyFor(reason, errorCodes(error))
  return { message: (remedy ? `${message}. ${remedy}` : message).replaceAll('\n', ' '), exitCode: 1 }
}

/** gRPC wraps the operating system's error about the port. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /listen E[A-Z]+: [^\]]+/.exec(message)?.[0] ?? message
}

function remedyFor(reason: string, codes: readonly unknown[]): string | undefined {
  if (reason.includes('EADDRINUSE'))
    return 'Another process uses the port. Stop it, or choose another --port.'
  if (reason.includes('listen EACCES')) return 'The port is reserved. Choose a --port above 1023.'
  if (codes.some((code) => code === 'ENOSPC' || code === 'EDQUOT' || code === sqliteFull)) {
    return 'The disk is full. Free up space and restart.'
  }
  if (codes.some((code) => code === 'EIO' || code === sqliteIoError)) {
    return 'The disk reports an error. Check the system log, and move the directory to another disk.'
  }
  if (codes.includes('EISDIR')) return 'A directory is in the way. Remove it, or choose another --directory.'
  if (codes.includes('ENOTDIR') || codes.includes('EEXIST')) {
    return 'A file is in the way. Choose another --directory.'
  }
  if (codes.some((code) => code === 'EACCES' || code === 'EPERM' || code === sqliteCannotOpen)) {
    return 'Make the directory readable and writable for this user, or choose another --directory.'
  }
  if (codes.includes('EROFS') || codes.includes(sqliteReadonly)) {
    return 'Choose a writable --directory.'
  }
  if (codes.includes(sqliteCorrupt) || codes.includes(sqliteNotADatabase)) {
    return 'The database is damaged. Restore the directory from a backup, or choose another --directory.'
  }
  return undefined
}

/** Node's errors have a `code`; SQLite errors also have an `errcode`, whose low byte is the primary code. */
function errorCodes(error: unknown): unknown[] {
  if (!(error instanceof Error)) return []
  const code = 'code' in error ? error.code : undefined
  const kind = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
  return [code, kind]
}
