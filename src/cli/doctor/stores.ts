import type { Pool } from 'pg'
import type { Feed } from '../../webhooks/nats-feed.ts'
import type { Check, CheckResult } from './check.ts'

/** Reports the versions of the stores. */
export const versionsCheck = (db: Pool, feed: Feed | undefined): Check => ({
  name: 'versions',
  async run() {
    const { rows } = await db.query<{ server_version: string }>('show server_version')
    const nats = feed?.connection()?.info?.version
    const versions = [
      `Node ${process.versions.node}`,
      `Postgres ${rows[0]?.server_version.split(' ')[0]}`,
      ...(nats === undefined ? [] : [`NATS ${nats}`]),
    ]
    return { ok: true, required: true, detail: versions.join(', ') }
  },
})

/** Checks that the application's role in Postgres has the rights it needs, and warns about more. */
export const databaseRightsCheck = (db: Pool): Check => ({
  name: 'database_role',
  async run() {
    const { rows } = await db.query<{ name: string; superuser: boolean; creates: boolean }>(
      `select rolname as name, rolsuper as superuser,
         has_database_privilege(current_database(), 'create') as creates
       from pg_roles where rolname = current_user`,
    )
    const [role] = rows
    return role
      ? judgeRole(role)
      : { ok: false, required: true, detail: 'the role of the connection is unknown' }
  },
})

const page = 'docs/operating/deploy.md#rights-in-postgres'

/** Judges the rights of a role. */
export function judgeRole(role: { name: string; superuser: boolean; creates: boolean }): CheckResult {
  const { name, superuser, creates } = role
  if (!creates) {
    return {
      ok: false,
      required: true,
      detail: `the role ${name} cannot create schemas, which a rebuild of the read models needs`,
      remedy: `grant create on the database to ${name}: see ${page}`,
    }
  }
  if (!superuser) return { ok: true, required: true, detail: name }
  return {
    ok: true,
    required: true,
    detail: `${name}, a superuser`,
    remedy: `use a role with fewer rights, which is safer: see ${page}`,
  }
}

/** Checks that NATS is connected and has streams enabled. */
export function natsResult(feed: Feed): CheckResult {
  if (!feed.isConnected()) {
    const remedy = 'check KEYLEDGER_NATS_URL and that the server runs; deliveries to NATS wait until then'
    return { ok: false, required: false, detail: 'does not respond', remedy }
  }
  return feed.connection()?.info?.jetstream === true
    ? { ok: true, required: false }
    : {
        ok: false,
        required: false,
        detail: 'runs without JetStream',
        remedy: 'start nats-server with --jetstream; deliveries to NATS wait until then',
      }
}

const remedies: Record<string, string> = {
  event_store:
    'check KEYLEDGER_EVENTSTORE_URL and that the store runs: see docs/operating/troubleshooting.md',
  postgres: 'check KEYLEDGER_DATABASE_URL and that the server runs: see docs/operating/troubleshooting.md',
  read_models: 'their lag is unknown while a store does not respond',
}

/** The health of a part, with a remedy when it is not ok. */
export function withRemedy(
  name: string,
  health: { ok: boolean; required: boolean; detail?: string | undefined },
): CheckResult {
  const { ok, required, detail } = health
  const remedy = remedies[name]
  return {
    ok,
    required,
    ...(detail !== undefined && { detail }),
    ...(!ok && remedy !== undefined && { remedy }),
  }
}
