import type { Pool } from 'pg'
import { type KnownReplay, replays } from '../src/domain/replays/replay.ts'
import { isStorable } from '../src/domain/values.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from './page.ts'

const documents = defineDocuments(evolvedBy(replays), {
  table: 'replays',
  begun: (replay) => (replay.status === 'absent' ? undefined : replay),
  columns: {
    replayId: 'text not null unique',
    tenantId: 'text not null',
    status: 'text not null',
    requestedAt: 'timestamptz not null',
  },
  indexes: {
    replays_by_age: '(tenant_id, requested_at desc, replay_id desc)',
    replays_running: "(requested_at) where status = 'running'",
  },
})

/** Every replay of webhook deliveries. */
export const replaysProjector = projectorOf(documents)

export async function findReplay(
  db: Pool,
  tenantId: string,
  replayId: string,
): Promise<KnownReplay | undefined> {
  // A caller may send any text.
  if (!isStorable(replayId)) return undefined
  const { rows } = await db.query<{ state: KnownReplay }>({
    name: 'find-replay',
    text: 'select state from replays where tenant_id = $1 and replay_id = $2',
    values: [tenantId, replayId],
  })
  return rows[0]?.state
}

/** Newest first, or oldest first; ties by id. */
export async function listReplays(
  db: Pool,
  tenantId: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<KnownReplay>> {
  const { by, past } = orderOf(order, 'requested_at', 'replay_id')
  const { rows } = await db.query<{ state: KnownReplay }>(
    `select state from replays
           where tenant_id = $1 and ($2::timestamptz is null or ${past('$2', '$3')})
           order by ${by} limit $4`,
    [tenantId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  const replays = rows.map(({ state }) => state)
  return pageOf(replays, limit, ({ requestedAt, replayId }) => ({ createdAt: requestedAt, id: replayId }))
}

/** Lists running replays of every tenant, oldest first. @param except replays to skip */
export async function listRunningReplays(
  db: Pool,
  { except, most }: { except: readonly string[]; most: number },
): Promise<KnownReplay[]> {
  const { rows } = await db.query<{ state: KnownReplay }>({
    name: 'list-running-replays',
    text: `select state from replays where status = 'running' and replay_id <> all($1)
           order by requested_at, stream limit $2`,
    values: [except, most],
  })
  return rows.map(({ state }) => state)
}

/** How many replays of every tenant are running. */
export async function countRunningReplays(db: Pool): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-running-replays',
    text: "select count(*)::int as count from replays where status = 'running'",
  })
  return rows[0]?.count ?? 0
}

/** The deliveries that a replay made due again, and was the last to, by their present status. */
export type ReplayedDeliveries = { delivered: number; pending: number; failed: number }

/** Counts the deliveries of replays. @returns an entry for each replay that has any */
export async function countReplayed(
  db: Pool,
  replayIds: readonly string[],
): Promise<Map<string, ReplayedDeliveries>> {
  const { rows } = await db.query<ReplayedDeliveries & { replay_id: string }>({
    name: 'count-replayed-deliveries',
    text: `select replay_id, count(*) filter (where status = 'delivered')::int as delivered,
             count(*) filter (where status = 'pending')::int as pending,
             count(*) filter (where status = 'abandoned')::int as failed
           from deliveries where replay_id = any($1) group by replay_id`,
    values: [replayIds],
  })
  return new Map(rows.map(({ replay_id, ...counts }) => [replay_id, counts]))
}
