/** The embedded Postgres cannot run. The message says why and how to fix it. */
export class LocalPostgresError extends Error {
  override readonly name = 'LocalPostgresError'
}

/** Advice for when the embedded Postgres cannot be used. */
export const useAnotherPostgres =
  'or set KEYLEDGER_DATABASE_URL to the URL of your own Postgres (postgresql://user:password@host/database)'

/** The embedded stack cannot run. The message says why and how to fix it. */
export class LocalStackError extends Error {
  override readonly name = 'LocalStackError'
}
