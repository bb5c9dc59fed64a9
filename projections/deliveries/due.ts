import type { Pool } from 'pg'
import type { Channel, DeliveryEventName } from '../../src/domain/deliveries/events.ts'

/** Who gets deliveries: an endpoint of a tenant, or, without one, the customers of a tenant by mail. */
export type Receiver = { channel: Channel; tenantId: string; endpointId: string | null }

/** A due attempt: its delivery, its number starting from 1, and its receiver. */
export type DueAttempt = Receiver & { deliveryId: string; attempt: number }

/** The columns of a due attempt of the delivery `d`. */
export const due = (d: string): string =>
  `${d}.delivery_id as "deliveryId", ${d}.tries + 1 as attempt, ${d}.channel, ${d}.tenant_id as "tenantId",
   nullif(${d}.endpoint_id, '') as "endpointId"`

/** Whether the deliveries to the receiver `r` wait, since the vendor paused its endpoint. */
export const isPaused = (r: string): string =>
  `exists (select from webhooks w where w.tenant_id = ${r}.tenant_id and ${r}.endpoint_id = any(w.paused))`

/** Whether the endpoint of the delivery or receiver `r` gets the events of a license in order. */
export const isOrdered = (r: string): string =>
  `exists (select from webhooks w where w.tenant_id = ${r}.tenant_id and ${r}.endpoint_id = any(w.ordered))`

/** Whether the delivery `d` waits for one before it. */
export const isHeldBack = (d: string): string => `(${d}.waits and ${isOrdered(d)})`

/**
 * The due attempts of the receiver `r`, oldest first. Those that wait for one before them are a range of the index of
 * their own, so a license with many of them delays no other.
 */
const dueOf = (r: string, { also = '', now, most }: { also?: string; now: string; most: string }): string => {
  const some = (which: string) => `(
    select * from deliveries
    where channel = ${r}.channel and tenant_id = ${r}.tenant_id and endpoint_id = ${r}.endpoint_id
      and next_attempt_at <= ${now} and ${which} ${also}
    order by next_attempt_at limit ${most}
  )`
  return `(
    select ${due('d')} from (
      ${some('not waits')} union all ${some(`waits and not ${isOrdered(r)}`)}
    ) d
    order by d.next_attempt_at limit ${most}
  )`
}

/**
 * Lists the attempts that are due, oldest first, at most `maxOfEach` of one receiver: a receiver that hangs must not
 * take the capacity of the others. A recursive query skips through the index from one receiver to the next.
 */
export async function listDueAttempts(
  db: Pool,
  now: string,
  { channels, maxOfEach }: { channels: readonly Channel[]; maxOfEach: number },
): Promise<DueAttempt[]> {
  const { rows } = await db.query<DueAttempt>({
    name: 'list-due-attempts',
    text: `with recursive receivers as (
             (select channel, tenant_id, endpoint_id from deliveries
              where next_attempt_at is not null order by channel, tenant_id, endpoint_id limit 1)
             union all
             select n.channel, n.tenant_id, n.endpoint_id from receivers r, lateral (
               select channel, tenant_id, endpoint_id from deliveries
               where next_attempt_at is not null
                 and (channel, tenant_id, endpoint_id) > (r.channel, r.tenant_id, r.endpoint_id)
               order by channel, tenant_id, endpoint_id limit 1
             ) n
           )
           select d.* from receivers r, lateral ${dueOf('r', { now: '$1', most: '$3' })} d
           where r.channel = any($2) and not ${isPaused('r')}`,
    values: [now, channels, maxOfEach],
  })
  return rows
}

/** Whether any delivery has an attempt before it, due now or later. */
export async function isAnyScheduled(db: Pool): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is-any-scheduled',
    text: `select from deliveries where next_attempt_at is not null
           order by channel, tenant_id, endpoint_id limit 1`,
  })
  return rowCount !== 0
}

/** As {@link listDueAttempts}, for some receivers. @param except the deliveries that are being attempted now */
export async function listDueAttemptsOf(
  db: Pool,
  now: string,
  receivers: readonly Receiver[],
  { except, maxOfEach }: { except: readonly string[]; maxOfEach: number },
): Promise<DueAttempt[]> {
  const { rows } = await db.query<DueAttempt>({
    name: 'list-due-attempts-of',
    text: `select d.* from unnest($1::text[], $2::text[], $3::text[]) as r (channel, tenant_id, endpoint_id),
             lateral ${dueOf('r', { also: 'and delivery_id <> all($5)', now: '$4', most: '$6' })} d
           where not ${isPaused('r')}`,
    values: [
      receivers.map(({ channel }) => channel),
      receivers.map(({ tenantId }) => tenantId),
      receivers.map(({ endpointId }) => endpointId ?? ''),
      now,
      except,
      maxOfEach,
    ],
  })
  return rows
}

/** An event of a license that must be delivered and is not scheduled yet. */
export type PendingDelivery = {
  licenseId: string
  licenseRevision: number
  channel: Channel
  endpointId: string | null
  tenantId: string
  event: DeliveryEventName
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
             nullif(endpoint_id, '') as "endpointId", tenant_id as "tenantId", event, sequence,
             event_id as "eventId", correlation_id as "correlationId"
           from owed_deliveries where license_id <> all($1) order by position limit $2`,
    values: [except, most],
  })
  return rows
}
