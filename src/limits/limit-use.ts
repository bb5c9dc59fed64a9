import type { Pool } from 'pg'
import type { LimitName, Limits } from './limits.ts'
import { gcraOf, type Rate } from './meter.ts'
import { readTats } from './shared-buckets.ts'

/** A limit, and the caller that it is counted for. */
export type LimitKey = { name: LimitName; key: string }

/** The current use of a limit, as the processes have reported it: 0 is nothing, 1 is all of it. */
export type LimitUse = LimitKey & { rate: Rate; share: number }

/** Reads the use of the given limits, in the same order, without those that are not in force. */
export async function readLimitUse(
  db: Pool,
  limits: Limits,
  requested: readonly LimitKey[],
  now: number,
): Promise<LimitUse[]> {
  const inForce = requested.flatMap(({ name, key }) => {
    const limiter = limits[name]
    return limiter ? [{ name, key, rate: limiter.rate }] : []
  })
  const tats = await readTats(db, inForce)
  return inForce.map((one, index) => ({ ...one, share: shareOf(one.rate, tats[index] ?? 0, now) }))
}

/**
 * | full again     | share |
 * | -------------- | ----- |
 * | before now     | 0     |
 * | in half a rest | 0.5   |
 * | in a whole one | 1     |
 */
function shareOf(rate: Rate, tat: number, now: number): number {
  return Math.min(1, Math.max(0, tat - now) / gcraOf(rate).toleranceMs)
}
