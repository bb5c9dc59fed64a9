import { z } from 'zod'
import {
  type Days,
  daysBefore,
  daysIn,
  defaultDays,
  lengthOf,
  maxDays,
} from '../../../projections/insights/days.ts'
import { numberIn } from '../../http/schemas.ts'

/** The ranges that have a link of their own, in days. */
export const lengths = [7, 30, 90] as const

export type ChosenRange = {
  /** In UTC. */
  today: string
  days: Days
  /** Every day of the range, the first one first. */
  all: readonly string[]
  /** One of the fixed lengths; undefined for two days that were chosen. */
  length: number | undefined
  /** Why the chosen days cannot be shown; the range is the default one then. */
  problem: string | undefined
}

/** The query of a page with a range of days. */
export const RangeQuery = z
  .object({ days: numberIn(1, maxDays), from: z.iso.date(), to: z.iso.date() })
  .partial()

const Given = RangeQuery.catch({})

/**
 * The range that a query chooses, in days in UTC: `days=7`, or `from=2026-03-01&to=2026-03-31`. Days to come are cut off.
 *
 * | query                         | on 31 March: range  |
 * | ----------------------------- | ------------------- |
 * | nothing                       | 2 to 31 March       |
 * | days=7                        | 25 to 31 March      |
 * | from=2026-03-01               | 1 to 31 March       |
 * | from=2026-03-01&to=2026-03-05 | 1 to 5 March        |
 */
export function rangeOf(query: unknown, now: string): ChosenRange {
  const today = now.slice(0, 10)
  const given = Given.parse(typed(query))
  if (given.from === undefined && given.to === undefined) return last(given.days ?? defaultDays, today)
  const to = given.to === undefined || given.to > today ? today : given.to
  const from = given.from ?? daysBefore(to, defaultDays - 1)
  if (from > to) return { ...last(defaultDays, today), problem: 'The first day must be before the last.' }
  if (from < '1970') return { ...last(defaultDays, today), problem: 'The first day must not be before 1970.' }
  if (lengthOf({ from, to }) > maxDays)
    return { ...last(defaultDays, today), problem: `Choose at most ${maxDays} days.` }
  return { today, days: { from, to }, all: daysIn({ from, to }), length: undefined, problem: undefined }
}

/** Empty fields of the form do not count. */
const typed = (query: unknown): unknown =>
  Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value !== ''))

function last(length: number, today: string): ChosenRange {
  const known = lengths.find((one) => one === length) ?? defaultDays
  const days = { from: daysBefore(today, known - 1), to: today }
  return { today, days, all: daysIn(days), length: known, problem: undefined }
}
