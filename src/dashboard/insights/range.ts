import { z } from 'zod'
import type { Days } from '../../../projections/insights/queries.ts'

/** The ranges that have a link of their own, in days. */
export const lengths = [7, 30, 90] as const

const defaultLength = 30

/** The longest range that can be chosen. */
const mostDays = 400

const dayMs = 86_400_000

export type ChosenRange = {
  days: Days
  /** Every day of the range, the first one first. */
  all: readonly string[]
  /** One of the fixed lengths; undefined for two days that were chosen. */
  length: number | undefined
  /** Why the chosen days cannot be shown; the range is the default one then. */
  problem: string | undefined
}

const Given = z.object({ days: z.coerce.number(), from: z.iso.date(), to: z.iso.date() }).partial().catch({})

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
  if (given.from === undefined && given.to === undefined) return last(given.days ?? defaultLength, today)
  const to = given.to === undefined || given.to > today ? today : given.to
  const from = given.from ?? daysBefore(to, defaultLength - 1)
  if (from > to) return { ...last(defaultLength, today), problem: 'The first day must be before the last.' }
  const all = daysIn({ from, to })
  if (all.length > mostDays)
    return { ...last(defaultLength, today), problem: `Choose at most ${mostDays} days.` }
  return { days: { from, to }, all, length: undefined, problem: undefined }
}

/** Empty fields of the form do not count. */
const typed = (query: unknown): unknown =>
  Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value !== ''))

function last(length: number, today: string): ChosenRange {
  const known = lengths.find((one) => one === length) ?? defaultLength
  const days = { from: daysBefore(today, known - 1), to: today }
  return { days, all: daysIn(days), length: known, problem: undefined }
}

const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(day) - count * dayMs).toISOString().slice(0, 10)

function daysIn({ from, to }: Days): string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1
  return Array.from({ length: Math.min(count, mostDays + 1) }, (_, index) => daysBefore(from, -index))
}
