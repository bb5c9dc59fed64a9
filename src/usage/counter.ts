import type { Pool } from 'pg'
import { createBatches, flushAfterMs } from './batches.ts'

type Usage = 'validations' | 'rejected' | 'activations' | 'deactivations'

/**
 * Counts what is too frequent to be recorded as events. It counts in memory and writes the sums 20 times a
 * second while there are any, so a validate needs no write. A killed process loses the counts of less than 100 ms. A batch that was written
 * without an answer is sent again with the same number, so it counts once.
 */
export type UsageCounter = {
  count(tenantId: string, productId: string, what: Usage): void
  /** Writes the counts; on failure they are kept for the next time. */
  flush(): Promise<void>
  /** Writes for the last time. */
  stop(): Promise<void>
}

/** `hour` is the number of hours since 1970. */
type Counts = { tenantId: string; productId: string; hour: number } & Record<Usage, number>

export function createUsageCounter(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = flushAfterMs,
): UsageCounter {
  let counted = new Map<string, Counts>()
  const take = () => {
    const rows = Array.from(counted.values(), rowOf)
    counted = new Map()
    return rows
  }

  function countIn(tenantId: string, productId: string, hour: number): Counts {
    const key = `${tenantId}.${productId}.${hour}`
    const found = counted.get(key)
    if (found) return found
    const fresh = {
      tenantId,
      productId,
      hour,
      validations: 0,
      rejected: 0,
      activations: 0,
      deactivations: 0,
    }
    counted.set(key, fresh)
    return fresh
  }

  const { askToWrite, ...batches } = createBatches(db, addUsage, take, { onFailure, flushEveryMs })
  return {
    ...batches,
    count(tenantId, productId, what) {
      countIn(tenantId, productId, Math.floor(now().getTime() / hourMs))[what]++
      askToWrite()
    },
  }
}

const hourMs = 3_600_000

const rowOf = ({ tenantId, productId, hour, ...counts }: Counts) => ({
  tenant_id: tenantId,
  product_id: productId,
  hour: new Date(hour * hourMs).toISOString(),
  ...counts,
})

const addUsage = {
  name: 'add-usage',
  text: `
    insert into usage.hourly as h (tenant_id, product_id, hour, validations, rejected, activations, deactivations)
    select tenant_id, product_id, hour, validations, rejected, activations, deactivations
    from json_populate_recordset(null::usage.hourly, $1)
    where exists (select from fresh)
    -- In the same order in every process, so that two of them never wait for each other.
    order by tenant_id, product_id, hour
    on conflict (tenant_id, product_id, hour) do update set
      validations = h.validations + excluded.validations, rejected = h.rejected + excluded.rejected,
      activations = h.activations + excluded.activations, deactivations = h.deactivations + excluded.deactivations`,
}
