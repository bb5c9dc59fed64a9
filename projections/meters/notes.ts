import type { Pool } from 'pg'
import { usageSlot } from '../../src/domain/licenses/event-traits.ts'
import { isNotable, isOfUsage, type NotableEvent, sharerOf } from '../../src/domain/licenses/metered.ts'
import { MeterEvent } from '../../src/domain/meters/events.ts'
import type { MeterOwner } from '../../src/domain/meters/meter.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { meterKey, streamName } from '../../src/domain/streams.ts'
import type { Statement } from '../statements.ts'
import { defineTable, type RowIn, type RowOf } from '../table.ts'

/** What happened to meters and is not told in the history of their licenses yet. */
export const usageNotes = defineTable(
  'usage_notes',
  {
    stream: 'text not null',
    revision: 'int not null',
    tenantId: 'text not null',
    /** The license whose history gets the event. */
    licenseId: 'text not null',
    /** Of a meter that the licenses of a customer share. */
    customerId: 'text',
    meter: 'text not null',
    unit: 'text not null',
    /** Of the event in the history. */
    slot: 'text not null',
    event: 'json not null',
    eventId: 'uuid not null',
    requestId: 'text not null',
    correlationId: 'text not null',
    actor: 'text not null',
    position: 'bigint not null',
  },
  {
    key: ['stream', 'revision'],
    over: 'nothing',
    // One that is told already is skipped, as when the same events are applied again.
    where: `r.revision > coalesce((
      select (h.data ->> 'meterRevision')::int from license_history h
      where h.license_id = r.license_id and h.slot = r.slot
      order by h.revision desc limit 1
    ), -1)`,
    indexes: { usage_notes_by_age: '(position)', usage_notes_of_license: '(license_id, position)' },
  },
)

/** @param owners of the meters that the page changes */
export function noteIn(
  owners: ReadonlyMap<string, MeterOwner | null>,
  recorded: Recorded,
): RowIn<typeof usageNotes>[] {
  if (recorded.category !== 'meter' || !isNotable(recorded.event)) return []
  const { stream, revision, event, id: eventId, position, metadata } = recorded
  const owner = owners.get(stream)
  if (!owner) return []
  const told = whereTold(owner, recorded.event)
  if (!told) return []
  const { tenantId, meter, unit } = owner
  const { requestId, correlationId, actor } = metadata
  const slot = usageSlot(meter, told.customerId ?? undefined)
  const of = { stream, revision, tenantId, ...told, meter, unit, slot }
  return [{ ...of, event, eventId, requestId, correlationId, actor, position: String(position) }]
}

/**
 * The license whose history gets the event. For a meter that the licenses of a customer share, this is the one that used it last; credits and
 * corrections belong to the customer, and are in no license's history.
 */
function whereTold(
  owner: MeterOwner,
  event: NotableEvent,
): { licenseId: string; customerId: string | null } | undefined {
  if (!('customerId' in owner)) return { licenseId: owner.licenseId, customerId: null }
  const { customerId } = owner
  if (event.type !== 'ThresholdReached' && event.type !== 'PeriodClosed') return undefined
  const { licenseId } = event.data
  return licenseId === undefined ? undefined : { licenseId, customerId }
}

/** What events of licenses change: notes that are told now, and the time of renewals. */
export function writesOfLicenses(entries: readonly Recorded[]): Statement[] {
  const told = entries.flatMap(({ category, stream, event }) => {
    if (category !== 'license' || !isOfUsage(event)) return []
    const licenseId = stream.slice('license-'.length)
    const { meter, meterRevision: through } = event.data
    return [
      { stream: streamName('meter', meterKey(sharerOf(event) ?? licenseId, meter)), licenseId, through },
    ]
  })
  const renewals = new Map<string, string>()
  for (const { category, stream, event } of entries) {
    if (category === 'license' && (event.type === 'LicenseRenewed' || event.type === 'UpdatesExtended'))
      renewals.set(stream.slice('license-'.length), event.data.at)
  }
  return [
    ...(told.length === 0
      ? []
      : [
          {
            name: 'delete-told-usage',
            text: `delete from usage_notes n using unnest($1::text[], $2::text[], $3::int[]) as q (stream, license_id, through)
                   where n.stream = q.stream and n.license_id = q.license_id and n.revision <= q.through`,
            values: [
              told.map(({ stream }) => stream),
              told.map(({ licenseId }) => licenseId),
              told.map(({ through }) => through),
            ],
          },
        ]),
    ...(renewals.size === 0
      ? []
      : [
          {
            name: 'write-meter-renewals',
            text: `update meters m set renewed_at = greatest(m.renewed_at, q.at)
                   from unnest($1::text[], $2::timestamptz[]) as q (license_id, at) where m.license_id = q.license_id`,
            values: [[...renewals.keys()], [...renewals.values()]],
          },
        ]),
  ]
}

