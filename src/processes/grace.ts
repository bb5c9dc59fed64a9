/** The clocks of processes that work together differ by less. */
const clocksDifferMs = 60_000

/**
 * What has begun within these moments is left to whoever began it. One that is told to have begun later than now was
 * begun before the clock was set back, so nobody knows how long ago: it is taken up.
 */
export type Grace = { from: string; until: string }

/** @param graceMs how long whoever began something is left to finish it */
export function graceAt(now: Date, graceMs: number): Grace {
  const moment = (aheadMs: number) => new Date(now.getTime() + aheadMs).toISOString()
  return { from: moment(-graceMs), until: moment(clocksDifferMs) }
}
