import { setTimeout } from 'node:timers/promises'

/**
 * Does work at once and again after each pause, until the signal aborts. A failure is left to the next time, so this is for
 * work that may wait, such as removing what is no longer needed.
 */
export async function repeat(
  work: () => Promise<unknown>,
  pauseMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => undefined)
    await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
