/** The clocks of cooperating processes differ by less than this. */
const clocksDifferMs = 60_000

/**
 * Work that began between these moments is left to the process that began it. A beginning in the future is
 * from before the clock was set back: its age is unknown, so the work is resumed.
 */
export type Grace = { from: string; until: string }

/** @param graceMs how long a process has to finish what it began */
export function graceAt(now: Date, graceMs: number): Grace {
  const moment = (aheadMs: number) => new Date(now.getTime() + aheadMs).toISOString()
  return { from: moment(-graceMs), until: moment(clocksDifferMs) }
}
