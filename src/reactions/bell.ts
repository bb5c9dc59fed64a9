/** Wakes whoever waits for something to do. It is only a hint: what is due stands in a read model. */
export type Bell = {
  ring(): void
  /** Resolves at the next ring, or at once after one that nobody waited for; else when the time is over. */
  heard(withinMs: number, signal: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  let next = Promise.withResolvers<void>()
  return {
    ring: () => next.resolve(),
    async heard(withinMs, signal) {
      const over = Promise.withResolvers<void>()
      const finish = () => over.resolve()
      // Not a timer that a signal ends: that makes an error for each, and a bell rings with every command.
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
