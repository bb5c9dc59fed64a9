import type { Pool } from 'pg'

/** Why nothing is signed. */
export type NotaryTrouble = { message: string; since: string }

/** Records why nothing can be signed, for the health page and `doctor`. A trouble that goes on keeps its beginning. */
export async function recordTrouble(db: Pool, message: string, now: Date): Promise<void> {
  await db.query(
    `insert into notary.trouble (message, since) values ($1, $2)
     on conflict (only_row) do update set message = $1, since = $2 where trouble.message <> $1`,
    [message, now],
  )
}

export async function clearTrouble(db: Pool): Promise<void> {
  await db.query('delete from notary.trouble')
}

export async function readTrouble(db: Pool): Promise<NotaryTrouble | undefined> {
  const { rows } = await db.query<NotaryTrouble>('select message, since from notary.trouble')
  return rows[0]
}
