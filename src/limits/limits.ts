import type { Pool } from 'pg'
import { gcraOf, type Rate } from './gcra.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { joinProcesses } from './processes.ts'
import { createSharedBuckets, readBuckets } from './shared-buckets.ts'

/** What is limited, and of whom each. */
const limitNames = [
  /** Management calls of one token. */
  'management',
  /** Runtime calls of one tenant. */
  'runtime',
  /** Client calls of one address, by route. */
  'clientValidate',
  'clientActivate',
  'clientDeactivate',
  'clientFreeTier',
  'clientKeyless',
  'clientConfig',
  /** Client calls of one tenant, on all routes. */
  'clientTenant',
  /** Client validates of one instance of one license. */
  'clientInstance',
  /** Anonymous instances that one tenant has not seen before. */
  'clientNewInstances',
  /** Checkouts of one tenant; those begun at a buy link, of one address. */
  'checkout',
  /** Reads of the description, its page and the metrics, of one address. */
  'documents',
] as const
export type LimitName = (typeof limitNames)[number]

/** Undefined: no limit. */
export type Rates = { [Name in LimitName]?: Rate | undefined }
export type Limits = { [Name in LimitName]?: Limiter | undefined }

export const noLimits: Limits = {}

/**
 * The time by which buckets refill: that of the clock when the process began, and what has passed since. A clock that is
 * set back would hold up every caller for as long as it was set back.
 */
const steadyNow = (): number => performance.timeOrigin + performance.now()

/**
 * Brings the limits into force, shared with every other process on the same database.
 * @returns the limits, and how to leave: what was admitted and not told yet is told
 */
export async function joinLimits(
  db: Pool,
  rates: Rates,
  onFailure: (error: unknown) => void,
): Promise<{ limits: Limits; leave: () => Promise<void> }> {
  const options = { shared: createSharedBuckets(db), now: steadyNow, onFailure }
  const onNothing = (error: unknown) => {
    onFailure(error)
    return []
  }
  const limits: Limits = {}
  for (const name of limitNames) {
    const rate = rates[name]
    if (!rate) continue
    const limiter = createLimiter(name, rate, options)
    limiter.resume(await readBuckets(db, name, gcraOf(rate), steadyNow()).catch(onNothing))
    limits[name] = limiter
  }
  const inForce = Object.values(limits).filter((limiter) => limiter !== undefined)
  const leaveProcesses =
    inForce.length === 0
      ? async () => undefined
      : await joinProcesses(
          db,
          steadyNow,
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
