import type { Pool } from 'pg'

/** The newest rebuild that was started from the dashboard. Without an end it is running or was interrupted. */
export type LastRebuild = {
  startedAt: string
  endedAt: string | null
  events: number | null
  problem: string | null
}

export async function noteRebuildStarted(db: Pool, id: string, at: string): Promise<void> {
  await db.query('insert into usage.rebuilds (id, started_at) values ($1, $2)', [id, at])
}

export async function noteRebuildEnded(
  db: Pool,
  id: string,
  ended: { at: string; events: number; problem: string | null },
): Promise<void> {
  await db.query('update usage.rebuilds set ended_at = $2, events = $3, problem = $4 where id = $1', [
    id,
    ended.at,
    ended.events,
    ended.problem,
  ])
}

export async function findLastRebuild(db: Pool): Promise<LastRebuild | undefined> {
  const { rows } = await db.query<Omit<LastRebuild, 'events'> & { events: bigint | null }>(
    `select started_at as "startedAt", ended_at as "endedAt", events, problem
     from usage.rebuilds order by started_at desc limit 1`,
  )
  const [last] = rows
  return last && { ...last, events: last.events === null ? null : Number(last.events) }
}
