import type { Pool } from 'pg'
import { gcraOf, type Rate } from './gcra.ts'
import type { LimitName, Limits } from './limits.ts'
import { readTats } from './shared-buckets.ts'

/** Whose share of a limit is asked about. */
export type LimitKey = { name: LimitName; key: string }

/** How much of a limit is spent at this moment, as the processes have told each other: 0 nothing, 1 all of it. */
export type LimitUse = LimitKey & { rate: Rate; share: number }

/** Of those asked about, the ones that are in force, in the order given. */
export async function readLimitUse(
  db: Pool,
  limits: Limits,
  asked: readonly LimitKey[],
  now: number,
): Promise<LimitUse[]> {
  const inForce = asked.flatMap(({ name, key }) => {
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
