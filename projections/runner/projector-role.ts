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
export async function keepProjecting(
  notices: AsyncIterable<LogEntry>,
  readModels: ReadModels,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let noticed = -1n
  let moving: Promise<void> | undefined
  let over = false

  /** Goes on until it is there: nobody else may come to push. Between tries the read models wait by themselves. */
  async function move(): Promise<void> {
    await setTimeout(graceMs)
    for (let reached = -1n; reached < noticed && !over; ) {
      const target = noticed
      try {
        await readModels.advanceTo(target)
        reached = target
      } catch (error) {
        onFailure(error)
      }
    }
    moving = undefined
  }

  for await (const { position } of notices) {
    noticed = position
    moving ??= move()
  }
  over = true
  await moving
}
