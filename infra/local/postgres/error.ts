/** Why the embedded Postgres cannot run. The message says what is in the way and how to mend it. */
export class LocalPostgresError extends Error {
  override readonly name = 'LocalPostgresError'
}

/** What to do when the embedded Postgres cannot be used at all. */
export const useAnotherPostgres =
  'or set KEYLEDGER_DATABASE_URL to the URL of your own Postgres (postgresql://user:password@host/database)'