/** A meter that is first used after a renewal of its license knows of that too. */
export function writesOfOpened(entries: readonly Recorded[]): Statement[] {
  const streams = entries.flatMap(({ category, stream, event }) =>
    category === 'meter' && event.type === 'MeterOpened' ? [stream] : [],
  )
  if (streams.length === 0) return []
  return [
    {
      name: 'write-renewals-of-opened-meters',
      text: `update meters m set renewed_at = greatest(m.renewed_at, l.renewed_at)
             from licenses l where m.stream = any($1) and l.license_id = m.license_id and l.renewed_at is not null`,
      values: [streams],
    },
  ]
}

/** What happened to a meter, and the request that it followed from. */
export type UsageNote = Pick<MeterOwner, 'tenantId' | 'meter' | 'unit'> & {
  licenseId: string
  customerId: string | null
  revision: number
  event: NotableEvent
  eventId: string
  requestId: string
  correlationId: string
  actor: string
}

type Limits = { except: readonly string[]; most: number }

/** The licenses of which something is to be told, the one that has waited longest first. */
export async function listLicensesWithNotes(
  db: Pool,
  { except, most }: Limits,
): Promise<{ licenseId: string }[]> {
  const { rows } = await db.query<{ licenseId: string }>({
    name: 'list-licenses-with-usage-notes',
    text: `select license_id as "licenseId" from (select * from usage_notes order by position limit 10000) n
           where license_id <> all($1) and 'license-' || license_id <> all (array(select stream from parked))
           group by license_id order by min(position) limit $2`,
    values: [except, most],
  })
  return rows
}

/** The oldest of what is to be told of a license. */
export async function findNextNote(db: Pool, licenseId: string): Promise<UsageNote | undefined> {
  const { rows } = await db.query<RowOf<RowIn<typeof usageNotes>>>({
    name: 'find-next-usage-note',
    text: 'select * from usage_notes where license_id = $1 order by position limit 1',
    values: [licenseId],
  })
  const [row] = rows
  if (!row) return undefined
  const { event: recorded, stream: _, position: __, slot: ___, ...note } = usageNotes.fieldsIn(row)
  const event = MeterEvent.parse(recorded)
  if (!isNotable(event)) throw new Error(`${row.stream} has no event to tell of at ${row.revision}`)
  return { ...note, event }
}

/** A meter with a period that may be closed, by the id of its stream. */
export type MeterToClose = { tenantId: string; id: string }

/** The meters with periods that are over for good: a week after their end, or by purchase once the next one has begun. */
export async function listMetersToClose(
  db: Pool,
  { now, except, most }: Limits & { now: string },
): Promise<MeterToClose[]> {
  const { rows } = await db.query<MeterToClose>({
    name: 'list-meters-to-close',
    text: `select m.tenant_id as "tenantId", substring(m.stream from ${streamName('meter', '').length + 1}) as id from (
             (select * from meters where closes_at <= $1 order by closes_at limit $3)
             union all
             select m.* from meters m
             join licenses l on l.license_id = m.license_id
             join key_types y
               on y.tenant_id = l.tenant_id and y.product_id = l.product_id and y.key_type_id = l.key_type_id
             where m.renewed_at > m.endless_since and (m.closes_at is null or m.closes_at > $1) and exists (
               select from json_array_elements(y.meters) t
               where t ->> 'meter' = m.meter and t ->> 'period' = 'purchase'
             )
           ) m
           where substring(m.stream from ${streamName('meter', '').length + 1}) <> all($2) and m.stream <> all (array(select stream from parked))
           limit $3`,
    values: [now, except, most],
  })
  return rows
}
