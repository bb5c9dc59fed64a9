import type { Pool } from 'pg'
import { countActiveDevices } from '../../../projections/licenses/active-devices.ts'
import { countProducts } from '../../../projections/products/queries.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { catchUpWithLog } from './catch-up.ts'
import { withTenantLock } from './tenant-lock.ts'

type Limited = 'products' | 'activeDevices'

type Reservation = {
  tenantId: string
  plan: Plan
  what: Limited
  /** How many the work would like to add. */
  needed: number
}

/** Given to a command as its `proof`: that nobody else could add meanwhile. */
export type Proof = () => Promise<void>

/**
 * The capacity that a tenant's plan leaves. What a plan limits stands in the streams of many products and licenses, so all
 * who add to it take turns, over all processes, and what they add is in the read models before their done is over.
 */
export type PlanCapacity = {
  /**
   * Runs work with the capacity that it may use, which is less than needed where the plan leaves less. A plan without a limit
   * costs nothing.
   * @param work adds no more than it is granted, and returns when the read models show it. Work of one process runs at
   *   the same time as far as there is capacity for all of it
   */
  reserve<T>(asked: Reservation, work: (granted: number, proof?: Proof) => Promise<T>): Promise<T>
}

type Waiting = {
  needed: number
  /** Settles what the caller waits for; never rejects itself. */
  run: (granted: number, proof: Proof) => Promise<void>
  fail: (error: unknown) => void
}

type Stores = {
  /** Of which turns take their connections, so that they take none from those who have a done. */
  locksDb: Pool
  db: Pool
  ledger: Pick<Ledger, 'head'>
  untilVisible: (position: bigint) => Promise<void>
}

const nameOf = ({ tenantId, what }: Pick<Reservation, 'tenantId' | 'what'>) => `${what} ${tenantId}`

const counts = { products: countProducts, activeDevices: countActiveDevices }

export function createPlanCapacity({ locksDb, db, ledger, untilVisible }: Stores): PlanCapacity {
  /** Those of this process who wait for their done. */
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
    // In the same moment as the last look at the queue, so that nobody joins one that is over.
    queues.delete(nameOf({ tenantId, what }))
  }

  return {
    reserve<T>(asked: Reservation, work: (granted: number, proof?: Proof) => Promise<T>): Promise<T> {
      const { plan, what, needed } = asked
      if (!Number.isFinite(planLimits[plan][what])) return work(needed)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const run: Waiting['run'] = (granted, proof) => work(granted, proof).then(resolve, reject)
      const waiting = { needed, run, fail: reject }
      const queue = queues.get(nameOf(asked))
      if (queue) queue.push(waiting)
      else {
        const begun = [waiting]
        queues.set(nameOf(asked), begun)
        void serve(asked, begun)
      }
      return promise
    },
  }
}

/**
 * Runs those at the head of the queue for whom there is capacity, all at once. Who needs more than is left while others are
 * using theirs waits for the next count: some of it may not be used after all.
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

/** Somebody has to ask for capacity first. */
class CapacityNeeded extends Error {}

/**
 * Runs a change that seats a device, if it does not sit there already, within the plan of its tenant. Where the change
 * comes to nothing, as for a device that has its seat, nobody waits and nothing is counted.
 * @param change gives `admit` to the command that it executes, which throws where the plan leaves no capacity for the seat.
 *   It is run again, with `isAgain`, when it has to ask for capacity
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

/** Given to a command as its `admit`. */
export type Admit = () => void

const refuseWith =
  (reason: Error): Admit =>
  () => {
    throw reason
  }

const admitAll: Admit = () => undefined
