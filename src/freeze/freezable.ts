import type { Ledger } from '../ledger/ledger.ts'
import type { AppendGate } from './append-gate.ts'

/** The same ledger, whose appends pass the gate. `append` throws LedgerFrozen besides. */
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
