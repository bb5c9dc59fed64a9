import { once } from 'node:events'
import type { Pool } from 'pg'
import { rolesLock } from '../../projections/database/advisory-locks.ts'
import { withOwnConnection } from '../../projections/database/connection.ts'
import { repeat } from '../async/repeat.ts'
import type { PartHealth } from '../http/health.ts'
import { type Role, roles } from './roles.ts'

const retryMs = 1000

/**
 * Shows other processes which roles this one runs, until the signal aborts: it shares a lock for each, which Postgres releases when
 * the process ends in any way.
 */
export const showRunning = (db: Pool, running: readonly Role[], signal: AbortSignal): Promise<void> =>
  repeat(() => shownUntilEnd(db, running, signal), retryMs, signal)

function shownUntilEnd(db: Pool, running: readonly Role[], signal: AbortSignal): Promise<void> {
  return withOwnConnection(db, async (connection) => {
    for (const role of running)
      await connection.query('select pg_advisory_lock_shared($1, $2)', [rolesLock, roles.indexOf(role)])
    await once(connection, 'end', { signal })
  })
}

/** @returns the roles that no process on this database runs */
export async function rolesNotRunning(db: Pool): Promise<Role[]> {
  const { rows } = await db.query<{ role: number }>({
    name: 'running-roles',
    text: `select distinct objid::int as role from pg_locks
           where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
             and database = (select oid from pg_database where datname = current_database())`,
    values: [rolesLock],
  })
  return roles.filter((_, number) => rows.every(({ role }) => role !== number))
}

/** What is not done without a role. */
const undone: Record<Role, string> = {
  api: 'no request is answered',
  projector: 'what a process that died has recorded is not shown until the next change',
  reactions: 'expiries, webhooks and operations that were cut off are not continued',
  dispatcher: 'no webhook and no mail is sent',
  notary: 'nothing is signed, so new events get no receipt',
}

/** Requests are served without the other roles. @returns undefined when each of them runs somewhere */
export function healthOfRoles(missing: readonly Role[]): PartHealth | undefined {
  if (missing.length === 0) return undefined
  const detail = missing.map((role) => `no process has the role ${role}: ${undone[role]}`).join('; ')
  return { ok: false, required: false, detail }
}
