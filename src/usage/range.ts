import { seatUseKeptDays } from '../../projections/seats/minutes.ts'

export type Granularity = 'hour' | 'day'
/** Seats are counted by the minute. */
export type SeatGranularity = 'minute' | Granularity

/** Whole minutes, hours or days in UTC; `from` is inclusive, `to` is exclusive. */
export type UsageRange<Of extends SeatGranularity = Granularity> = {
  from: string
  to: string
  granularity: Of
  points: number
}

const lengthMs: Record<SeatGranularity, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** The number of points of a series without a given start. */
const defaultPoints: Record<Granularity, number> = { hour: 24, day: 30 }

/** A year by day with room to spare, or two weeks by hour. */
export const maxPoints = 400

/**
 * Rounds a requested range outward to whole hours or days. It ends with the current one at the latest. Without
 * a start it is 24 hours or 30 days long.
 *
 * | requested, on 1 March at 12:30   | range                         |
 * | ---------------------------- | ----------------------------- |
 * | nothing                      | 31 January to 2 March, by day |
 * | hour                         | 13:00 yesterday to 13:00      |
 * | day, from 27 February 05:00  | 27 February to 2 March        |
 * | hour, from 10:00:01 to 11:00 | 10:00 to 11:00                |
 * | hour, from 10:00 to 23:00    | 10:00 to 13:00                |
 *
 * @returns the range, or a string when it is empty, has too many points, or starts before 1970
 */
export function usageRange(
  requested: { from?: string | undefined; to?: string | undefined; granularity: Granularity },
  now: string,
): UsageRange | 'empty' | 'too long' | 'too early' {
  return wholeRange(requested, now, { most: maxPoints, length: defaultPoints[requested.granularity] })
}

/** More than a day by the minute, or two months by the hour. */
export const maxSeatPoints = 1500

/** The length of a range of seats without a start. */
const defaultSeatDays = 30

/**
 * The range of requested seats, in the finest points of which there are not too many. Without a start it is 30 days long.
 * @returns the range, or a string when it is empty, or starts earlier than seats are kept
 */
export function seatRange(
  requested: { from?: string | undefined; to?: string | undefined },
  now: string,
): ReturnType<typeof wholeRange<SeatGranularity>> | 'too old' {
  const { to } = requested
  const end = Date.parse(to !== undefined && to < now ? to : now)
  const from = requested.from ?? new Date(end - defaultSeatDays * lengthMs.day).toISOString()
  if (Date.parse(from) < startOf(now, lengthMs.day) - seatUseKeptDays * lengthMs.day) return 'too old'
  const asked = end - Date.parse(from)
  // Rounding outward may add a point at each end.
  const isFew = (granularity: SeatGranularity) => asked / lengthMs[granularity] + 2 <= maxSeatPoints
  const granularity = (['minute', 'hour'] as const).find(isFew) ?? 'day'
  return wholeRange<SeatGranularity>({ from, to, granularity }, now, { most: maxSeatPoints, length: 0 })
}

/** @param options how many points it has at most, and how many without a start */
function wholeRange<Of extends SeatGranularity>(
  requested: { from?: string | undefined; to?: string | undefined; granularity: Of },
  now: string,
  { most, length }: { most: number; length: number },
): UsageRange<Of> | 'empty' | 'too long' | 'too early' {
  const { granularity } = requested
  const step = lengthMs[granularity]
  const present = startOf(now, step) + step
  const end = requested.to === undefined ? present : Math.min(present, endOf(requested.to, step))
  const start = requested.from === undefined ? end - length * step : startOf(requested.from, step)
  const backwards =
    requested.from !== undefined && requested.to !== undefined && requested.from >= requested.to
  if (backwards || start >= end) return 'empty'
  if (start < 0) return 'too early'
  const points = (end - start) / step
  if (points > most) return 'too long'
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString(), granularity, points }
}

/** The start of each minute, hour or day of the range, ISO 8601. */
export function pointsIn({ from, granularity, points }: UsageRange<SeatGranularity>): string[] {
  const start = Date.parse(from)
  return Array.from({ length: points }, (_, index) =>
    new Date(start + index * lengthMs[granularity]).toISOString(),
  )
}

/**
 * All hours and days in UTC have the same length: there is no daylight saving, and computers ignore leap
 * seconds.
 */
const startOf = (moment: string, step: number): number => Math.floor(Date.parse(moment) / step) * step
const endOf = (moment: string, step: number): number => Math.ceil(Date.parse(moment) / step) * step
