/** Wakes a worker that waits for work. It is only a hint: a read model holds what is due. */
export type WakeSignal = {
  wake(): void
  /**
   * Resolves at the next wake, or at once if there was one since the last wait, or when the time is up or the
   * signal aborts.
   */
  wait(withinMs: number, signal: AbortSignal): Promise<void>
}

export function createWakeSignal(): WakeSignal {
  let next = Promise.withResolvers<void>()
  return {
    wake: () => next.resolve(),
    async wait(withinMs, signal) {
      const over = Promise.withResolvers<void>()
      const finish = () => over.resolve()
      // A timer with an abort signal would create an error each time, and every command wakes.
      const timer = setTimeout(finish, withinMs)
      signal.addEventListener('abort', finish, { once: true })
      if (signal.aborted) finish()
      await Promise.race([next.promise, over.promise])
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      next = Promise.withResolvers()
    },
  }
}
