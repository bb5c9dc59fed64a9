const longestPauseMs = 60_000

/**
 * What a reaction has failed on, tried again after longer and longer pauses: one that fails again and again must not
 * keep the others waiting, nor fill the log.
 */
export type SetAside = {
  failed(id: string): void
  succeeded(id: string): void
  /** Those that it is too early to try again. */
  waiting(): string[]
  /** How many are known to have failed. */
  readonly size: number
  /** Forgets what nobody lists as due any more, except those that wait. */
  forgetOthersThan(due: readonly string[]): void
}

export function createSetAside(now: () => Date): SetAside {
  const failures = new Map<string, { times: number; notBefore: number }>()
  const waiting = () => {
    const time = now().getTime()
    // What would wait for longer than anything does was put aside before the clock was set back.
    return [...failures].flatMap(([id, { notBefore }]) =>
      time < notBefore && notBefore <= time + longestPauseMs ? [id] : [],
    )
  }
  return {
    failed(id) {
      const times = (failures.get(id)?.times ?? 0) + 1
      failures.set(id, { times, notBefore: now().getTime() + Math.min(longestPauseMs, 1000 * 2 ** times) })
    },
    succeeded: (id) => void failures.delete(id),
    waiting,
    get size() {
      return failures.size
    },
    forgetOthersThan(due) {
      const kept = new Set([...due, ...waiting()])
      for (const id of failures.keys()) if (!kept.has(id)) failures.delete(id)
    },
  }
}
