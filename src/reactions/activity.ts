/** Longer than any grace that a request has before its process manager continues its work. */
const settledAfterMs = 30_000

/**
 * Whether the log has entries from which work may follow. Everything that is due follows from an entry, at once or after
 * a grace, or at a time that the clock reaches.
 */
export type Activity = {
  /** Receives each new entry of the log. */
  onEntry(): void
  /** No entry has come for longer than any grace, so that only the clock can make something due. */
  isQuiet(): boolean
  /** Calls back at the first entry after a quiet time. */
  onNews(callback: () => void): void
}

export function createActivity(nowMs: () => number = () => performance.now()): Activity {
  let latestMs = nowMs()
  const callbacks: (() => void)[] = []
  const isQuiet = () => nowMs() - latestMs > settledAfterMs
  return {
    onEntry() {
      const wasQuiet = isQuiet()
      latestMs = nowMs()
      if (wasQuiet) for (const callback of callbacks) callback()
    },
    isQuiet,
    onNews: (callback) => void callbacks.push(callback),
  }
}
