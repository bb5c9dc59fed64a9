/** Days in UTC, both inclusive: `2026-03-01`. */
export type Days = { from: string; to: string }

/** The longest range that is counted, in days. */
export const maxDays = 400

/** The length of a range that was not chosen. */
export const defaultDays = 30

const dayMs = 86_400_000

/** The day in UTC of a moment: `2026-03-01`. */
export const utcDate = (at: string): string => at.slice(0, 10)

/** @returns the day in UTC that many days before: 2026-03-01, 1 → 2026-02-28 */
export const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(day) - count * dayMs).toISOString().slice(0, 10)

/** @returns how many days a range has; below one for a range that ends before it begins */
export const lengthOf = ({ from, to }: Days): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1

/** @returns every day of the range, the first one first */
export const daysIn = ({ from, to }: Days): string[] =>
  Array.from({ length: lengthOf({ from, to }) }, (_, index) => daysBefore(from, -index))
