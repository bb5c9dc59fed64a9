import { setTimeout } from 'node:timers/promises'
import type { LogEntry } from '../../src/domain/recorded.ts'
import type { ReadModels } from './read-models.ts'

/** Whoever is alive has pushed what they recorded by then, once for all that they recorded in a row. */
const graceMs = 50

/**
 * The always-running projector: a moment after every notice of a new event it moves the read models there. Commands
 * push for themselves, so it matters for what was recorded by somebody who died before pushing. Notices that come
 * meanwhile count as one.
 */
export async function keepReadModelsCurrent(
  events: AsyncIterable<LogEntry>,
  readModels: ReadModels,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let latest = -1n
  let advancing: Promise<void> | undefined
  let ended = false

  /** Goes on until it is there: nobody else may come to push. Between tries the read models wait by themselves. */
  async function advance(): Promise<void> {
    await setTimeout(graceMs)
    for (let reached = -1n; reached < latest && !ended; ) {
      const target = latest
      try {
        await readModels.advanceTo(target)
        reached = target
      } catch (error) {
        onFailure(error)
      }
    }
    advancing = undefined
  }

  for await (const { position } of events) {
    latest = position
    advancing ??= advance()
  }
  ended = true
  await advancing
}
