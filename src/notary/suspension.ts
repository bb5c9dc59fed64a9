import type { Pool } from 'pg'

/** Why nothing is signed. */
export type Suspension = { message: string; since: string }

/** Records why nothing can be signed, for the health page and `doctor`. One that goes on keeps its beginning. */
export async function recordSuspension(db: Pool, message: string, now: Date): Promise<void> {
  await db.query(
    `insert into notary.trouble (message, since) values ($1, $2)
     on conflict (only_row) do update set message = $1, since = $2 where trouble.message <> $1`,
    [message, now],
  )
}

export async function clearSuspension(db: Pool): Promise<void> {
  await db.query('delete from notary.trouble')
}

export async function readSuspension(db: Pool): Promise<Suspension | undefined> {
  const { rows } = await db.query<Suspension>('select message, since from notary.trouble')
  return rows[0]
}
