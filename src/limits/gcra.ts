/** `perMinute` sustained, and up to `burst` at once after a pause. */
export type Rate = { perMinute: number; burst: number }

/** A rate in the algorithm's terms, in milliseconds. */
export type Gcra = {
  /** A unit becomes free after each interval. */
  intervalMs: number
  /** How far ahead of the current time a bucket may be used. */
  toleranceMs: number
}

export function gcraOf({ perMinute, burst }: Rate): Gcra {
  const intervalMs = 60_000 / perMinute
  return { intervalMs, toleranceMs: burst * intervalMs }
}

/** Rounding errors of fractional intervals stay below this, and must not cost a caller a unit. */
export const roundingMs = 0.05

/**
 * The generic cell rate algorithm: a token bucket whose only state is the time at which it will be full again.
 * @param tat that time in milliseconds, the theoretical arrival time; in the past for a full bucket
 * @returns 0 when a unit is free now, else the milliseconds until one is
 * @see https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
 */
export function waitMs({ intervalMs, toleranceMs }: Gcra, tat: number, now: number): number {
  const over = Math.max(tat, now) + intervalMs - toleranceMs - now
  return over > roundingMs ? over : 0
}

/** The clocks of processes that share a limit differ by less than this. */
const clocksDifferMs = 300_000

/**
 * The latest valid time at which a bucket can be full again. A later one was written by a process whose clock
 * was ahead, and is ignored.
 */
export const latestTat = ({ toleranceMs }: Gcra, now: number): number =>
  now + 2 * toleranceMs + clocksDifferMs

/** The state after taking a unit now. */
export const spent = ({ intervalMs }: Gcra, tat: number, now: number): number =>
  Math.max(tat, now) + intervalMs
