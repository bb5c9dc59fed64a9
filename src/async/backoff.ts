const maxPauseMs = 60_000

/**
 * What a reaction has failed on, to be retried after longer and longer pauses: an item that keeps failing must not delay the
 * others, nor fill the log.
 */
export type Backoff = {
  failed(id: string): void
  succeeded(id: string): void
  /** The items that it is too early to retry. */
  waiting(): string[]
  /** How many are known to have failed. */
  readonly size: number
  /** Forgets all but the items that are due, and those that wait. */
  retainOnly(due: readonly string[]): void
}

export function createBackoff(now: () => Date): Backoff {
  const failures = new Map<string, { times: number; notBefore: number }>()
  const waiting = () => {
    const time = now().getTime()
    // What would wait for longer than anything does was put aside before the clock was set back.
    return [...failures].flatMap(([id, { notBefore }]) =>
      time < notBefore && notBefore <= time + maxPauseMs ? [id] : [],
    )
  }
  return {
    failed(id) {
      const times = (failures.get(id)?.times ?? 0) + 1
      failures.set(id, { times, notBefore: now().getTime() + Math.min(maxPauseMs, 1000 * 2 ** times) })
    },
    succeeded: (id) => void failures.delete(id),
    waiting,
    get size() {
      return failures.size
    },
    retainOnly(due) {
      const kept = new Set([...due, ...waiting()])
      for (const id of failures.keys()) if (!kept.has(id)) failures.delete(id)
    },
  }
}
