import type { Pool } from 'pg'
import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import type { Relays } from '../../src/domain/licenses/relay-seats.ts'
import { countPlaces, type Places, seatChange } from '../../src/domain/licenses/seat-places.ts'
import type { FloatingSeats } from '../../src/domain/products/key-type.ts'
import { findPointAtTime } from '../history/queries.ts'

/** Whose floating seats: those of one license, or of the licenses of a product or customer that are no tests. */
export type SeatScope = { tenantId: string } & (
  | { licenseId: string }
  | { productId: string }
  | { customerId: string }
)

/** The licenses of a scope with floating seats, as `$1` to `$4`. */
const inScope = `
  l.tenant_id = $1 and l.floating is not null
  and ($2::text is null or l.license_id = $2)
  and ($3::text is null or (l.product_id = $3 and not l.test))
  and ($4::text is null or (l.customer_id = $4 and not l.test))`

export const scopeValues = (scope: SeatScope): (string | null)[] => [
  scope.tenantId,
  'licenseId' in scope ? scope.licenseId : null,
  'productId' in scope ? scope.productId : null,
  'customerId' in scope ? scope.customerId : null,
]

/** The ids of the licenses of a scope, for queries of other tables. */
export const licensesInScope = `select l.license_id from licenses l where ${inScope}`

/** Licenses with the same limit. */
export type LimitGroup = { deviceLimit: number | null; floating: FloatingSeats; licenses: number }

/** The licenses of a scope that give seats now, by their limits. */
export async function readSeatLimits(db: Pool, scope: SeatScope, now: string): Promise<LimitGroup[]> {
  const { rows } = await db.query<LimitGroup>({
    name: 'read-seat-limits',
    text: `select device_limit as "deviceLimit", min(floating::text)::json as floating, count(*)::int as licenses
           from licenses l
           where ${inScope} and revoked_at is null and suspended_at is null
             and (ends_at is null or ends_at > $5 or on_expiry = 'fallback')
           group by device_limit, floating::text`,
    values: [...scopeValues(scope), now],
  })
  return rows
}

/** The relays of the licenses of a scope. */
export async function readRelays(db: Pool, scope: SeatScope): Promise<Relays[]> {
  const { rows } = await db.query<Relays>({
    name: 'read-relays-in-scope',
    text: `select l.relays from licenses l where ${inScope} and json_array_length(l.relays) > 0`,
    values: scopeValues(scope),
  })
  return rows
}

/** The most seats in use at once within a part of a range, and how many more there are at its end than at its start. */
type SeatPeak = { at: string; peak: number; change: number }

/**
 * The seats in use of a scope, those that its relays reported included: at the start of a range, and in each part of the range in which
 * something changed, the first one first; and those that devices have now. The peaks of several licenses and relays are added up by the
 * minute.
 * @param granularity how long a part is
 */
export async function readSeatPeaks(
  db: Pool,
  scope: SeatScope,
  { from, to, granularity }: { from: string; to: string; granularity: 'minute' | 'hour' | 'day' },
): Promise<{ atStart: number; inUse: number; peaks: SeatPeak[] }> {
  const { rows } = await db.query<
    { atStart: number; inUse: number } & { [Name in keyof SeatPeak]: SeatPeak[Name] | null }
  >({ name: 'read-seat-peaks', text: peaksSql, values: [...scopeValues(scope), from, to, granularity] })
  const peaks = rows.flatMap(({ at, peak, change }) =>
    at === null || peak === null || change === null ? [] : [{ at, peak, change }],
  )
  return { atStart: rows[0]?.atStart ?? 0, inUse: rows[0]?.inUse ?? 0, peaks }
}

/** A relay reports minutes as numbers. */
const firstMinute = `extract(epoch from $5::timestamptz)::int / 60`

/**
 * The minutes that relays reported in a range, and the one before it. A relay reports the peak of each minute in which something
 * changed: between two of them it had no more seats in use than the smaller of their peaks, and before the first and after the last, none.
 */
