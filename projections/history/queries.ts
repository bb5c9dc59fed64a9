import type { Pool } from 'pg'
import { deviceSlots, ownSlots } from '../../src/domain/licenses/event-traits.ts'
import { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { absentLicense, evolveLicense, type IssuedLicense } from '../../src/domain/licenses/license.ts'

export type HistoryEntry = {
  revision: number
  eventId: string
  event: LicenseEvent
  actor: string
  requestId: string
  causationId: string
  correlationId: string
  at: string
  /** The number of used seats after the event. */
  seatsUsed: number
}

const entry = (of: string) => `
  ${of}.revision, ${of}.event_id as "eventId", json_build_object('type', ${of}.type, 'data', ${of}.data) as event,
  ${of}.actor, ${of}.request_id as "requestId", ${of}.causation_id as "causationId",
  ${of}.correlation_id as "correlationId", ${of}.at, ${of}.seats_used as "seatsUsed"`

/** All events of a license, oldest first. */
export async function readHistory(db: Pool, licenseId: string): Promise<HistoryEntry[]> {
  const { rows } = await db.query<HistoryEntry>(
    `select ${entry('h')} from license_history h where license_id = $1 order by revision`,
    [licenseId],
  )
  return rows
}

export type HistoryOrder = 'oldest' | 'newest'

/** A page of a license's events after a revision, in the given order; the first page when it is undefined. */
export async function readHistoryPage(
  db: Pool,
  licenseId: string,
  order: HistoryOrder,
  after: number | undefined,
  limit: number,
): Promise<HistoryEntry[]> {
  const [beyond, direction] = order === 'oldest' ? ['>', 'asc'] : ['<', 'desc']
  const { rows } = await db.query<HistoryEntry>({
    name: `history-page-${order}`,
    text: `select ${entry('h')} from license_history h
           where license_id = $1 and ($2::int is null or revision ${beyond} $2)
           order by revision ${direction} limit $3`,
    values: [licenseId, after ?? null, limit],
  })
  return rows
}

/**
 * The events that still have an effect on a license at a revision, oldest first: the newest event of each slot, and all
 * events without a slot. Evolving a license from them gives the same state as from all of its events.
 * @param through the revision, inclusive
 * @param deviceIds leaves out the seats of all other devices
 */
export async function readEffectiveEvents(
  db: Pool,
  licenseId: string,
  through: number,
  deviceIds?: readonly string[],
): Promise<HistoryEntry[]> {
  const slots = deviceIds && [...ownSlots, ...deviceIds.flatMap(deviceSlots)]
  const { rows } = await db.query<HistoryEntry>({
    name: slots ? 'deciding-of-some-devices' : 'deciding-of-all-devices',
    text: `with recursive ${slots ? namedSlots : everySlot}
           select * from (
             select ${entry('newest')} from slots cross join lateral (
               select * from license_history h
               where h.license_id = $1 and h.slot = slots.slot and h.revision <= $2
               order by h.revision desc limit 1
             ) newest
             union all
             select ${entry('h')} from license_history h
             where h.license_id = $1 and h.slot is null and h.revision <= $2
           ) deciding
           order by revision`,
    values: [licenseId, through, ...(slots ? [slots] : [])],
  })
  return rows
}

const namedSlots = `slots as (select unnest($3::text[]) as slot)`

/** Skips through the index from one slot to the next, however many events a slot has. */
const everySlot = `slots as (
  (select h.slot from license_history h where h.license_id = $1 and h.slot is not null order by h.slot limit 1)
  union all
  select (
    select h.slot from license_history h where h.license_id = $1 and h.slot > slots.slot order by h.slot limit 1
  ) from slots where slots.slot is not null
)`

/** A point in a license's history: a revision, its position in the log, and its moment. */
export type HistoryPoint = { revision: number; position: bigint; moment: string }

/** Undefined when the license has no such revision yet. */
export async function findPointAtRevision(
  db: Pool,
  licenseId: string,
  revision: number,
): Promise<HistoryPoint | undefined> {
  const { rows } = await db.query<HistoryPoint>({
    name: 'history-place-of',
    text: 'select revision, position, moment from license_history where license_id = $1 and revision = $2',
    values: [licenseId, revision],
  })
  return rows[0]
}

/** The last event up to a time, by binary search over revisions; undefined when there was none. */
export async function findPointAtTime(
  db: Pool,
  licenseId: string,
  time: string,
): Promise<HistoryPoint | undefined> {
  const { rows } = await db.query<HistoryPoint>({
    name: 'history-place-at',
    text: `with recursive between_them(low, high) as (
             select -1, (
               select revision from license_history where license_id = $1 order by revision desc limit 1
             )
             union all
             select
               case when h.moment <= $2 then h.revision else low end,
               case when h.moment <= $2 then high else h.revision - 1 end
             from between_them
               join license_history h on h.license_id = $1 and h.revision = (low + high + 1) / 2
             where low < high
           )
           select h.revision, h.position, h.moment
           from between_them join license_history h on h.license_id = $1 and h.revision = low
           where low = high`,
    values: [licenseId, time],
  })
  return rows[0]
}

/** The revision of each license at a position in the log. A license that did not exist then is left out. */
export async function findRevisionsAt(
  db: Pool,
  licenseIds: readonly string[],
  position: bigint,
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ license_id: string; revision: number }>({
    name: 'history-revisions-then',
    text: `select q.license_id, h.revision from unnest($1::text[]) as q (license_id) cross join lateral (
             select revision from license_history
             where license_id = q.license_id and position <= $2 order by revision desc limit 1
           ) h`,
    values: [licenseIds, position],
  })
  return new Map(rows.map(({ license_id, revision }) => [license_id, revision]))
}

