import type { Pool } from 'pg'
import type { Channel } from '../../src/domain/deliveries/events.ts'
import { isHeldBack, isPaused } from './due.ts'

/** Counts of a tenant's pending and recently abandoned deliveries. */
export type DeliveryCounts = {
  /** Scheduled, neither delivered nor abandoned. */
  pending: number
  /** Pending deliveries with at least one failed attempt. */
  failing: number
  /** Pending deliveries whose next attempt is due, and waits neither for a paused endpoint nor for a delivery before it. */
  due: number
  /** When the oldest due attempt became due; null when none is due. */
  oldestDueAt: string | null
  /** Abandoned deliveries that were scheduled since a given time. */
  abandoned: number
}

/** @param since counts only abandoned deliveries that were scheduled at or after this time */
export async function countDeliveries(
  db: Pool,
  tenantId: string,
  { now, since }: { now: string; since: string },
): Promise<DeliveryCounts> {
  const { rows } = await db.query<Record<'pending' | 'failing' | 'due' | 'abandoned', bigint> & Due>({
    name: 'count-waiting-deliveries',
    text: `select sum(pending) as pending, sum(failing) as failing,
             sum(due) filter (where not ${isPaused('d')} and not ${isHeldBack('d')}) as due,
             min(oldest) filter (where not ${isPaused('d')} and not ${isHeldBack('d')}) as "oldestDueAt",
             (select count(*) from deliveries
              where tenant_id = $1 and status = 'abandoned' and created_at >= $4) as abandoned
           from (
             select tenant_id, endpoint_id, waits, count(*)::int as pending,
               count(*) filter (where tries > 0)::int as failing,
               count(*) filter (where next_attempt_at <= $3)::int as due,
               min(next_attempt_at) filter (where next_attempt_at <= $3) as oldest
             from deliveries
             where channel = any($2) and tenant_id = $1 and next_attempt_at is not null
             group by tenant_id, endpoint_id, waits
           ) d`,
    values: [tenantId, channels, now, since],
  })
  const [row] = rows
  return {
    pending: Number(row?.pending ?? 0n),
    failing: Number(row?.failing ?? 0n),
    due: Number(row?.due ?? 0n),
    oldestDueAt: row?.oldestDueAt ?? null,
    abandoned: Number(row?.abandoned ?? 0n),
  }
}

type Due = { oldestDueAt: string | null }

const channels: readonly Channel[] = ['webhook', 'mail']

/** The deliveries that were scheduled in one hour, by their current status. */
type DeliveriesInHour = { at: string; delivered: number; pending: number; abandoned: number }

/** Counts deliveries by the UTC hour in which they were scheduled; hours without any are left out. */
export async function countDeliveriesByHour(
  db: Pool,
  tenantId: string,
  { from, to }: { from: string; to: string },
): Promise<DeliveriesInHour[]> {
  const { rows } = await db.query<{ at: string; delivered: bigint; pending: bigint; abandoned: bigint }>({
    name: 'count-deliveries-by-hour',
    text: `select date_trunc('hour', created_at, 'UTC') as at,
             count(*) filter (where status = 'delivered') as delivered,
             count(*) filter (where status = 'pending') as pending,
             count(*) filter (where status = 'abandoned') as abandoned
           from deliveries
           where channel = any($2) and tenant_id = $1 and created_at >= $3 and created_at < $4
           group by 1`,
    values: [tenantId, channels, from, to],
  })
  return rows.map(({ at, delivered, pending, abandoned }) => ({
    at,
    delivered: Number(delivered),
    pending: Number(pending),
    abandoned: Number(abandoned),
  }))
}

/** Counts the deliveries to an endpoint that wait for their next attempt, up to `most`. */
export async function countPendingOf(
  db: Pool,
  tenantId: string,
  endpointId: string,
  most: number,
): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-pending-of-endpoint',
    text: `select count(*) as count from (
             select from deliveries where channel = 'webhook' and tenant_id = $1 and endpoint_id = $2
               and next_attempt_at is not null limit $3
           ) pending`,
    values: [tenantId, endpointId, most],
  })
  return Number(rows[0]?.count ?? 0n)
}
