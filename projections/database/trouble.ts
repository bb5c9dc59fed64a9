import pg from 'pg'

/**
 * Whether the database cannot do its work at the moment, rather than refusing what it was asked. SQLSTATE classes:
 * 08 connection, 25 transaction state, 28 authorization, 3D no such database, 40 lost to another transaction, 53 resources, 55 not now,
 * 57 intervention (shutdown, cancelled by a time limit).
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return troubleClasses.has(error.code?.slice(0, 2) ?? '')
  if (error instanceof AggregateError) return error.errors.some(isDatabaseTrouble)
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return socketCodes.has(code) || clientMessage.test(error.message)
}

const troubleClasses = new Set(['08', '25', '28', '3D', '40', '53', '55', '57'])
const socketCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT'])
/** What the client itself says has no code. */
const clientMessage =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/
