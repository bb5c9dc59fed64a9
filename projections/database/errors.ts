import pg from 'pg'

/**
 * Whether an error means that the database is unavailable, and not that a statement is wrong. SQLSTATE classes:
 * 08 connection, 25 transaction state, 28 authorization, 3D no such database, 40 transaction rollback, 53 insufficient
 * resources, 55 object in use, 57 operator intervention (shutdown, statement timeout), 58 system error (such as I/O).
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isDatabaseFailure(error: unknown): boolean {
  if (error instanceof LockLost) return true
  if (error instanceof pg.DatabaseError) return failureClasses.has(error.code?.slice(0, 2) ?? '')
  if (error instanceof AggregateError) return error.errors.some(isDatabaseFailure)
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return socketCodes.has(code) || clientMessage.test(error.message)
}

/** A lock was not available in time, or it is unknown whether it was held to the end. */
export class LockLost extends Error {
  constructor(what = 'the connection that held a lock is lost') {
    super(what)
    this.name = 'LockLost'
  }
}

const failureClasses = new Set(['08', '25', '28', '3D', '40', '53', '55', '57', '58'])
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
/** The messages of the client's own errors, which have no code. */
const clientMessage =
  /^(?:Connection terminated|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error)/
