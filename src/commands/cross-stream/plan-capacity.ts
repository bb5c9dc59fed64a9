import type { Pool } from 'pg'
import { countSeatedDevices } from '../../../projections/licenses/active-devices.ts'
import { countProducts } from '../../../projections/products/queries.ts'
import { findTenant } from '../../../projections/tenants.ts'
import type { LicenseEvent } from '../../domain/licenses/events.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { catchUpWithLog } from './read-models.ts'
import { withTenantLock } from './tenant-lock.ts'

type Limited = 'products' | 'activeDevices'

type Reservation = {
  tenantId: string
  plan: Plan
  what: Limited
  /** How many the work would add. */
  needed: number
}

/** Passed to a command as its `proof`: confirms that no other process can add meanwhile. */
export type Proof = () => Promise<void>

/**
 * What a tenant's plan still allows. The limits of a plan concern the streams of many products and licenses.
 * So additions run under a lock over all processes, and are visible in the read models before it is released.
 */
export type PlanCapacity = {
  /**
   * Runs work with the granted number, which is less than needed if the plan allows less. Costs nothing for a
   * plan without a limit.
   * @param work adds no more than granted, and returns when the read models show it. Works of one process run
   *   concurrently while there is capacity for all of them
   */
  reserve<T>(reservation: Reservation, work: (granted: number, proof?: Proof) => Promise<T>): Promise<T>
}

type Waiting = {
  needed: number
  /** Settles the caller's promise; never rejects itself. */
  run: (granted: number, proof: Proof) => Promise<void>
  fail: (error: unknown) => void
}

type Stores = {
  /** A separate pool for locks, so that waiting for a lock takes no connection from the holders. */
  locksDb: Pool
  db: Pool
  ledger: Pick<Ledger, 'head'>
  untilVisible: (position: bigint) => Promise<void>
}

const nameOf = ({ tenantId, what }: Pick<Reservation, 'tenantId' | 'what'>) => `${what} ${tenantId}`

const counts = { products: countProducts, activeDevices: countSeatedDevices }

export function createPlanCapacity({ locksDb, db, ledger, untilVisible }: Stores): PlanCapacity {
  /** The reservations of this process that wait for the lock. */
  const queues = new Map<string, Waiting[]>()

  async function serve({ tenantId, plan, what }: Reservation, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const done = withTenantLock(locksDb, tenantId, what, async (prove) => {
        await catchUpWithLog({ ledger, untilVisible })
        const capacity = planLimits[plan][what] - (await counts[what](db, tenantId))
        await runFirst(queue, Math.max(0, capacity), prove)
      })
      await done.catch((error: unknown) => {
        for (const { fail } of queue.splice(0)) fail(error)
      })
    }
    // In the same tick as the last check of the queue, so that no reservation joins a queue that is no longer
    // served.
    queues.delete(nameOf({ tenantId, what }))
  }

  return {
    reserve<T>(reservation: Reservation, work: (granted: number, proof?: Proof) => Promise<T>): Promise<T> {
      const { plan, what, needed } = reservation
      if (!Number.isFinite(planLimits[plan][what])) return work(needed)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const run: Waiting['run'] = (granted, proof) => work(granted, proof).then(resolve, reject)
      const waiting = { needed, run, fail: reject }
      const queue = queues.get(nameOf(reservation))
      if (queue) queue.push(waiting)
      else {
        const begun = [waiting]
        queues.set(nameOf(reservation), begun)
        void serve(reservation, begun)
      }
      return promise
    },
  }
}

/**
 * Runs the reservations at the head of the queue that fit, concurrently. One that needs more than is left
 * while others run waits for the next count, since they may not use all that they were granted.
 */
async function runFirst(queue: Waiting[], capacity: number, proof: Proof): Promise<void> {
  let left = capacity
  const running: Promise<void>[] = []
  for (let next = queue[0]; next !== undefined; next = queue[0]) {
    if (next.needed > left && left < capacity) break
    queue.shift()
    const granted = Math.min(next.needed, left)
    left -= granted
    running.push(next.run(granted, proof))
  }
  await Promise.all(running)
}

/** A tenant that cannot be read gets the smallest plan. */
export const planOf = async (db: Pool, tenantId: string): Promise<Plan> =>
  (await findTenant(db, tenantId))?.plan ?? 'free'

/** The change would add a device, so it must be repeated with a reservation. */
class CapacityNeeded extends Error {}

/**
 * Runs a change that may give a device a seat, within the plan of its tenant. If the device already has its
 * seat, no lock is taken and nothing is counted.
 * @param change passes `admit` to the command that it executes; `admit` throws if the plan allows no further
 *   seat. It is run again with `isAgain` when it needs a reservation
 * @throws Refusal `plan_limit`, and what the change throws
 */
export async function seating<T>(
  { planCapacity }: { planCapacity: PlanCapacity },
  { tenantId, plan }: { tenantId: string; plan: Plan },
  change: (admit: Admit, proof: Proof | undefined, isAgain: boolean) => Promise<T>,
): Promise<T> {
  if (!Number.isFinite(planLimits[plan].activeDevices)) {
    return change(admitAll, undefined, false)
  }
  try {
    return await change(refuseWith(new CapacityNeeded()), undefined, false)
  } catch (error) {
    if (!(error instanceof CapacityNeeded)) throw error
  }
  return planCapacity.reserve({ tenantId, plan, what: 'activeDevices', needed: 1 }, (granted, proof) =>
    change(granted > 0 ? admitAll : refuseWith(new Refusal('plan_limit')), proof, true),
  )
}

/** Passed to a command as its `admit`. */
export type Admit = (events: readonly LicenseEvent[]) => void

/**
 * Only what adds a device needs capacity: one that has a seat may say that it was renamed, and one that takes a floating seat which
 * ran out takes the place of another.
 */
const refuseWith =
  (reason: Error): Admit =>
  (events) => {
    const count = (wanted: LicenseEvent['type']) => events.filter(({ type }) => type === wanted).length
    if (count('DeviceActivated') > count('DeviceDeactivated')) throw reason
  }

const admitAll: Admit = () => undefined
