import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'

/** Sums of what was counted, on their way to a table: each batch of a process is added once, and in its order. */
export type Batches = {
  /** Writes what is taken, or what could not be written last time; on failure it is kept. */
  flush(): Promise<void>
  /** Writes for the last time. */
  stop(): Promise<void>
}

/**
 * What was written without an answer is sent again as the same batch, and counts once.
 * @param add inserts the rows of its first parameter, as JSON, `where exists (select from fresh)`
 * @param take what was counted since it was last asked for
 */
export function createBatches(
  db: Pool,
  add: { name: string; text: string },
  take: () => readonly object[],
  { onFailure, flushEveryMs }: { onFailure: (error: unknown) => void; flushEveryMs: number },
): Batches {
  const id = randomUUID()
  const statement = { name: add.name, text: `${freshBatch} ${add.text}` }
  let batches = 0
  let sending: { number: number; rows: string } | undefined
  let flushing = Promise.resolve()

  /** Until it is known to be written, nothing that came later is sent: the batches of a process come in order. */
  async function write(): Promise<void> {
    if (sending === undefined) {
      const rows = take()
      if (rows.length === 0) return
      sending = { number: ++batches, rows: JSON.stringify(rows) }
    }
    try {
      await db.query({ ...statement, values: [sending.rows, id, sending.number] })
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

/** A batch is added unless the process has written one with its number or a later one. */
const freshBatch = `
  with fresh as (
    insert into usage.writers as w (id, batch) values ($2, $3)
    on conflict (id) do update set batch = excluded.batch, written_at = now() where w.batch < excluded.batch
    returning id
  )`

/** Its own, and those of processes that were killed so long ago that nothing of theirs is on its way any more. */
const forgetWriters = `delete from usage.writers where id = $1 or written_at < now() - interval '30 days'`
