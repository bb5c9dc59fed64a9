import type { Pool } from 'pg'
import { liveSchema } from '../database/pool.ts'
import { startOfLog } from './schema.ts'

/** What the live tables, of any version of keyledger, say about the log that they were built from. */
export type KnownLog = {
  /** Undefined before the log's identity event was applied. */
  ledgerId: string | undefined
  /** Their checkpoint; -1 before the first event. */
  position: bigint
  /** The last applied event of keyledger itself; undefined in tables of a version that did not store it. */
  event: { position: bigint; id: string } | undefined
  /** When they last applied an event. */
  movedAt: string | undefined
}

const nothing: KnownLog = { ledgerId: undefined, position: startOfLog, event: undefined, movedAt: undefined }

type Row = {
  position: bigint
  event_position: string | null
  event_id: string | null
  moved_at: string | null
}

/** Reads it from the live tables; a database without tables has position -1 and no other value. */
export async function readKnownLog(db: Pool): Promise<KnownLog> {
  const { rows: found } = await db.query<{ checkpoint: boolean; ledger: boolean }>(
    'select to_regclass($1) is not null as checkpoint, to_regclass($2) is not null as ledger',
    [`${liveSchema}.checkpoint`, `${liveSchema}.ledger`],
  )
  if (!found[0]?.checkpoint) return nothing
  const { rows } = await db.query<Row>(
    `select position, to_jsonb(c) ->> 'event_position' as event_position, to_jsonb(c) ->> 'event_id' as event_id,
       to_jsonb(c) ->> 'moved_at' as moved_at
     from ${liveSchema}.checkpoint c`,
  )
  const [row] = rows
  if (!row) return nothing
  return {
    ledgerId: found[0].ledger ? await readLedgerId(db) : undefined,
    position: row.position,
    event:
      row.event_position === null || row.event_id === null
        ? undefined
        : { position: BigInt(row.event_position), id: row.event_id },
    movedAt: row.moved_at ?? undefined,
  }
}

async function readLedgerId(db: Pool): Promise<string | undefined> {
  const { rows } = await db.query<{ ledger_id: string }>(`select ledger_id from ${liveSchema}.ledger`)
  return rows[0]?.ledger_id
}
