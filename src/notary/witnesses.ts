import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { repeat } from '../async/repeat.ts'
import { createWakeSignal, type WakeSignal } from '../async/wake-signal.ts'
import { formatVerifierKey } from '../transparency/note/verifier.ts'
import { askWitness, NotCosigned, textOf, type Witness } from './ask-witness.ts'
import { readCheckpoint } from './checkpoints.ts'
import { keepCosignature, keepProblem, listWitnesses, tidyCosignatures } from './cosignatures.ts'
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
