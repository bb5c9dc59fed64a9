import type { Pool } from 'pg'
import type { LimitName } from '../limits/limits.ts'
import { createBatches, flushAfterMs } from './batches.ts'
import { pointsIn, type UsageRange } from './range.ts'

/** Limits whose hits can be attributed to a tenant, which limits per address cannot. */
export type TenantLimit = Extract<
  LimitName,
  | 'management'
  | 'runtime'
  | 'clientTenant'
  | 'clientInstance'
  | 'clientNewInstances'
  | 'checkout'
  | 'evidence'
>

/**
 * Counts 429 answers in memory and writes the sums once a second, so a flood of calls does not cause a write
 * each.
 */
export type LimitHits = {
  count(tenantId: string, limit: TenantLimit): void
  /** Writes the counts; on failure they are kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Hit = { tenant_id: string; limit_name: TenantLimit; hour: string; hits: number }

const hourMs = 3_600_000

export function createLimitHits(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = flushAfterMs,
): LimitHits {
  let counted = new Map<string, Hit>()
  const take = () => {
    const rows = [...counted.values()]
    counted = new Map()
    return rows
  }
  const { askToWrite, ...batches } = createBatches(db, addHits, take, { onFailure, flushEveryMs })
  return {
    ...batches,
    count(tenantId, limit) {
      const hour = Math.floor(now().getTime() / hourMs)
      const key = `${tenantId}.${limit}.${hour}`
      const found = counted.get(key)
      if (found) found.hits++
      else {
        const at = new Date(hour * hourMs).toISOString()
        counted.set(key, { tenant_id: tenantId, limit_name: limit, hour: at, hits: 1 })
      }
      askToWrite()
    },
  }
}

const addHits = {
  name: 'add-limit-hits',
  text: `
    insert into usage.limit_hits as h
    select * from json_populate_recordset(null::usage.limit_hits, $1)
    where exists (select from fresh)
    order by tenant_id, hour, limit_name
    on conflict (tenant_id, hour, limit_name) do update set hits = h.hits + excluded.hits`,
}

export type HitsOfHour = { at: string; hits: Partial<Record<TenantLimit, number>> }

/**
 * Reads how often a tenant's callers were refused, for each hour of a range; hours without hits are included.
 */
export async function readLimitHits(db: Pool, tenantId: string, range: UsageRange): Promise<HitsOfHour[]> {
  const { rows } = await db.query<{ hour: string; name: TenantLimit; hits: bigint }>({
    name: 'read-limit-hits',
    text: `select hour, limit_name as name, hits from usage.limit_hits
           where tenant_id = $1 and hour >= $2 and hour < $3`,
    values: [tenantId, range.from, range.to],
  })
  const found = Map.groupBy(rows, ({ hour }) => hour)
  return pointsIn(range).map((at) => ({
    at,
    hits: Object.fromEntries((found.get(at) ?? []).map(({ name, hits }) => [name, Number(hits)])),
  }))
}
