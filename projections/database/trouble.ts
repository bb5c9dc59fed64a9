import pg from 'pg'

/**
 * Whether the database cannot do its work at the moment, rather than refusing what it was asked. SQLSTATE classes:
 * 08 connection, 25 transaction state, 28 authorization, 3D no such database, 40 lost to another transaction, 53 resources, 55 not now,
 * 57 intervention (shutdown, cancelled by a time limit), 58 the system beneath it (an I/O error).
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof LockLost) return true
  if (error instanceof pg.DatabaseError) return troubleClasses.has(error.code?.slice(0, 2) ?? '')
  if (error instanceof AggregateError) return error.errors.some(isDatabaseTrouble)
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return socketCodes.has(code) || clientMessage.test(error.message)
}

/** A lock could not be had in time, or nobody can tell whether it was held to the end. */
export class LockLost extends Error {
  constructor(what = 'the connection that held a lock is lost') {
    super(what)
    this.name = 'LockLost'
  }
}

const troubleClasses = new Set(['08', '25', '28', '3D', '40', '53', '55', '57', '58'])
const socketCodes = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])
/** What the client itself says has no code. */
const clientMessage =
  /^(?:Connection terminated|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error)/
