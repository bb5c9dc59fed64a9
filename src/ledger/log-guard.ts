import { withTimeout } from '../async/timeout.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'

/** Guards all reads and writes of the log: it is open while the log is known to be the right one. */
export type LogGuard = {
  /** Lets the hot path skip the wait. */
  isOpen(): boolean
  /**
   * Waits until the guard is open. @throws LedgerUnavailable when it stays closed for too long; the error given
   * to {@link LogGuard.fail}
   */
  passed(): Promise<void>
  open(): void
  /** Closes the guard until `open` is called. */
  close(): void
  /** Closes the guard for good, with the error to throw. */
  fail(why: Error): void
}

/** The same as the time limit of one attempt of an append. */
const openTimeoutMs = 2500

export function createLogGuard(waitMs = openTimeoutMs): LogGuard {
  let opening: PromiseWithResolvers<void> | undefined
  let failure: Error | undefined
  return {
    isOpen: () => opening === undefined,
    async passed() {
      if (failure) throw failure
      if (!opening) return
      await withTimeout(opening.promise, waitMs).catch((error: unknown) => {
        throw failure ?? new LedgerUnavailable('the event store does not respond', error)
      })
    },
    open() {
      if (failure) return
      opening?.resolve()
      opening = undefined
    },
    close() {
      if (opening) return
      opening = Promise.withResolvers()
      // Avoids an unhandled rejection when nothing waits for it.
      opening.promise.catch(() => undefined)
    },
    fail(why) {
      failure = why
      opening ??= Promise.withResolvers()
      opening.promise.catch(() => undefined)
      opening.reject(why)
    },
  }
}
