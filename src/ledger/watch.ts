import { setTimeout } from 'node:timers/promises'
import type { Ledger } from './ledger.ts'
import { WrongLog } from './log-check.ts'
import type { LogGuard } from './log-guard.ts'

const pauseMs = 200

/**
 * Compares the log on each new connection to the store, and keeps the guard open while that connection lasts.
 * After a reconnect the store may hold another log, so the guard closes until the log is compared again. Returns
 * when the signal aborts or the log is wrong.
 * @param check compares the log with the read models; throws WrongLog when they do not match
 * @param onBreak called once for each lost connection
 * @param onWrong called once, when the guard is closed for good
 */
export async function watchLog(
  ledger: Pick<Ledger, 'followIdentity'>,
  guard: LogGuard,
  check: () => Promise<void>,
  signal: AbortSignal,
  { onBreak, onWrong }: { onBreak: (error: unknown) => void; onWrong: (error: WrongLog) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      // A log without an identity never yields anything here, so it is compared first.
      if (!guard.isOpen()) await check()
      for await (const _ of ledger.followIdentity(signal)) {
        await check()
        guard.open()
      }
      if (guard.isOpen() && !signal.aborted) onBreak(new Error('the event store ended the subscription'))
    } catch (error) {
      if (error instanceof WrongLog) {
        guard.fail(error)
        onWrong(error)
        return
      }
      if (guard.isOpen() && !signal.aborted) onBreak(error)
    }
    if (signal.aborted) return
    guard.close()
    await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
