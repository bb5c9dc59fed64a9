/** `perMinute` for ever, and after a rest up to `burst` at once. */
export type Rate = { perMinute: number; burst: number }

/** A rate as the algorithm counts it, in milliseconds. */
export type Gcra = {
  /** One more unit becomes free after each of these. */
  intervalMs: number
  /** How far ahead of now a bucket may be spent. */
  toleranceMs: number
}

export function gcraOf({ perMinute, burst }: Rate): Gcra {
  const intervalMs = 60_000 / perMinute
  return { intervalMs, toleranceMs: burst * intervalMs }
}

/** Sums of intervals that are no whole numbers drift by less than this, and that must not cost a caller a unit. */
export const roundingMs = 0.05

/**
 * The generic cell rate algorithm: a token bucket whose whole state is the moment at which it will be full again.
 * @param tat that moment, the theoretical arrival time; in the past for a full bucket
 * @returns 0 when a unit is free now, else the milliseconds until one is
 * @see https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
 */
export function waitMs({ intervalMs, toleranceMs }: Gcra, tat: number, now: number): number {
  const over = Math.max(tat, now) + intervalMs - toleranceMs - now
  return over > roundingMs ? over : 0
}

/** The clocks of processes that share a limit differ by less. */
const clocksDifferMs = 300_000

/**
 * The latest moment at which a bucket can be full again, however much of it was taken: what is later was written by a
 * process whose clock was ahead, and says nothing.
 */
export const latestTat = ({ toleranceMs }: Gcra, now: number): number =>
  now + 2 * toleranceMs + clocksDifferMs

/** The state after a unit was taken now. */
export const spent = ({ intervalMs }: Gcra, tat: number, now: number): number =>
  Math.max(tat, now) + intervalMs
