import { countDeliveries, type DeliveryCounts } from '../../../projections/deliveries/counts.ts'
import { listParkedOfTenant, type TenantParkedStream } from '../../../projections/runner/parked.ts'
import { countSalesNeedingHolder } from '../../../projections/sales/holders.ts'
import { countParkedSales } from '../../../projections/sales/queries.ts'
import { countUnmatched } from '../../../projections/sales/unmatched.ts'
import type { Ports } from '../../ports.ts'

/** Abandoned deliveries are counted for as long as a member may want to redeliver them. */
const abandonedWithinMs = 7 * 86_400_000

/** A refund may arrive before its sale. What no sale has claimed in a month is no news. */
const unmatchedAfterMs = 3_600_000
const unmatchedWithinMs = 30 * 86_400_000

/** What a tenant's members should look at. Every page that shows one of these figures takes it from here. */
export type Attention = {
  /** Pending deliveries, and those that were abandoned in the last seven days. */
  deliveries: DeliveryCounts
  parkedSales: number
  salesNeedingHolder: number
  /** Refunds and disputes that belong to no known sale. */
  unmatchedPayments: number
  parkedStreams: readonly TenantParkedStream[]
}

/** Counts what needs attention in a tenant now. */
export async function readAttention(ports: Ports<'db' | 'now'>, tenantId: string): Promise<Attention> {
  const now = ports.now()
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const since = ago(abandonedWithinMs)
  const [deliveries, parkedSales, salesNeedingHolder, unmatchedPayments, parkedStreams] = await Promise.all([
    countDeliveries(ports.db, tenantId, { now: now.toISOString(), since }),
    countParkedSales(ports.db, tenantId),
    countSalesNeedingHolder(ports.db, tenantId),
    countUnmatched(ports.db, tenantId, { from: ago(unmatchedWithinMs), until: ago(unmatchedAfterMs) }),
    listParkedOfTenant(ports.db, tenantId),
  ])
  return { deliveries, parkedSales, salesNeedingHolder, unmatchedPayments, parkedStreams }
}
