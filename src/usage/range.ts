export type Granularity = 'hour' | 'day'

/** Whole hours or days in UTC: `from` belongs to the range, `to` does not. */
export type UsageRange = { from: string; to: string; granularity: Granularity; points: number }

const lengthMs: Record<Granularity, number> = { hour: 3_600_000, day: 86_400_000 }

/** How many points a series has when nothing says where it begins. */
const defaultPoints: Record<Granularity, number> = { hour: 24, day: 30 }

/** A year by day with room to spare, and two weeks by hour. */
export const maxPoints = 400

/**
 * Widens what was asked for to whole hours or days. It ends with the present one at the latest, since nothing is
 * counted ahead; without a beginning it is 24 hours or 30 days long.
 *
 * | asked, on 1 March at 12:30   | range                         |
 * | ---------------------------- | ----------------------------- |
 * | nothing                      | 31 January to 2 March, by day |
 * | hour                         | 13:00 yesterday to 13:00      |
 * | day, from 27 February 05:00  | 27 February to 2 March        |
 * | hour, from 10:00:01 to 11:00 | 10:00 to 11:00                |
 * | hour, from 10:00 to 23:00    | 10:00 to 13:00                |
 *
 * @returns what is wrong as a value: it is empty, would have too many points, or begins before 1970
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

/** The moment at which each hour or day of the range begins. */
export function pointsIn({ from, granularity, points }: UsageRange): string[] {
  const start = Date.parse(from)
  return Array.from({ length: points }, (_, index) =>
    new Date(start + index * lengthMs[granularity]).toISOString(),
  )
}

/** UTC has neither daylight saving nor, as computers count, leap seconds: every hour and day is as long. */
const startOf = (moment: string, step: number): number => Math.floor(Date.parse(moment) / step) * step
const endOf = (moment: string, step: number): number => Math.ceil(Date.parse(moment) / step) * step
