import type { Pool } from 'pg'
import type { Channel } from '../../src/domain/deliveries/events.ts'
import type { WebhookEventName } from '../../src/domain/webhooks/events.ts'

/** A due attempt: its delivery, its number starting from 1, and its receiver (tenant and channel). */
export type DueAttempt = { deliveryId: string; attempt: number; channel: Channel; tenantId: string }

const due = `delivery_id as "deliveryId", tries + 1 as attempt, channel, tenant_id as "tenantId"`

/**
 * Lists the attempts that are due, oldest first, at most `mostOfEach` of one receiver: a receiver that hangs must not
 * take the capacity of the others. A recursive query skips through the index from one receiver to the next.
 */
export async function listDueAttempts(
  db: Pool,
  now: string,
  { channels, mostOfEach }: { channels: readonly Channel[]; mostOfEach: number },
): Promise<DueAttempt[]> {
  const { rows } = await db.query<DueAttempt>({
    name: 'list-due-attempts',
    text: `with recursive receivers as (
             (select channel, tenant_id from deliveries
              where next_attempt_at is not null order by channel, tenant_id limit 1)
             union all
             select n.channel, n.tenant_id from receivers r, lateral (
               select channel, tenant_id from deliveries
               where next_attempt_at is not null and (channel, tenant_id) > (r.channel, r.tenant_id)
               order by channel, tenant_id limit 1
             ) n
           )
           select d.* from receivers r, lateral (
             select ${due} from deliveries
             where channel = r.channel and tenant_id = r.tenant_id and next_attempt_at <= $1
             order by next_attempt_at limit $3
           ) d
           where r.channel = any($2)`,
    values: [now, channels, mostOfEach],
  })
  return rows
}

/** As {@link listDueAttempts}, for some receivers. @param except the deliveries that are being attempted now */
export async function listDueAttemptsOf(
  db: Pool,
  now: string,
  receivers: readonly { channel: Channel; tenantId: string }[],
  { except, mostOfEach }: { except: readonly string[]; mostOfEach: number },
): Promise<DueAttempt[]> {
  const { rows } = await db.query<DueAttempt>({
    name: 'list-due-attempts-of',
    text: `select d.* from unnest($1::text[], $2::text[]) as r (channel, tenant_id), lateral (
             select ${due} from deliveries
             where channel = r.channel and tenant_id = r.tenant_id and next_attempt_at <= $3
               and delivery_id <> all($4)
             order by next_attempt_at limit $5
           ) d`,
    values: [
      receivers.map(({ channel }) => channel),
      receivers.map(({ tenantId }) => tenantId),
      now,
      except,
      mostOfEach,
    ],
  })
  return rows
}

/** An event of a license that must be delivered and is not scheduled yet. */
export type PendingDelivery = {
  licenseId: string
  licenseRevision: number
  channel: Channel
  tenantId: string
  event: WebhookEventName
  sequence: number | null
  /** The id of the license's event, and its correlation id. */
  eventId: string
  correlationId: string
}

/** Lists pending deliveries, oldest first. @param except licenses to skip */
export async function listPendingDeliveries(
  db: Pool,
  { except, most }: { except: readonly string[]; most: number },
): Promise<PendingDelivery[]> {
  const { rows } = await db.query<PendingDelivery>({
    name: 'list-pending-deliveries',
    text: `select license_id as "licenseId", license_revision as "licenseRevision", channel,
             tenant_id as "tenantId", event, sequence,
             event_id as "eventId", correlation_id as "correlationId"
           from owed_deliveries where license_id <> all($1) order by position limit $2`,
    values: [except, most],
  })
  return rows
}
