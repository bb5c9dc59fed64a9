import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import { processesLock } from '../../projections/database/advisory-locks.ts'
import { inTransaction } from '../../projections/database/transaction.ts'

/** How often a process records that it is running. */
const heartbeatMs = 1000
/** A process without a heartbeat for this long counts as gone. */
const goneAfter = '10 seconds'
/** A new process waits until the others have counted it, but not for a killed one that is still listed. */
const joinTimeoutMs = 1500

type Heartbeat = { at: string; others: bigint; unaware: bigint }

/**
 * Records heartbeats of this process, and counts the others. Returns when the others have counted this process
 * too, so that all together keep to the limit from its first call.
 * @returns a function that leaves
 */
export async function joinProcesses(
  db: Pool,
  now: () => number,
  onCount: (count: number) => void,
  onFailure: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const id = randomUUID()
  let joinedAt: string | null = null
  let beats = 0

  /** @returns whether other processes have not counted this one yet */
  async function beat(): Promise<boolean> {
    try {
      const heartbeat = await recordHeartbeat(db, id, joinedAt)
      joinedAt ??= heartbeat?.at ?? null
      onCount(Number(heartbeat?.others ?? 0n) + 1)
      if (beats++ % 60 === 0) await db.query('delete from limits.buckets where tat < $1', [now()])
      return (heartbeat?.unaware ?? 0n) > 0n
    } catch (error) {
      onFailure(error)
      return false
    }
  }

  const until = performance.now() + joinTimeoutMs
  while ((await beat()) && performance.now() < until) await setTimeout(100)
  let beating: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    beating = beat()
  }, heartbeatMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await beating
    await db.query('delete from limits.processes where id = $1', [id]).catch(onFailure)
  }
}

/** One process at a time: two that join at once would not see each other, and each would assume to be alone. */
function recordHeartbeat(db: Pool, id: string, joinedAt: string | null): Promise<Heartbeat | undefined> {
  return inTransaction(db, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [processesLock])
    const { rows } = await client.query<Heartbeat>({
      name: 'count-processes',
      text: upsertAndCount,
      values: [id, joinedAt],
    })
    return rows[0]
  })
}

/**
 * A process that counts after this commit counts this process. The statement's snapshot does not include this
 * process's own row.
 */
const upsertAndCount = `
  with heartbeat as (
    insert into limits.processes (id, seen_at) values ($1, clock_timestamp())
    on conflict (id) do update set seen_at = excluded.seen_at
    returning seen_at
  ), gone as (
    delete from limits.processes where seen_at < clock_timestamp() - interval '${goneAfter}' and id <> $1
  )
  select (select seen_at from heartbeat) as at, count(*) as others,
    count(*) filter (where seen_at <= coalesce($2, clock_timestamp())) as unaware
  from limits.processes
  where id <> $1 and seen_at >= clock_timestamp() - interval '${goneAfter}'`
