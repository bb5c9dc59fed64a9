/** Wakes subscriptions after a commit. It carries no events: subscriptions read them from the log. */
export type CommitSignal = {
  /** Read this before the log and pass it to `after`, so that a commit in between is not missed. */
  readonly version: number
  publish(): void
  /** Resolves when there was a commit after `version`, or when the signal aborts. */
  after(version: number, signal: AbortSignal): Promise<void>
}

export function createCommitSignal(): CommitSignal {
  let current = 0
  let waiting = new Set<() => void>()

  return {
    get version() {
      return current
    },
    publish() {
      current += 1
      const woken = waiting
      waiting = new Set()
      for (const wake of woken) wake()
    },
    after(version, signal) {
      if (version !== current || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake)
      })
    },
  }
}
