import { setTimeout } from 'node:timers/promises'
import type { Gate } from './gate.ts'
import type { Ledger } from './ledger.ts'
import { WrongLog } from './log-check.ts'

const pauseMs = 200

/**
 * Keeps the gate open while the connection to the store lasts on which the log was compared, and closes it with that
 * connection: whatever answers afterwards may hold another log. Returns when the signal aborts, or the log is wrong.
 * @param check compares the log with the read models; throws WrongLog when they do not belong together
 * @param onBreak told of each lost connection, once
 * @param onWrong told once, when the gate is shut for good
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
      // A log without an identity would never say anything.
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
