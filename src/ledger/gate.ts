import { withTimeout } from '../async/timeout.ts'
import { LedgerUnavailable } from './unavailable.ts'

/** Stands before everything that reads or writes the log: it is open while the log is known to be the right one. */
export type Gate = {
  /** For the hot path, which then need not wait. */
  isOpen(): boolean
  /** @throws LedgerUnavailable when it does not open in time; what {@link Gate.fail} was given */
  passed(): Promise<void>
  open(): void
  /** Until it is opened again. */
  close(): void
  /** For good. */
  fail(why: Error): void
}

/** As long as one try of an append may take. */
const openTimeoutMs = 2500

export function createGate(waitMs = openTimeoutMs): Gate {
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
      // Rejected when nobody waits, it is nobody's.
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
