import { setTimeout } from 'node:timers/promises'

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
      const over = new AbortController()
      const late = setTimeout(withinMs, undefined, { signal: AbortSignal.any([signal, over.signal]) })
      await Promise.race([next.promise, late.catch(() => undefined)])
      over.abort()
      next = Promise.withResolvers()
    },
  }
}
