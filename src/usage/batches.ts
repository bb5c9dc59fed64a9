import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { createDelayed } from '../async/delayed.ts'

/** Writes sums to a table in batches: each batch of a process is added once, and in order. */
export type Batches = {
  /** Says that there is something to take: it is written soon, with all that is counted until then. */
  askToWrite: () => void
  /** Writes the next batch, or the one that failed last time; on failure it is kept. */
  flush(): Promise<void>
  /** Writes for the last time. */
  stop(): Promise<void>
}

/** How long counts wait in memory: a killed process loses these, and those of the write that is under way. */
export const flushAfterMs = 50

/** How long a batch waits after it could not be written. */
const retryAfterMs = 1000

/**
 * A batch that was written without an answer is sent again with the same number, so it counts once.
 * @param add inserts the rows of its first parameter, as JSON, `where exists (select from fresh)`
 * @param take returns and clears what was counted
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

  /** No later batch is sent until this one is known to be written, because batches must arrive in order. */
  async function write(): Promise<void> {
    const isRepeated = sending !== undefined
    if (sending === undefined) {
      const rows = take()
      if (rows.length === 0) return
      sending = { number: ++batches, rows: JSON.stringify(rows) }
    }
    try {
      await db.query({ ...statement, values: [sending.rows, id, sending.number] })
      sending = undefined
      // What was counted while this batch waited is still there.
      if (isRepeated) writing.ask()
    } catch (error) {
      onFailure(error)
      writing.ask(Math.max(flushEveryMs, retryAfterMs))
    }
  }

  const writing = createDelayed(flushEveryMs, write)

  return {
    askToWrite: () => writing.ask(),
    flush: writing.now,
    async stop() {
      writing.cancel()
      await writing.now()
      // The first flush may have sent a batch that was left over.
      await writing.now()
      if (batches === 0 || sending) return
      await db.query(forgetWriters, [id]).catch(onFailure)
    },
  }
}

/** Adds a batch unless the process has already written one with its number or a later one. */
const freshBatch = `
  with fresh as (
    insert into usage.writers as w (id, batch) values ($2, $3)
    on conflict (id) do update set batch = excluded.batch, written_at = now() where w.batch < excluded.batch
    returning id
  )`

/**
 * Deletes this process's row, and rows of processes killed so long ago that none of their batches can still
 * arrive.
 */
const forgetWriters = `delete from usage.writers where id = $1 or written_at < now() - interval '30 days'`
