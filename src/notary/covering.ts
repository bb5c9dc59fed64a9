import type { Pool } from 'pg'
import type { Ledger } from '../ledger/ledger.ts'

/** A checkpoint that was kept: all of the last day, and one an hour before. */
export type Covering = { size: number; signedAt: string }

/**
 * @param position of the event in the log
 * @returns undefined when no checkpoint covers the event yet
 */
export async function coveringCheckpoint(db: Pool, position: bigint): Promise<Covering | undefined> {
  const { rows } = await db.query<{ size: bigint; signedAt: string }>({
    name: 'notary-covering',
    text: `select size, signed_at as "signedAt" from notary.checkpoints where last_position >= $1
           order by last_position limit 1`,
    values: [position],
  })
  const [row] = rows
  return row && { size: Number(row.size), signedAt: row.signedAt }
}

/** The checkpoints of other positions are useless: they are those of another event store, from which the log was moved. */
export async function forgetOtherPositions(db: Pool, ledger: Pick<Ledger, 'eventOf'>): Promise<void> {
  const { rows } = await db.query<{ stream: string; revision: bigint; position: bigint | null }>(
    `select last_stream as stream, last_revision as revision, last_position as position
     from notary.checkpoints order by size desc limit 1`,
  )
  const [last] = rows
  if (!last) return
  const event = await ledger.eventOf(last.stream, Number(last.revision))
  if (event?.position !== last.position) await db.query('delete from notary.checkpoints')
}

/** @returns the newest checkpoints, newest first */
export async function listCheckpoints(db: Pool, limit: number): Promise<Covering[]> {
  const { rows } = await db.query<{ size: bigint; signedAt: string }>(
    'select size, signed_at as "signedAt" from notary.checkpoints order by size desc limit $1',
    [limit],
  )
  return rows.map(({ size, signedAt }) => ({ size: Number(size), signedAt }))
}
