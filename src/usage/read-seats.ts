import type { Pool } from 'pg'
import {
  licensesInScope,
  readRelays,
  readSeatLimits,
  readSeatPeaks,
  readTakings,
  type SeatScope,
  scopeValues,
} from '../../projections/seats/queries.ts'
import { mostSeats } from '../domain/licenses/floating.ts'
import { relaySeats } from '../domain/licenses/relay-seats.ts'
import type { Places } from '../domain/licenses/seat-places.ts'
import { pointsIn, type SeatGranularity, type UsageRange } from './range.ts'

/** The seats in use of floating licenses over a range. */
export type SeatUse = {
  /** Licenses with floating seats that give seats now. */
  licenses: number
  inUse: number
  /** Seats that relays have now, whether or not they gave them out. */
  atRelays: number
  /** The limits of these licenses added up, and how many seats they may have above; null when one has no limit. */
  limit: number | null
  overdraft: number
  points: { at: string; peak: number; denied: number }[]
}

/**
 * Reads the seats in use in each part of a range, and how often none was free. Refused calls of the last second of another process may
 * be missing.
 * @param now when the limits are read
 */
export async function readSeatUse(
  db: Pool,
  scope: SeatScope,
  range: UsageRange<SeatGranularity>,
  now: string,
): Promise<SeatUse> {
  const [limits, use, denied, relays] = await Promise.all([
    readSeatLimits(db, scope, now),
    readSeatPeaks(db, scope, range),
    readDenied(db, scope, range),
    readRelays(db, scope),
  ])
  let limit: number | null = 0
  let overdraft = 0
  for (const { deviceLimit, floating, licenses } of limits) {
    const most = mostSeats({ deviceLimit, floating })
    limit = limit === null || deviceLimit === null ? null : limit + deviceLimit * licenses
    if (deviceLimit !== null && most !== null) overdraft += (most - deviceLimit) * licenses
  }
  return {
    licenses: limits.reduce((sum, { licenses }) => sum + licenses, 0),
    inUse: use.inUse,
    atRelays: relays.reduce((sum, license) => sum + relaySeats(license, now), 0),
    limit,
    overdraft: limit === null ? 0 : overdraft,
    points: pointsOf(range, use, denied),
  }
}

/** Where nothing changed, as many seats are in use as before. */
function pointsOf(
  range: UsageRange<SeatGranularity>,
  { atStart, peaks }: Awaited<ReturnType<typeof readSeatPeaks>>,
  denied: ReadonlyMap<string, number>,
): SeatUse['points'] {
  const changed = new Map(peaks.map((part) => [part.at, part]))
  let used = atStart
  return pointsIn(range).map((at) => {
    const part = changed.get(at)
    const peak = Math.max(used, part?.peak ?? 0)
    used += part?.change ?? 0
    return { at, peak, denied: denied.get(at) ?? 0 }
  })
}

/** How many takings the server and relays refused because all seats were in use, by part of the range. */
async function readDenied(
  db: Pool,
  scope: SeatScope,
  { from, to, granularity }: UsageRange<SeatGranularity>,
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ at: string; denied: bigint }>({
    name: 'read-denied-takings',
    text: `with own as (${licensesInScope})
           select date_trunc($7, minute, 'UTC') as at, sum(denied)::bigint as denied
           from (
             select d.minute, d.denied
             from own join usage.denied_takings d
               on d.license_id = own.license_id and d.minute >= $5 and d.minute < $6
             union all
             select to_timestamp(r.minute * 60.0), r.denied
             from own join usage.relay_minutes r
               on r.license_id = own.license_id and r.denied > 0
               and r.minute >= extract(epoch from $5::timestamptz)::int / 60
               and r.minute < extract(epoch from $6::timestamptz)::int / 60
           ) refused
           group by 1`,
    values: [...scopeValues(scope), from, to, granularity],
  })
  return new Map(rows.map(({ at, denied }) => [at, Number(denied)]))
}

/** The longest range of {@link readPlaces}, in days. */
export const maxWhatIfDays = 31

/**
 * The takings of a license in a range, by what fewer seats would have done with them.
 * @returns a string when the range is too long, or has too many events
 */
export async function readPlaces(
  db: Pool,
  licenseId: string,
  range: Pick<UsageRange, 'from' | 'to'>,
): Promise<Places | 'too long' | 'too many'> {
  // The start and the end were rounded outward, to hours at most.
  const asked = Date.parse(range.to) - Date.parse(range.from) - 2 * hourMs
  if (asked > maxWhatIfDays * 24 * hourMs) return 'too long'
  return (await readTakings(db, licenseId, range)) ?? 'too many'
}

const hourMs = 3_600_000
