import type { LogEntry } from '../../src/domain/recorded.ts'
import type { ReadModels } from './read-models.ts'

/**
 * The always-running projector: on every notice of a new event it moves the read models there. Commands push for
 * themselves, so it matters for what was recorded by somebody who died before pushing.
 */
export async function keepProjecting(
  notices: AsyncIterable<LogEntry>,
  readModels: ReadModels,
  onFailure: (error: unknown) => void,
): Promise<void> {
  for await (const { position } of notices) {
    await readModels.advanceTo(position).catch(onFailure)
  }
}
