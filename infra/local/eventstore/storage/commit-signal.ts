/** Wakes subscriptions after a commit. It carries no events: subscriptions read them from the log. */
export class CommitSignal {
  #version = 0
  #waiting = new Set<() => void>()

  /** Read this before the log and pass it to `after`, so that a commit in between is not missed. */
  get version(): number {
    return this.#version
  }

  publish(): void {
    this.#version += 1
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  /** Resolves when there was a commit after `version`, or when the signal aborts. */
  after(version: number, signal: AbortSignal): Promise<void> {
    if (version !== this.#version || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }
}
