import type { Pool } from 'pg'
import type { Channel } from '../../src/domain/deliveries/events.ts'

/** What of a tenant's deliveries waits, and what was given up lately. */
export type DeliveryCounts = {
  /** Not delivered and not given up. */
  pending: number
  /** Of these, tried at least once in vain. */
  failing: number
  /** Of the pending ones, those whose time has come. */
  due: number
  /** Since when the oldest of them is due. */
  oldestDueAt: string | null
  /** Given up since the moment asked about. */
  abandoned: number
}

/** @param since abandoned ones are counted from here on, by when they were scheduled */
export async function countDeliveries(
  db: Pool,
  tenantId: string,
  { now, since }: { now: string; since: string },
): Promise<DeliveryCounts> {
  const { rows } = await db.query<Record<'pending' | 'failing' | 'due' | 'abandoned', bigint> & Due>({
    name: 'count-waiting-deliveries',
    text: `select count(*) as pending, count(*) filter (where tries > 0) as failing,
             count(*) filter (where next_attempt_at <= $3) as due,
             min(next_attempt_at) filter (where next_attempt_at <= $3) as "oldestDueAt",
             (select count(*) from deliveries
              where tenant_id = $1 and status = 'abandoned' and created_at >= $4) as abandoned
           from deliveries
           where channel = any($2) and tenant_id = $1 and next_attempt_at is not null`,
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

/** What was scheduled in an hour, and what has become of it. */
type DeliveriesInHour = { at: string; delivered: number; pending: number; abandoned: number }

/** Hours without a delivery are left out. */
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
