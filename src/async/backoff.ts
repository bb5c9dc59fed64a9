const maxPauseMs = 60_000

/**
 * Delays the retries of failed items, with growing pauses, so that an item that keeps failing neither delays
 * the others nor fills the log.
 */
export type Backoff = {
  failed(id: string): void
  succeeded(id: string): void
  /** The items whose retry is not due yet. */
  waiting(): string[]
  /** How many items have failed. */
  readonly size: number
  /** Forgets all items except those given and those that wait for a retry. */
  retainOnly(due: readonly string[]): void
}

export function createBackoff(now: () => Date): Backoff {
  const failures = new Map<string, { times: number; notBefore: number }>()
  const waiting = () => {
    const time = now().getTime()
    // A wait beyond the maximum comes from a clock that was set back, so it is ignored.
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
