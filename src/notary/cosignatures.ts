import type { Pool } from 'pg'
import type { SignedCheckpoint } from './checkpoints.ts'

/** A witness that checkpoints are sent to, and how it answered last. */
export type WitnessState = {
  /** The public key of the witness. */
  witness: string
  /** The log and the size of the last checkpoint that it cosigned; null before the first. */
  origin: string | null
  size: number | null
  cosignedAt: string | null
  /** Why it does not cosign now, and since when; null when it does. */
  problem: string | null
  problemSince: string | null
}

/** @returns the note of a checkpoint with the lines of the witnesses that have cosigned it so far */
export async function withCosignatures(
  db: Pool,
  { size, note }: Pick<SignedCheckpoint, 'size' | 'note'>,
): Promise<string> {
  const { rows } = await db.query<{ line: string }>({
    name: 'notary-cosignatures',
    text: 'select line from notary.cosignatures where origin = $1 and size = $2 order by witness',
    values: [note.slice(0, note.indexOf('\n')), size],
  })
  return note + rows.map(({ line }) => line).join('')
}

/**
 * Keeps what a witness has signed. A checkpoint that was removed meanwhile, as those of an earlier log are, gets nothing.
 * @param text the text that was signed
 * @param line of a signed note, with its newline
 */
export async function keepCosignature(
  db: Pool,
  {
    witness,
    origin,
    size,
    text,
    line,
    at,
  }: { witness: string; origin: string; size: number; text: string; line: string; at: Date },
): Promise<void> {
  await db.query(
    `with kept as (
       insert into notary.cosignatures (origin, size, witness, line, cosigned_at)
       select $6, size, $2, $3, $4 from notary.checkpoints where size = $1 and starts_with(note, $5)
       on conflict (origin, size, witness) do update set line = $3, cosigned_at = $4
     )
     insert into notary.witnesses (witness, origin, size, cosigned_at) values ($2, $6, $1, $4)
     on conflict (witness) do update
       set origin = $6, size = $1, cosigned_at = $4, problem = null, problem_since = null`,
    [size, witness, line, at, text, origin],
  )
}

/** Records why a witness does not cosign. A problem that goes on keeps its beginning. */
export async function keepProblem(db: Pool, witness: string, problem: string, now: Date): Promise<void> {
  await db.query(
    `insert into notary.witnesses (witness, problem, problem_since) values ($1, $2, $3)
     on conflict (witness) do update
       set problem_since = case when witnesses.problem is null then $3 else witnesses.problem_since end, problem = $2`,
    [witness, problem, now],
  )
}

/** Forgets witnesses that are no longer configured, and cosignatures whose checkpoints are no longer kept. */
export async function tidyCosignatures(db: Pool, witnesses: readonly string[]): Promise<void> {
  await db.query('delete from notary.witnesses where witness <> all($1)', [witnesses])
  await db.query(
    `delete from notary.cosignatures c where not exists (
       select from notary.checkpoints k where k.size = c.size and starts_with(k.note, c.origin || E'\\n')
     )`,
  )
}

/** How the configured witnesses answered last. */
export async function listWitnesses(db: Pool): Promise<WitnessState[]> {
  const { rows } = await db.query<Omit<WitnessState, 'size'> & { size: string | null }>(
    `select witness, origin, size, cosigned_at as "cosignedAt", problem, problem_since as "problemSince"
     from notary.witnesses order by witness`,
  )
  return rows.map((row) => ({ ...row, size: row.size === null ? null : Number(row.size) }))
}
