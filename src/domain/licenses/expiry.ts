import type { Duration, OnExpiry } from '../products/key-type.ts'
import { type Expiry, endOf } from './grace.ts'

/**
 * When a license issued at `from` expires. The calendar is UTC, so daylight saving has no effect. A day that
 * the target month lacks becomes its last day (31 January + 1 month = 28 or 29 February). The result is in
 * whole seconds, since the runtime interface uses Unix seconds and both must name the same moment.
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

/** The same moment without the fraction of a second. */
export function wholeSeconds(moment: string): string {
  const date = new Date(moment)
  date.setUTCMilliseconds(0)
  return date.toISOString()
}

/** A moment in the Unix seconds of the runtime interface. */
export function unixSeconds(moment: string): number {
  return Math.floor(Date.parse(moment) / 1000)
}

/**
 * Until when a statement about a license may hold, in Unix seconds. A license with fallback continues after its expiry, so the
 * statement may too; one that expires hard ends it, when its grace is over.
 * @param seconds how long it should hold
 */
export function leaseEnd(license: Expiry & { onExpiry: OnExpiry }, seconds: number, from: string): number {
  const longest = unixSeconds(from) + seconds
  const end = license.onExpiry === 'expire' ? endOf(license) : null
  return end === null ? longest : Math.min(longest, unixSeconds(end))
}
