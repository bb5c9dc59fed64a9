import type { Duration } from '../../domain/products/key-type.ts'

/**
 * A time of another system in the format of the log. A date alone is its midnight, and a time without an offset is one
 * in UTC.
 * @returns undefined for an absent time, `invalid` for a text that is none
 */
export function isoOf(text: string | null | undefined): string | undefined | 'invalid' {
  if (text == null || text.trim() === '') return undefined
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?$/i.exec(
      text.trim(),
    )
  if (!match) return 'invalid'
  const [, day, time = '00:00:00', given = 'Z'] = match
  const offset = /^(z|utc)$/i.test(given) ? 'Z' : given.replace(/^(.\d{2}):?/, '$1:')
  const moment = new Date(`${day}T${time}${offset}`)
  return Number.isNaN(moment.getTime()) || !isCalendarDay(day ?? '') ? 'invalid' : moment.toISOString()
}

/** 30 February would become a day in March. */
function isCalendarDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}

const daySeconds = 86_400

/**
 * A length in seconds as a key type's duration: years and months where it is a whole number of 365 or of 30 days, else
 * days, rounded up.
 * @returns null for no end, also when it is longer than a key type can have
 */
export function durationOf(seconds: number | null): Duration | null {
  if (seconds === null || seconds <= 0) return null
  const days = Math.ceil(seconds / daySeconds)
  if (days % 365 === 0) return within(days / 365, 'year')
  if (days % 30 === 0) return within(days / 30, 'month')
  return within(days, 'day') ?? within(Math.ceil(days / 30), 'month') ?? within(Math.ceil(days / 365), 'year')
}

const within = (count: number, unit: Duration['unit']): Duration | null =>
  count <= 1000 ? { count, unit } : null

/** A period of ISO 8601, such as `P1Y` or `P30D`. @returns undefined for an absent one and for any other text */
export function isoDurationOf(period: string | null): Duration | undefined {
  const match = /^P(\d{1,4})(Y|M|W|D)$/.exec(period ?? '')
  if (!match) return undefined
  const count = Number(match[1]) * (match[2] === 'W' ? 7 : 1)
  const unit = match[2] === 'Y' ? 'year' : match[2] === 'M' ? 'month' : 'day'
  return count >= 1 && count <= 1000 ? { count, unit } : undefined
}
