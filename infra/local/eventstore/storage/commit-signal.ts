/** Wakes whoever follows the log when something was committed. It carries no events: those are read again. */
export class CommitSignal {
  #version = 0
  #waiting = new Set<() => void>()

  /** To be read before the log is, and handed to `after`: what is committed in between is then not missed. */
  get version(): number {
    return this.#version
  }

  publish(): void {
    this.#version += 1
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  /** Resolves as soon as there was a commit after `version`, or when the signal aborts. */
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
