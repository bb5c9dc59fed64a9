import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const everyMs = 100

/** Ends each connection of the applications to Postgres with a chance of one in three, again and again. */
export async function endBackends(databaseUrl: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // Postgres may be gone.
    await endSome(databaseUrl).catch(() => undefined)
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

async function endSome(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1000, query_timeout: 1000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and usename = current_user and pid <> pg_backend_pid() and random() < 0.33`,
    )
  } finally {
    void client.end().catch(() => undefined)
  }
}
