import type { Pool } from 'pg'
import { createLimiter, type Limiter } from './limiter.ts'
import { gcraOf, type Rate } from './meter.ts'
import { joinProcesses, type Membership } from './processes.ts'
import { createSharedBuckets, readBuckets } from './shared-buckets.ts'

/** The limits, and what each applies to. */
const limitNames = [
  /** Management calls, per token. */
  'management',
  /** Runtime calls, per tenant. */
  'runtime',
  /** Client calls, per address and route. */
  'clientValidate',
  'clientActivate',
  'clientDeactivate',
  'clientFreeTier',
  'clientKeyless',
  'clientConfig',
  /** Client calls on all routes, per tenant. */
  'clientTenant',
  /** Client validates, per instance of a license. */
  'clientInstance',
  /** New anonymous instances, per tenant. */
  'clientNewInstances',
  /** Checkouts, per tenant; those from a buy link, per address. */
  'checkout',
  /** Archives of evidence, per tenant: each costs more than a hundred other calls. */
  'evidence',
  /** Reads of the API description, its page and the metrics, per address. */
  'documents',
] as const
export type LimitName = (typeof limitNames)[number]

/** Undefined: no limit. */
export type Rates = { [Name in LimitName]?: Rate | undefined }
export type Limits = { [Name in LimitName]?: Limiter | undefined }

export const noLimits: Limits = {}

/**
 * The time for refilling buckets, in milliseconds: the clock at the start of the process plus the time since
 * then. With a clock that was set back, callers would be refused for as long as it was set back.
 */
const steadyNow = (): number => performance.timeOrigin + performance.now()

/**
 * Applies the limits, shared with every other process on the same database.
 * @returns the limits, and a function that reports the rest and leaves
 */
export async function joinLimits(
  db: Pool,
  rates: Rates,
  onFailure: (error: unknown) => void,
): Promise<{ limits: Limits; leave: () => Promise<void> }> {
  let members: Membership | undefined
  const isCounted = () => members?.isCounted() ?? true
  const options = { shared: createSharedBuckets(db), now: steadyNow, isCounted, onFailure }
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
  if (inForce.length > 0) {
    members = await joinProcesses(
      db,
      steadyNow,
      (count) => {
        for (const limiter of inForce) limiter.setProcesses(count)
      },
      onFailure,
    )
  }
  return {
    limits,
    leave: async () => {
      await Promise.all(inForce.map((limiter) => limiter.stop()))
      await members?.leave()
    },
  }
}
