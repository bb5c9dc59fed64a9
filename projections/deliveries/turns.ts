import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import { type KnownDelivery, mayWait } from '../../src/domain/deliveries/delivery.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { Statement } from '../statements.ts'
import { type DueAttempt, due, isHeldBack, isOrdered, isPaused } from './due.ts'

/*
 * Events of one license reach an endpoint in order: a delivery waits while one of the same license and endpoint, for an
 * earlier event, is pending. What makes this hold when several processes send:
 *
 * - A delivery is scheduled from a row of this database, which was written after those of all earlier events of its
 *   license. So the deliveries before it are all known from then on, and only become fewer: each ends once, in the log.
 *   That none is left stays true once it was true, and needs no lock.
 * - Each process reads it right before it begins an attempt, from tables that follow the log. So whatever another process
 *   published or believes, an attempt begins only after the ends of all deliveries before it were recorded.
 * - An attempt of the one before is claimed by one process (see begun.ts). When that process hangs, another repeats the
 *   attempt, and the end that it records is that of a request that the receiver answered.
 */

/** A delivery as far as its turn depends on it. */
type TurnOf = Pick<
  KnownDelivery,
  'tenantId' | 'endpointId' | 'licenseId' | 'licenseRevision' | 'place' | 'sequence'
>

/** The pending deliveries of `r`'s license to its endpoint, for events before its own: scheduled ones, and others. */
const scheduledBefore = (r: string): string =>
  `deliveries b where b.license_id = ${r}.license_id and b.endpoint_id = ${r}.endpoint_id and b.place <> 'none'
     and b.license_revision < ${r}.license_revision`
const owedBefore = (r: string): string =>
  `owed_deliveries b where b.license_id = ${r}.license_id and b.endpoint_id = ${r}.endpoint_id
     and b.channel = 'webhook' and b.license_revision < ${r}.license_revision`

/**
 * Keeps `deliveries.waits`, after the documents and the pending deliveries of the page were written: true for a delivery
 * in turn as long as one before it is pending. A page changes it for the deliveries of its events, and for the next one
 * in each of their licenses.
 */
export function writesOfTurns(entries: readonly Recorded[]): Statement[] {
  const streams = entries.flatMap((entry) =>
    entry.category === 'delivery' && mayChangeTurns(entry) ? [entry.stream] : [],
  )
  if (streams.length === 0) return []
  return [
    {
      name: 'write-delivery-turns',
      text: `with changed as (
               select stream, license_id, endpoint_id from deliveries
               where stream = any($1) and channel = 'webhook'
             ), affected as (
               select stream from changed
               union
               select n.stream from changed c, lateral (
                 select stream from deliveries
                 where license_id = c.license_id and endpoint_id = c.endpoint_id and place <> 'none' and waits
                 order by license_revision limit 1
               ) n
             )
             update deliveries d set waits = not d.waits
             from affected a
             where d.stream = a.stream and d.waits <> (
               d.place = 'in_turn'
               and (exists (select from ${scheduledBefore('d')}) or exists (select from ${owedBefore('d')}))
             )`,
      values: [[...new Set(streams)]],
    },
  ]
}

/** The first delivery of a license waits for none, and those after it waited for its event before. */
const mayChangeTurns = ({ event }: Recorded<'delivery'>): boolean =>
  event.type !== 'DeliveryScheduled' || event.data.sequence !== 1

/**
 * Finds what deliveries wait for: the revision of the event whose delivery goes first, the last one before their own;
 * null for one whose turn it is.
 */
async function readPlacesBefore(db: Pool, deliveries: readonly TurnOf[]): Promise<(number | null)[]> {
  const { rows } = await db.query<{ before: number | null }>({
    name: 'places-before',
    text: `select case when ${isOrdered('r')} then greatest(
             (select max(b.license_revision) from ${scheduledBefore('r')}),
             (select max(b.license_revision) from ${owedBefore('r')})
           ) end as before
           from unnest($1::text[], $2::text[], $3::text[], $4::int[])
             with ordinality as r (tenant_id, endpoint_id, license_id, license_revision, ordinal)
           order by r.ordinal`,
    values: [
      deliveries.map(({ tenantId }) => tenantId),
      deliveries.map(({ endpointId }) => endpointId ?? ''),
      deliveries.map(({ licenseId }) => licenseId),
      deliveries.map(({ licenseRevision }) => licenseRevision),
    ],
  })
  return rows.map(({ before }) => before)
}

/** Whether a delivery waits for one before it. Concurrent look-ups share one query; one that cannot wait needs none. */
export type HasToWait = (delivery: TurnOf) => Promise<boolean>

export function createTurnLookup(db: Pool): HasToWait {
  const find = coalesce((deliveries: readonly TurnOf[]) => readPlacesBefore(db, deliveries))
  return async (delivery) => mayWait(delivery) && (await find(delivery)) !== null
}

/** The revisions of the events whose deliveries go before those that wait, by the id of the one that waits. */
export async function findPlacesBefore(
  db: Pool,
  deliveries: readonly KnownDelivery[],
): Promise<Map<string, number>> {
  const some = deliveries.filter(mayWait)
  if (some.length === 0) return new Map()
  const before = await readPlacesBefore(db, some)
  return new Map(
    some.flatMap(({ deliveryId }, index) => {
      const revision = before[index] ?? null
      return revision === null ? [] : [[deliveryId, revision] as const]
    }),
  )
}

/** Lists the due attempts of these deliveries, and of the next one after each of them in its license. */
export async function listDueAttemptsAfter(
  db: Pool,
  now: string,
  deliveryIds: readonly string[],
): Promise<DueAttempt[]> {
  const { rows } = await db.query<DueAttempt>({
    name: 'list-due-after',
    text: `select ${due('d')} from deliveries e, lateral (
             select e.*
             union all
             (select n.* from deliveries n
              where n.license_id = e.license_id and n.endpoint_id = e.endpoint_id and n.place <> 'none'
                and n.license_revision > e.license_revision
              order by n.license_revision limit 1)
           ) d
           where e.delivery_id = any($2) and e.channel = 'webhook' and d.next_attempt_at <= $1
             and not ${isHeldBack('d')} and not ${isPaused('d')}`,
    values: [now, deliveryIds],
  })
  return rows
}
