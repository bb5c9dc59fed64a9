import type { Duration } from '../products/key-type.ts'

/**
 * When a license issued at `from` ends. Calendar arithmetic in UTC, so daylight saving never matters; a day that
 * the target month lacks becomes its last one (31 January + 1 month = 28 or 29 February). Whole seconds, since
 * the wire tells time in Unix seconds and both must name the same moment.
 */
export function expiryAfter(from: string, duration: Duration): string {
  const start = new Date(from)
  start.setUTCMilliseconds(0)
  if (duration.unit === 'day') {
    start.setUTCDate(start.getUTCDate() + duration.count)
    return start.toISOString()
  }
  const months = duration.unit === 'year' ? duration.count * 12 : duration.count
  const end = new Date(start)
  end.setUTCDate(1)
  end.setUTCMonth(end.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(start.getUTCDate(), lastDay))
  return end.toISOString()
}

/** The same moment without its fraction of a second. */
export function wholeSeconds(moment: string): string {
  const date = new Date(moment)
  date.setUTCMilliseconds(0)
  return date.toISOString()
}

/** A moment as the runtime wire tells it. */
export function unixSeconds(moment: string): number {
  return Math.floor(Date.parse(moment) / 1000)
}
