import { setTimeout } from 'node:timers/promises'
import type { Gate } from './gate.ts'
import type { Ledger } from './ledger.ts'
import { WrongLog } from './log-check.ts'

const pauseMs = 200

/**
 * Compares the log on each new connection to the store, and keeps the gate open while that connection lasts.
 * After a reconnect the store may hold another log, so the gate closes until the log is compared again. Returns
 * when the signal aborts or the log is wrong.
 * @param check compares the log with the read models; throws WrongLog when they do not match
 * @param onBreak called once for each lost connection
 * @param onWrong called once, when the gate is closed for good
 */
export async function watchLog(
  ledger: Pick<Ledger, 'followIdentity'>,
  gate: Gate,
  check: () => Promise<void>,
  signal: AbortSignal,
  { onBreak, onWrong }: { onBreak: (error: unknown) => void; onWrong: (error: WrongLog) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      // A log without an identity never yields anything here, so it is compared first.
      if (!gate.isOpen()) await check()
      for await (const _ of ledger.followIdentity(signal)) {
        await check()
        gate.open()
      }
      if (gate.isOpen() && !signal.aborted) onBreak(new Error('the event store ended the subscription'))
    } catch (error) {
      if (error instanceof WrongLog) {
        gate.fail(error)
        onWrong(error)
        return
      }
      if (gate.isOpen() && !signal.aborted) onBreak(error)
    }
    if (signal.aborted) return
    gate.close()
    await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
