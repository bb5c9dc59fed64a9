import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { repeat } from '../async/repeat.ts'
import { createWakeSignal, type WakeSignal } from '../async/wake-signal.ts'
import { formatVerifierKey } from '../transparency/note/verifier.ts'
import { askWitness, NotCosigned, textOf, type Witness } from './ask-witness.ts'
import { readCheckpoint, type SignedCheckpoint } from './checkpoints.ts'
import { tileReader } from './tree-store.ts'

export type WitnessesOptions = {
  db: Pool
  witnesses: readonly Witness[]
  now: () => Date
  /** A witness does not cosign; called once for each reason. */
  onProblem: (witness: string, problem: string) => void
  /** After how long a witness is asked again about a checkpoint that it cosigned, so that its time stays recent. */
  refreshMs?: number
  /** How long to wait after the first failure; each further one doubles it. */
  firstPauseMs?: number
}

const maxPauseMs = 60_000

/** Sends checkpoints to witnesses. */
export type WitnessesAsker = {
  /** There is a new checkpoint. Returns at once. */
  wake: () => void
  /** Works until the signal aborts. */
  run: (signal: AbortSignal) => Promise<void>
}

/**
 * Sends each new checkpoint to the witnesses and keeps what they sign. Each is asked on its own: one that does not answer delays
 * neither the others nor the notary. When several checkpoints are signed meanwhile, it gets the last.
 */
export function createWitnessesAsker(options: WitnessesOptions): WitnessesAsker {
  const { witnesses } = options
  const followed = witnesses.map(
    (witness): Followed => ({
      witness,
      name: formatVerifierKey(witness.key),
      checkpoints: createWakeSignal(),
      failures: 0,
      notBefore: 0,
      problem: undefined,
    }),
  )
  return {
    wake() {
      for (const { checkpoints } of followed) checkpoints.wake()
    },
    async run(signal) {
      const names = followed.map(({ name }) => name)
      await Promise.all([
        repeat(() => tidyCosignatures(options.db, names), tidyMs, signal),
        ...followed.map((one) => follow(options, one, signal)),
      ])
    },
  }
}

const tidyMs = 3_600_000

/** A witness, and how it answered last. */
type Followed = {
  witness: Witness
  name: string
  checkpoints: WakeSignal
  failures: number
  /** When it is asked again after a failure, by the clock of `performance`. */
  notBefore: number
  problem: string | undefined
}

async function follow(options: WitnessesOptions, one: Followed, signal: AbortSignal): Promise<void> {
  const { db, onProblem, now, firstPauseMs = 1000, refreshMs = 3_600_000 } = options
  while (!signal.aborted) {
    // New checkpoints do not hasten the next attempt after a failure.
    const waitMs = one.notBefore - performance.now()
    if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => undefined)
    try {
      await askIfDue(options, one, refreshMs, signal)
      Object.assign(one, { failures: 0, notBefore: 0, problem: undefined })
      await one.checkpoints.wait(refreshMs, signal)
    } catch (error) {
      if (signal.aborted) return
      const message = error instanceof Error ? error.message : String(error)
      if (message !== one.problem) onProblem(one.name, message)
      one.problem = message
      one.notBefore = performance.now() + Math.min(maxPauseMs, firstPauseMs * 2 ** one.failures)
      one.failures += 1
      // When the database fails, there is nowhere to keep it.
      if (error instanceof NotCosigned) await keepProblem(db, one.name, message, now()).catch(() => undefined)
    }
  }
}

async function askIfDue(
  { db, now }: WitnessesOptions,
  { witness, name }: Followed,
  refreshMs: number,
  signal: AbortSignal,
): Promise<void> {
  const checkpoint = await readCheckpoint(db)
  if (!checkpoint) return
  const { origin, text } = textOf(checkpoint)
  const known = (await listWitnesses(db)).find((one) => one.witness === name && one.origin === origin)
  const age = known?.cosignedAt ? now().getTime() - Date.parse(known.cosignedAt) : Number.POSITIVE_INFINITY
  if (known?.size === checkpoint.size && known.problem === null && age < refreshMs) return
  const { line, at } = await askWitness(witness, checkpoint, known?.size ?? 0, tileReader(db), signal)
  await keepCosignature(db, { witness: name, origin, size: checkpoint.size, text, line, at })
}

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
async function keepCosignature(
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
async function keepProblem(db: Pool, witness: string, problem: string, now: Date): Promise<void> {
  await db.query(
    `insert into notary.witnesses (witness, problem, problem_since) values ($1, $2, $3)
     on conflict (witness) do update
       set problem_since = case when witnesses.problem is null then $3 else witnesses.problem_since end, problem = $2`,
    [witness, problem, now],
  )
}

/** Forgets witnesses that are no longer configured, and cosignatures whose checkpoints are no longer kept. */
async function tidyCosignatures(db: Pool, witnesses: readonly string[]): Promise<void> {
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
