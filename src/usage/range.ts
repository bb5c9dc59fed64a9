export type Granularity = 'hour' | 'day'

/** Whole hours or days in UTC; `from` is inclusive, `to` is exclusive. */
export type UsageRange = { from: string; to: string; granularity: Granularity; points: number }

const lengthMs: Record<Granularity, number> = { hour: 3_600_000, day: 86_400_000 }

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
  const { granularity } = requested
  const step = lengthMs[granularity]
  const present = startOf(now, step) + step
  const end = requested.to === undefined ? present : Math.min(present, endOf(requested.to, step))
  const start =
    requested.from === undefined ? end - defaultPoints[granularity] * step : startOf(requested.from, step)
  const backwards =
    requested.from !== undefined && requested.to !== undefined && requested.from >= requested.to
  if (backwards || start >= end) return 'empty'
  if (start < 0) return 'too early'
  const points = (end - start) / step
  if (points > maxPoints) return 'too long'
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString(), granularity, points }
}

/** The start of each hour or day of the range, ISO 8601. */
export function pointsIn({ from, granularity, points }: UsageRange): string[] {
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