/** A point in the past, by position in the log or by time: events after it are ignored. */
export type Cutoff = { position: bigint } | { time: string }

const parametersOf = (cut: Cutoff) => [
  'position' in cut ? cut.position : null,
  'time' in cut ? cut.time : null,
]

/** The ids of the licenses that were linked to a customer at the cutoff, newest first. */
export async function listLicenseIdsAt(
  db: Pool,
  tenantId: string,
  customerId: string,
  cut: Cutoff,
): Promise<string[]> {
  const { rows } = await db.query<{ license_id: string }>(
    `select l.license_id from licenses l
     cross join lateral (
       select h.type, h.data->>'customerId' as customer_id from license_history h
       where h.license_id = l.license_id and h.slot is null and h.data->>'customerId' is not null
         and ($3::bigint is null or h.position <= $3) and ($4::timestamptz is null or h.moment <= $4)
       order by h.revision desc limit 1
     ) linked
     where l.tenant_id = $1 and (l.customer_id = $2 or l.former_customers @> array[$2])
       and linked.customer_id = $2 and linked.type <> 'CustomerUnlinked'
     order by l.created_at desc, l.license_id desc`,
    [tenantId, customerId, ...parametersOf(cut)],
  )
  return rows.map((row) => row.license_id)
}

/**
 * The number of a tenant's active devices at the cutoff. It reads every license of the tenant, so use it only for plans
 * that limit devices.
 */
export async function countActiveDevicesAt(db: Pool, tenantId: string, cut: Cutoff): Promise<number> {
  const { rows } = await db.query<{ sum: bigint }>(
    `select coalesce(sum(h.seats_used), 0)::bigint as sum
     from licenses l cross join lateral (
       select seats_used from license_history h
       where h.license_id = l.license_id
         and ($2::bigint is null or h.position <= $2) and ($3::timestamptz is null or h.moment <= $3)
       order by h.revision desc limit 1
     ) h
     where l.tenant_id = $1`,
    [tenantId, ...parametersOf(cut)],
  )
  return Number(rows[0]?.sum ?? 0n)
}

type Row = { ordinal: number; type: string; data: unknown; seatsUsed: number }

/**
 * Reads licenses as they were right after given events, without their seats. Each is evolved from the events that decided it, of which there
 * are few however long its history is; the number of its used seats is recorded with each event.
 * @returns one state for each event, in the same order
 * @throws Error for an event that the license does not have
 */
export async function readLicensesAfter(
  db: Pool,
  refs: readonly { licenseId: string; revision: number }[],
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<Row>({
    name: 'licenses-after-events',
    text: `select q.ordinal::int, e.type, e.data, own.seats_used as "seatsUsed"
           from unnest($1::text[], $2::int[]) with ordinality as q (license_id, revision, ordinal)
             join license_history own on own.license_id = q.license_id and own.revision = q.revision
             cross join lateral (
               select newest.* from unnest($3::text[]) as slots (slot) cross join lateral (
                 select * from license_history h
                 where h.license_id = q.license_id and h.slot = slots.slot and h.revision <= q.revision
                 order by h.revision desc limit 1
               ) newest
               union all
               select * from license_history h
               where h.license_id = q.license_id and h.slot is null and h.revision <= q.revision
             ) e
           order by q.ordinal, e.revision`,
    values: [refs.map(({ licenseId }) => licenseId), refs.map(({ revision }) => revision), ownSlots],
  })
  const byRef = Map.groupBy(rows, ({ ordinal }) => ordinal)
  return refs.map(({ licenseId, revision }, index) => {
    const deciding = byRef.get(index + 1) ?? []
    const [own] = deciding
    const license = deciding.reduce(
      (state, { type, data }) => evolveLicense(state, LicenseEvent.parse({ type, data })),
      absentLicense,
    )
    if (!own || license.status === 'absent') throw new Error(`${licenseId} has no event at ${revision}`)
    return { ...license, seatsUsed: own.seatsUsed }
  })
}
