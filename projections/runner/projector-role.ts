import { setTimeout } from 'node:timers/promises'
import type { LogEntry } from '../../src/domain/recorded.ts'
import type { ReadModels } from './read-models.ts'

/** After this time a live process has advanced the read models itself, once for all of its recent appends. */
const graceMs = 50

/**
 * The projector role: advances the read models shortly after each new event, once for all events that arrive meanwhile.
 * Commands advance the read models themselves; the role covers processes that died between an append and that.
 * @param onFailure called when the read models could not advance; the role then tries again
 */
export async function keepReadModelsCurrent(
  events: AsyncIterable<LogEntry>,
  readModels: ReadModels,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let latest = -1n
  let advancing: Promise<void> | undefined
  let ended = false

  /** Retries until the read models have reached the latest event. `advanceTo` itself waits between its attempts. */
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
