import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'

type Usage = 'validations' | 'rejected' | 'activations' | 'deactivations'

/**
 * Counts what is too frequent to be recorded as events, in memory, and writes the sums once a second: counting
 * costs a validate no write of its own. What a killed process had not written yet, at most a second, is lost. What was
 * written without an answer is sent again as the same batch, and counts once.
 */
export type UsageCounter = {
  count(tenantId: string, productId: string, what: Usage): void
  /** Writes what has been counted; on failure it is kept for the next time. */
  flush(): Promise<void>
  /** Writes for the last time. */
  stop(): Promise<void>
}

/** `hour` counts them from 1970. */
type Counts = { tenantId: string; productId: string; hour: number } & Record<Usage, number>

export function createUsageCounter(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 1000,
): UsageCounter {
  const id = randomUUID()
  let counted = new Map<string, Counts>()
  let batches = 0
  let sending: { number: number; rows: string } | undefined
  let flushing = Promise.resolve()

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

  /** Until it is known to be written, nothing that came later is sent: the batches of a process come in order. */
  async function write(): Promise<void> {
    if (sending === undefined && counted.size === 0) return
    if (sending === undefined) {
      sending = { number: ++batches, rows: JSON.stringify(Array.from(counted.values(), rowOf)) }
      counted = new Map()
    }
    try {
      await db.query({ name: 'add-usage', text: addUsage, values: [sending.rows, id, sending.number] })
      sending = undefined
    } catch (error) {
      onFailure(error)
    }
  }

  const flush = () => {
    flushing = flushing.then(write)
    return flushing
  }
  const timer = setInterval(() => void flush(), flushEveryMs)

  return {
    count(tenantId, productId, what) {
      countIn(tenantId, productId, Math.floor(now().getTime() / hourMs))[what]++
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
      // Left over from before, and what came meanwhile.
      await flush()
      if (batches === 0 || sending) return
      await db.query(forgetWriters, [id]).catch(onFailure)
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

/** Adds a batch unless the process has written one with its number or a later one. */
const addUsage = `
  with fresh as (
    insert into usage.writers as w (id, batch) values ($2, $3)
    on conflict (id) do update set batch = excluded.batch, written_at = now() where w.batch < excluded.batch
    returning id
  )
  insert into usage.hourly as h (tenant_id, product_id, hour, validations, rejected, activations, deactivations)
  select tenant_id, product_id, hour, validations, rejected, activations, deactivations
  from json_populate_recordset(null::usage.hourly, $1)
  where exists (select from fresh)
  on conflict (tenant_id, product_id, hour) do update set
    validations = h.validations + excluded.validations, rejected = h.rejected + excluded.rejected,
    activations = h.activations + excluded.activations, deactivations = h.deactivations + excluded.deactivations`

/** Its own, and those of processes that were killed so long ago that nothing of theirs is on its way any more. */
const forgetWriters = `delete from usage.writers where id = $1 or written_at < now() - interval '30 days'`
