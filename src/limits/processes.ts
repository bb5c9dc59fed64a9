import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import { processesLock } from '../../projections/database/advisory-locks.ts'
import { withConnection } from '../../projections/database/connection.ts'
import { batchStatements } from '../../projections/database/statement-batch.ts'

/** How often a process records that it is running. */
const heartbeatMs = 1000
/** A process without a heartbeat for this long counts as gone, and the others take its share of the limits. */
const goneAfterMs = 10_000
/** A process without a heartbeat of its own for this long no longer relies on its share. */
const doubtAfterMs = goneAfterMs / 2
/** A new process waits until the others have counted it, but not for a killed one that is still listed. */
const joinTimeoutMs = 1500

type Heartbeat = { at: string; others: bigint; unaware: bigint }

/** The two clocks by which a process measures how long ago its last heartbeat was, in milliseconds. */
export type HeartbeatClocks = {
  /** Does not go backwards; may stand still while the machine sleeps. */
  monotonic: () => number
  /** Goes on while the machine sleeps; may be set. */
  wall: () => number
}

const ownClocks: HeartbeatClocks = { monotonic: () => performance.now(), wall: Date.now }

export type Membership = {
  /**
   * Whether the other processes still count this one. After a pause (a late event loop, a stopped process, a machine
   * that slept) they may have divided its share among themselves, so this is false until a heartbeat has succeeded.
   */
  isCounted(): boolean
  leave(): Promise<void>
}

/**
 * Records heartbeats of this process, and counts the others. Returns when the others have counted this process
 * too, so that all together keep to the limit from its first call.
 */
export async function joinProcesses(
  db: Pool,
  now: () => number,
  onCount: (count: number) => void,
  onFailure: (error: unknown) => void,
  clocks: HeartbeatClocks = ownClocks,
): Promise<Membership> {
  const id = randomUUID()
  const read = () => ({ monotonic: clocks.monotonic(), wall: clocks.wall() })
  let countedAt = read()
  /** Since when the others may not know of this process; undefined once they have counted it. */
  let unsureSince: number | undefined = countedAt.monotonic
  let joinedAt: string | null = null
  let beats = 0

  const pausedMs = () => Math.max(clocks.monotonic() - countedAt.monotonic, clocks.wall() - countedAt.wall)

  async function beat(): Promise<void> {
    const began = read()
    if (unsureSince === undefined && pausedMs() > doubtAfterMs) {
      unsureSince = began.monotonic
      joinedAt = null
    }
    try {
      const heartbeat = await recordHeartbeat(db, id, joinedAt)
      joinedAt ??= heartbeat?.at ?? null
      onCount(Number(heartbeat?.others ?? 0n) + 1)
      const unaware = heartbeat?.unaware ?? 0n
      if (unaware === 0n || began.monotonic - (unsureSince ?? began.monotonic) >= joinTimeoutMs) {
        countedAt = began
        unsureSince = undefined
      }
      if (beats++ % 60 === 0) await db.query('delete from limits.buckets where tat < $1', [now()])
    } catch (error) {
      onFailure(error)
    }
  }

  const until = performance.now() + joinTimeoutMs
  for (await beat(); unsureSince !== undefined && performance.now() < until; await beat())
    await setTimeout(100)
  let beating: Promise<unknown> | undefined
  const timer = setInterval(() => {
    // After a pause several are due at once, and one is enough.
    beating ??= beat().finally(() => {
      beating = undefined
    })
  }, heartbeatMs)
  timer.unref()
  return {
    isCounted: () => pausedMs() <= doubtAfterMs,
    async leave() {
      clearInterval(timer)
      await beating
      await db.query('delete from limits.processes where id = $1', [id]).catch(onFailure)
    },
  }
}

/**
 * One process at a time: two that join at once would not see each other, and each would assume to be alone. Both
 * statements are one message and one transaction, so that a process that stops at any moment holds the lock no longer
 * than the statements take.
 */
function recordHeartbeat(db: Pool, id: string, joinedAt: string | null): Promise<Heartbeat | undefined> {
  return withConnection(db, async (client) => {
    const statements = batchStatements(client)
    const [, counted] = await Promise.all([
      statements.query({ name: 'lock-processes', text: `select pg_advisory_xact_lock(${processesLock})` }),
      statements.query<Heartbeat>({ name: 'count-processes', text: upsertAndCount, values: [id, joinedAt] }),
    ])
    return counted.rows[0]
  })
}

const goneAfter = `interval '${goneAfterMs} milliseconds'`

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
    delete from limits.processes where seen_at < clock_timestamp() - ${goneAfter} and id <> $1
  )
  select (select seen_at from heartbeat) as at, count(*) as others,
    count(*) filter (where seen_at <= coalesce($2, clock_timestamp())) as unaware
  from limits.processes
  where id <> $1 and seen_at >= clock_timestamp() - ${goneAfter}`
