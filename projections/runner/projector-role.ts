import type { LogEntry } from '../../src/domain/recorded.ts'
import type { ReadModels } from './read-models.ts'

/**
 * The always-running projector: on every notice of a new event it moves the read models there. Commands push for
 * themselves, so it matters for what was recorded by somebody who died before pushing. Notices that come while it
 * moves count as one.
 */
export async function keepProjecting(
  notices: AsyncIterable<LogEntry>,
  readModels: ReadModels,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let noticed = -1n
  let moving: Promise<void> | undefined

  async function move(): Promise<void> {
    for (let reached = -1n; reached < noticed; ) {
      const target = noticed
      await readModels.advanceTo(target).catch(onFailure)
      reached = target
    }
    moving = undefined
  }

  for await (const { position } of notices) {
    noticed = position
    moving ??= move()
  }
  await moving
}
