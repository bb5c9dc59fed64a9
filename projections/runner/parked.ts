import { setTimeout } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../database/connection.ts'

/** A parked stream of a tenant, as shown to the tenant. */
export type TenantParkedStream = { stream: string; type: string; problem: string; parkedAt: string }

/**
 * The parked streams of one tenant. A stream without any applied event is in no read model, so its tenant is known only
 * when the stream's name contains it.
 */
export async function listParkedOfTenant(db: Pool, tenantId: string): Promise<TenantParkedStream[]> {
  const { rows } = await db.query<TenantParkedStream>(
    `select stream, type, problem, parked_at as "parkedAt" from parked p
     where split_part(stream, '-', 1) in ('tenant', 'webhook', 'signing')
         and substr(stream, strpos(stream, '-') + 1) = $1
       or split_part(stream, '-', 1) in ('product', 'mail', 'integration', 'sale', 'notice', 'trial')
         and split_part(substr(stream, strpos(stream, '-') + 1), '.', 1) = $1
       or exists (select from licenses l where l.license_id = ${idIn('license')} and l.tenant_id = $1)
       or exists (select from customers c where c.stream = p.stream and c.tenant_id = $1)
       or exists (select from meters m where m.stream = p.stream and m.tenant_id = $1)
       or exists (select from tokens t where t.stream = p.stream and t.tenant_id = $1)
       or exists (select from members m where m.stream = p.stream and m.tenant_id = $1)
       or exists (select from deliveries d where d.stream = p.stream and d.tenant_id = $1)
       or exists (select from confirmations f where f.stream = p.stream and f.tenant_id = $1)
     order by position`,
    [tenantId],
  )
  return rows
}

const idIn = (category: string): string => `regexp_replace(p.stream, '^${category}-', '')`

/** A limit, so that counting stays cheap. */
const maxParkedCounted = 1000

/** Counts the parked streams of all tenants, up to 1000. */
export async function countParked(db: Pool): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-parked',
    text: 'select count(*) as count from (select from parked limit $1) as counted',
    values: [maxParkedCounted],
  })
  return Number(rows[0]?.count ?? 0n)
}

/** Whether a stream is parked: its later events are in no read model. */
export async function isParked(db: Pool, stream: string): Promise<boolean> {
  const { rows } = await db.query('select from parked where stream = $1', [stream])
  return rows.length > 0
}

export type WhenDue = {
  /** A key of projections/database/advisory-locks.ts. */
  lock: number
  isDue: (db: Pool | ClientBase) => Promise<boolean>
  /** Does the work, on a connection that holds the lock. */
  run: (client: ClientBase) => Promise<void>
  onFailure: (error: unknown) => void
  /** How often to check whether it is due. */
  pollMs?: number | undefined
  /** How soon to check again after a database error. */
  retryMs?: number | undefined
}

/**
 * Runs work whenever it is due, until the signal aborts. Several processes may do so: a lock in the database lets one of
 * them run it, and the others see that it was done.
 */
export async function runWhenDue(db: Pool, signal: AbortSignal, work: WhenDue): Promise<void> {
  const { pollMs = 60_000, retryMs = 5000, onFailure } = work
  while (!signal.aborted) {
    const waitMs = await runIfDue(db, work).then(
      () => pollMs,
      (error: unknown) => {
        onFailure(error)
        return retryMs
      },
    )
    await setTimeout(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

async function runIfDue(db: Pool, { lock, isDue, run }: WhenDue): Promise<void> {
  if (!(await isDue(db))) return
  await withOwnConnection(db, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      lock,
    ])
    // Another process is running it, or has just run it.
    if (rows[0]?.locked && (await isDue(client))) await run(client)
  })
}
