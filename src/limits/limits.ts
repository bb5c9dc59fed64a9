import type { Pool } from 'pg'
import type { Rate } from './gcra.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { joinProcesses } from './processes.ts'
import { createSharedBuckets } from './shared-buckets.ts'

/** The limits there are. Undefined: no limit. */
export type Rates = {
  /** Management calls of one token. */
  management: Rate | undefined
  /** Runtime calls of one tenant. */
  runtime: Rate | undefined
}

export type Limits = { [Name in keyof Rates]: Limiter | undefined }

export const noLimits: Limits = { management: undefined, runtime: undefined }

/**
 * Brings the limits into force, shared with every other process on the same database.
 * @returns the limits, and how to leave: what was admitted and not told yet is told
 */
export async function joinLimits(
  db: Pool,
  rates: Rates,
  onFailure: (error: unknown) => void,
): Promise<{ limits: Limits; leave: () => Promise<void> }> {
  const options = { shared: createSharedBuckets(db), now: Date.now, onFailure }
  const limiterOf = (name: keyof Rates) => {
    const rate = rates[name]
    return rate && createLimiter(name, rate, options)
  }
  const limits: Limits = { management: limiterOf('management'), runtime: limiterOf('runtime') }
  const inForce = Object.values(limits).filter((limiter) => limiter !== undefined)
  const leaveProcesses =
    inForce.length === 0
      ? async () => undefined
      : await joinProcesses(
          db,
          Date.now,
          (count) => {
            for (const limiter of inForce) limiter.setProcesses(count)
          },
          onFailure,
        )
  return {
    limits,
    leave: async () => {
      await Promise.all(inForce.map((limiter) => limiter.stop()))
      await leaveProcesses()
    },
  }
}
