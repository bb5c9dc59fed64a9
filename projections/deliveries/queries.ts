import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KnownDelivery } from '../../src/domain/deliveries/delivery.ts'
import type { Channel, DeliveryEventName } from '../../src/domain/deliveries/events.ts'
import type { BounceKind } from '../../src/domain/mails/senders.ts'
import { licensesOfCustomer } from '../licenses/of-customer.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'

export type DeliveryEntry = { delivery: KnownDelivery; revision: number }

type EntryRow = { state: KnownDelivery; revision: number }
const entryFrom = ({ state, revision }: EntryRow): DeliveryEntry => ({ delivery: state, revision })

export async function findDelivery(
  db: Pool,
  tenantId: string,
  deliveryId: string,
): Promise<DeliveryEntry | undefined> {
  const { rows } = await db.query<EntryRow>({
    name: 'find-delivery',
    text: 'select state, revision from deliveries where tenant_id = $1 and delivery_id = $2',
    values: [tenantId, deliveryId],
  })
  return rows[0] && entryFrom(rows[0])
}

/** The correlation id of a delivery's event. */
export async function findCorrelation(db: Pool, deliveryId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ correlationId: string }>({
    name: 'find-correlation-of-delivery',
    text: `select h.correlation_id as "correlationId"
           from deliveries d join license_history h
             on h.license_id = d.state ->> 'licenseId' and h.revision = (d.state ->> 'licenseRevision')::int
           where d.delivery_id = $1`,
    values: [deliveryId],
  })
  return rows[0]?.correlationId
}

export type FindDelivery = (deliveryId: string) => Promise<DeliveryEntry | undefined>

/** Finds deliveries of any tenant, for the dispatcher. Concurrent lookups share one query. */
export function createDeliveryLookup(db: Pool): FindDelivery {
  return coalesce(async (ids) => {
    const { rows } = await db.query<EntryRow & { delivery_id: string }>({
      name: 'delivery-lookup',
      text: 'select delivery_id, state, revision from deliveries where delivery_id = any($1)',
      values: [ids],
    })
    const found = new Map(rows.map((row) => [row.delivery_id, entryFrom(row)]))
    return ids.map((id) => found.get(id))
  })
}

export type DeliveryFilter = {
  channel?: Channel | undefined
  endpointId?: string | undefined
  status?: KnownDelivery['status'] | undefined
  event?: DeliveryEventName | undefined
  licenseId?: string | undefined
  customerId?: string | undefined
  bounce?: BounceKind | undefined
}

/** Newest first; ties by id, descending. */
export async function listDeliveries(
  db: Pool,
  tenantId: string,
  filter: DeliveryFilter,
  { after, limit, order }: Keyset,
): Promise<PageOf<KnownDelivery>> {
  const { by, past } = orderOf(order, 'created_at', 'delivery_id')
  const { rows } = await db.query<{ state: KnownDelivery }>(
    `select state from deliveries
     where tenant_id = $1 and ($2::text is null or channel = $2) and ($3::text is null or status = $3)
       and ($4::text is null or event = $4) and ($5::text is null or license_id = $5)
       and ($6::timestamptz is null or ${past('$6', '$7')})
       and ($9::text is null or endpoint_id = $9)
       and ($10::text is null or license_id = any(${licensesOfCustomer('$1', '$10')}))
       and ($11::text is null or bounce = $11)
     order by ${by} limit $8`,
    [
      tenantId,
      filter.channel ?? null,
      filter.status ?? null,
      filter.event ?? null,
      filter.licenseId ?? null,
      after?.createdAt ?? null,
      after?.id ?? null,
      limit + 1,
      filter.endpointId ?? null,
      filter.customerId ?? null,
      filter.bounce ?? null,
    ],
  )
  const deliveries = rows.map(({ state }) => state)
  return pageOf(deliveries, limit, ({ scheduledAt, deliveryId }) => ({
    createdAt: scheduledAt,
    id: deliveryId,
  }))
}

/** The deliveries of a license's events from revision `first` to `last` (inclusive), by the event's revision. */
export async function listDeliveriesOfEvents(
  db: Pool,
  licenseId: string,
  first: number,
  last: number,
): Promise<Map<number, KnownDelivery[]>> {
  const { rows } = await db.query<{ revision: number; state: KnownDelivery }>({
    name: 'deliveries-of-events',
    text: `select license_revision as revision, state from deliveries
           where license_id = $1 and license_revision between $2 and $3
           order by license_revision, channel, endpoint_id`,
    values: [licenseId, first, last],
  })
  const byRevision = Map.groupBy(rows, ({ revision }) => revision)
  return new Map(Array.from(byRevision, ([revision, found]) => [revision, found.map(({ state }) => state)]))
}

/** Whether a mail of the same license that says the same was delivered within the hour before this one was called for. */
export async function wasJustMailed(
  db: Pool,
  { deliveryId, licenseId, licenseRevision, event, scheduledAt }: KnownDelivery,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from deliveries d
     join license_history h on h.license_id = d.license_id and h.revision = d.license_revision
     join license_history own on own.license_id = d.license_id and own.revision = $2
     where d.license_id = $1 and d.channel = 'mail' and d.event = $3 and d.status = 'delivered' and d.delivery_id <> $4
       and d.created_at > $5::timestamptz - interval '1 hour'
       and h.data ->> 'mail' is not distinct from own.data ->> 'mail'
     limit 1`,
    [licenseId, licenseRevision, event, deliveryId, scheduledAt],
  )
  return rows.length > 0
}

/**
 * A page of a license's deliveries, in the order of its events.
 * @param after the last delivery of the previous page
 */
export async function listDeliveriesOfLicense(
  db: Pool,
  licenseId: string,
  after: Pick<KnownDelivery, 'licenseRevision' | 'channel' | 'endpointId'> | undefined,
  most: number,
): Promise<KnownDelivery[]> {
  const { rows } = await db.query<{ state: KnownDelivery }>({
    name: 'deliveries-of-license',
    text: `select state from deliveries
           where license_id = $1 and (license_revision, channel, endpoint_id) > ($2, $3, $4)
           order by license_revision, channel, endpoint_id limit $5`,
    values: [licenseId, after?.licenseRevision ?? -1, after?.channel ?? '', after?.endpointId ?? '', most],
  })
  return rows.map(({ state }) => state)
}
