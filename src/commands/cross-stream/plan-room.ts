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

type Asked = {
  tenantId: string
  plan: Plan
  what: Limited
  /** How many the work would like to add. */
  needed: number
}

/** Given to a command as its `proof`: that nobody else could add meanwhile. */
export type Proof = () => Promise<void>

/**
 * The room that a tenant's plan leaves. What a plan limits stands in the streams of many products and licenses, so all
 * who add to it take turns, over all processes, and what they add is in the read models before their turn is over.
 */
export type PlanRoom = {
  /**
   * Runs work with the room that it may use, which is less than needed where the plan leaves less. A plan without a limit
   * costs nothing.
   * @param work adds no more than it is granted, and returns when the read models show it. Work of one process runs at
   *   the same time as far as there is room for all of it
   */
  take<T>(asked: Asked, work: (granted: number, proof?: Proof) => Promise<T>): Promise<T>
}

type Waiting = {
  needed: number
  /** Settles what the caller waits for; never rejects itself. */
  run: (granted: number, proof: Proof) => Promise<void>
  fail: (error: unknown) => void
}

type Stores = {
  /** Of which turns take their connections, so that they take none from those who have a turn. */
  locksDb: Pool
  db: Pool
  ledger: Pick<Ledger, 'head'>
  untilVisible: (position: bigint) => Promise<void>
}

const nameOf = ({ tenantId, what }: Pick<Asked, 'tenantId' | 'what'>) => `${what} ${tenantId}`

const counts = { products: countProducts, activeDevices: countActiveDevices }

export function createPlanRoom({ locksDb, db, ledger, untilVisible }: Stores): PlanRoom {
  /** Those of this process who wait for their turn. */
  const lines = new Map<string, Waiting[]>()

  async function serve({ tenantId, plan, what }: Asked, line: Waiting[]): Promise<void> {
    while (line.length > 0) {
      const turn = withTenantLock(locksDb, tenantId, what, async (prove) => {
        await catchUpWithLog({ ledger, untilVisible })
        const room = planLimits[plan][what] - (await counts[what](db, tenantId))
        await runFirst(line, Math.max(0, room), prove)
      })
      await turn.catch((error: unknown) => {
        for (const { fail } of line.splice(0)) fail(error)
      })
    }
    // In the same moment as the last look at the line, so that nobody joins one that is over.
    lines.delete(nameOf({ tenantId, what }))
  }

  return {
    take<T>(asked: Asked, work: (granted: number, proof?: Proof) => Promise<T>): Promise<T> {
      const { plan, what, needed } = asked
      if (!Number.isFinite(planLimits[plan][what])) return work(needed)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const run: Waiting['run'] = (granted, proof) => work(granted, proof).then(resolve, reject)
      const waiting = { needed, run, fail: reject }
      const line = lines.get(nameOf(asked))
      if (line) line.push(waiting)
      else {
        const begun = [waiting]
        lines.set(nameOf(asked), begun)
        void serve(asked, begun)
      }
      return promise
    },
  }
}

/**
 * Runs those at the head of the line for whom there is room, all at once. Who needs more than is left while others are
 * using theirs waits for the next count: some of it may not be used after all.
 */
async function runFirst(line: Waiting[], room: number, proof: Proof): Promise<void> {
  let left = room
  const running: Promise<void>[] = []
  for (let next = line[0]; next !== undefined; next = line[0]) {
    if (next.needed > left && left < room) break
    line.shift()
    const granted = Math.min(next.needed, left)
    left -= granted
    running.push(next.run(granted, proof))
  }
  await Promise.all(running)
}

/** Somebody has to ask for room first. */
class RoomNeeded extends Error {}

/**
 * Runs a change that seats a device, if it does not sit there already, within the plan of its tenant. Where the change
 * comes to nothing, as for a device that has its seat, nobody waits and nothing is counted.
 * @param change gives `admit` to the command that it executes, which throws where the plan leaves no room for the seat.
 *   It is run again, with `isAgain`, when it has to ask for room
 * @throws Refusal `plan_limit`, and what the change throws
 */
export async function seating<T>(
  { planRoom }: { planRoom: PlanRoom },
  { tenantId, plan }: { tenantId: string; plan: Plan },
  change: (admit: Admit, proof: Proof | undefined, isAgain: boolean) => Promise<T>,
): Promise<T> {
  if (!Number.isFinite(planLimits[plan].activeDevices)) {
    return change(admitAll, undefined, false)
  }
  try {
    return await change(refuseWith(new RoomNeeded()), undefined, false)
  } catch (error) {
    if (!(error instanceof RoomNeeded)) throw error
  }
  return planRoom.take({ tenantId, plan, what: 'activeDevices', needed: 1 }, (granted, proof) =>
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
