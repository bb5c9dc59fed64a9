import type { Pool } from 'pg'
import type { Channel } from '../../src/domain/deliveries/events.ts'
import type { WebhookEventName } from '../../src/domain/webhooks/events.ts'

/** A try that is due: of which delivery, which one it is, and whose receiver it goes to. */
export type DueAttempt = { deliveryId: string; attempt: number; channel: Channel; tenantId: string }

const due = `delivery_id as "deliveryId", tries + 1 as attempt, channel, tenant_id as "tenantId"`

/**
 * What is due now, the longest waiting first, but of each receiver only so many: one that hangs must not fill what is
 * dispatched for the others. The receivers are found by skipping through the index from one to the next.
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

/** As {@link listDueAttempts}, of some receivers, without those that are on their way. */
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

/** An event of a license that has to be delivered and is not scheduled yet. */
export type PendingDelivery = {
  licenseId: string
  licenseRevision: number
  channel: Channel
  tenantId: string
  event: WebhookEventName
  sequence: number | null
  /** Of the license, and of the first request of its chain. */
  eventId: string
  correlationId: string
}

/** The oldest first. */
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