const relayMinutesSql = `
    select to_timestamp(r.minute * 60.0) as minute, r.peak,
      least(r.peak, lag(r.peak, 1, 0) over by_minute) as at_start,
      least(r.peak, lead(r.peak, 1, 0) over by_minute) as at_end
    from own cross join json_array_elements(own.relays) as relay
    join usage.relay_minutes r
      on r.license_id = own.license_id and r.relay_id = relay->>'relayId'
      and r.minute >= coalesce((
        select max(b.minute) from usage.relay_minutes b
        where b.license_id = own.license_id and b.relay_id = relay->>'relayId' and b.minute < ${firstMinute}
      ), 0)
    window by_minute as (partition by r.license_id, r.relay_id order by r.minute)`

/** Those at the start are the present ones without all changes since. */
const peaksSql = `
  with own as materialized (select l.license_id, l.seats_used, l.relays from licenses l where ${inScope}),
  counted as (
    select m.minute, m.peak, m.at_start, m.at_end
    from own join seat_minutes m on m.license_id = own.license_id and m.minute >= $5
    union all
    select * from (${relayMinutesSql}) of_relays where minute >= $5
  ),
  changed as materialized (
    select minute, sum(peak - at_start) as rise, sum(at_end - at_start) as change from counted group by minute
  ),
  ends as materialized (
    select used.seats as in_use, used.seats - changes.sum as at_start
    from (select coalesce(sum(seats_used), 0) as seats from own) used,
      (select coalesce(sum(change), 0) as sum from changed) changes
  ),
  minutes as (
    select minute, rise, change, coalesce(sum(change) over before, 0) as since
    from changed
    window before as (order by minute rows between unbounded preceding and 1 preceding)
  ),
  parts as (
    select date_trunc($7, minute, 'UTC') as at, max(since + rise) as peak, sum(change) as change
    from minutes where minute < $6
    group by 1
  )
  select ends.at_start::int as "atStart", ends.in_use::int as "inUse", parts.at,
    (ends.at_start + parts.peak)::int as peak, parts.change::int as change
  from ends left join parts on true
  order by parts.at`

/** More changes than this are not read for one answer. */
const maxSeatEvents = 500_000

/** Reading a page and counting it takes a few milliseconds, in which the process does nothing else. */
const pageSize = 2000

/**
 * The takings of a license in a range, from its start, which is inclusive, to its end, which is not, by what fewer seats would
 * have done with them.
 * @returns undefined when it has too many events in the range
 */
export async function readTakings(
  db: Pool,
  licenseId: string,
  { from, to }: { from: string; to: string },
): Promise<Places | undefined> {
  const first = (await findPointAtTime(db, licenseId, justBefore(from)))?.revision ?? -1
  const through = (await findPointAtTime(db, licenseId, justBefore(to)))?.revision ?? -1
  if (through - first > maxSeatEvents) return undefined
  const places = countPlaces(await seatsAt(db, licenseId, first))
  for (let after = first; after < through; after += pageSize) {
    const { rows } = await db.query<{ type: LicenseEvent['type']; deviceId: string; seats: number }>({
      name: 'read-seat-changes',
      text: `select type, coalesce(data->>'deviceId', '') as "deviceId", seats_used as seats
             from license_history where license_id = $1 and revision > $2 and revision <= $3
             order by revision`,
      values: [licenseId, after, Math.min(after + pageSize, through)],
    })
    for (const { seats, ...event } of rows) {
      const change = seatChange(event, seats)
      if (change) places.add(change)
    }
  }
  return places.counted()
}

/** The log's times are exact to the millisecond. */
const justBefore = (moment: string): string => new Date(Date.parse(moment) - 1).toISOString()

/** How many seats were in use after an event; none before the first. */
async function seatsAt(db: Pool, licenseId: string, revision: number): Promise<number> {
  const { rows } = await db.query<{ seats: number }>({
    name: 'seats-at',
    text: 'select seats_used as seats from license_history where license_id = $1 and revision = $2',
    values: [licenseId, revision],
  })
  return rows[0]?.seats ?? 0
}
