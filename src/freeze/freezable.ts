import type { Ledger } from '../ledger/ledger.ts'
import type { AppendGate } from './append-gate.ts'

/** Wraps a ledger so that its appends pass the gate. `append` may also throw LedgerFrozen. */
export function freezable(ledger: Ledger, gate: AppendGate): Ledger {
  return {
    ...ledger,
    async append(stream, expected, events, cause) {
      const leave = await gate.enter()
      try {
        return await ledger.append(stream, expected, events, cause)
      } finally {
        leave()
      }
    },
  }
}
