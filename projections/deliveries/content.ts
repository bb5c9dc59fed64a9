import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import { Holder, LicenseEvent, LicenseTerms } from '../../src/domain/licenses/events.ts'

/** What the payload of a delivery is made of: an event of a license, the terms of the license and the device. */
export type DeliveryContent = {
  event: LicenseEvent
  at: string
  issued: LicenseTerms
  /** The license's key type, quantity and device limit after the event. */
  terms: Pick<LicenseTerms, 'keyTypeId' | 'quantity' | 'deviceLimit'>
  /** The person that it was for after the event. */
  holder: Holder | null
  deviceName: string | null
  /** The checkout session of the license's sale; null without one. */
  sessionId: string | null
}

type Row = {
  type: string
  data: unknown
  at: string
  issued: unknown
  changed: unknown
  edited: { holder: unknown } | null
  device_name: string | null
  session_id: string | null
}

const Changed = LicenseTerms.pick({ keyTypeId: true, quantity: true, deviceLimit: true }).strip()

/** An event of a license, by its revision in the license's stream. */
export type LicenseEventRef = { licenseId: string; revision: number }

/**
 * Reads the contents of deliveries. Events never change, so every attempt of a delivery sends the same content.
 * @returns one content for each event, in the same order; undefined for an unknown event
 */
export async function readContents(
  db: Pool,
  refs: readonly LicenseEventRef[],
): Promise<(DeliveryContent | undefined)[]> {
  const { rows } = await db.query<Row | { type: null }>({
    name: 'delivery-contents',
    text: `select e.type, e.data, e.at, i.data as issued, t.data as changed, v.data as edited,
             d.name as device_name,
             s.state ->> 'sessionId' as session_id
           from unnest($1::text[], $2::int[]) with ordinality as q (license_id, revision, ordinal)
             left join license_history e on e.license_id = q.license_id and e.revision = q.revision
             left join license_history i on i.license_id = e.license_id and i.revision = 0
             left join lateral (
               select h.data from license_history h
               where h.license_id = q.license_id and h.slot in ('terms', 'edited')
                 and h.revision <= q.revision
               order by h.revision desc limit 1
             ) t on true
             left join lateral (
               select h.data from license_history h
               where h.license_id = q.license_id and h.slot = 'edited' and h.revision <= q.revision
               order by h.revision desc limit 1
             ) v on true
             left join sales s on s.license_ids @> array[e.license_id]
             left join devices d on d.license_id = e.license_id and d.device_id = e.data ->> 'deviceId'
           order by q.ordinal`,
    values: [refs.map(({ licenseId }) => licenseId), refs.map(({ revision }) => revision)],
  })
  return rows.map((row) => (row.type === null ? undefined : contentFrom(row)))
}

/**
 * Reads the content of one event, for the dispatcher. Concurrent lookups share one query.
 * @throws Error when the license has no such event
 */
export function createContentLookup(
  db: Pool,
): (of: { licenseId: string; licenseRevision: number }) => Promise<DeliveryContent> {
  const find = coalesce((places: readonly LicenseEventRef[]) => readContents(db, places))
  return async ({ licenseId, licenseRevision: revision }) => {
    const content = await find({ licenseId, revision })
    if (!content) throw new Error(`${licenseId} has no event at ${revision}`)
    return content
  }
}

function contentFrom(row: Row): DeliveryContent {
  const issued = LicenseTerms.parse(row.issued)
  return {
    event: LicenseEvent.parse({ type: row.type, data: row.data }),
    at: row.at,
    issued,
    terms: row.changed === null ? issued : Changed.parse(row.changed),
    holder: row.edited === null ? issued.holder : Holder.nullable().parse(row.edited.holder),
    deviceName: row.device_name,
    sessionId: row.session_id,
  }
}
