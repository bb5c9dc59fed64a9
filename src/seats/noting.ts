import { repeat } from '../async/repeat.ts'
import type { Ports } from '../ports.ts'

/** How often a process that answers devices notes it: a few notes may fail before that counts as an outage. */
const everyMs = 9000

/**
 * Notes again and again that calls of devices can be answered, so that no floating seat runs out because they could not.
 * @returns stops it, after the note that is under way
 */
export function noteWhileRunning(
  { seatEnds }: Ports<'seatEnds'>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  const done = repeat(() => seatEnds.noteRunning().catch(onFailure), everyMs, stopping.signal)
  return async () => {
    stopping.abort()
    await done
  }
}
