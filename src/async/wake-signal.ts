/** Wakes a worker that waits for something to do. It is only a hint: what is due is in a read model. */
export type WakeSignal = {
  wake(): void
  /** Resolves at the next wake, or at once after one that no worker waited for; else when the time is over. */
  wait(withinMs: number, signal: AbortSignal): Promise<void>
}

export function createWakeSignal(): WakeSignal {
  let next = Promise.withResolvers<void>()
  return {
    wake: () => next.resolve(),
    async wait(withinMs, signal) {
      const over = Promise.withResolvers<void>()
      const finish = () => over.resolve()
      // Not a timer that a signal ends: that makes an error for each, and every command wakes.
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
