import { setTimeout as pause } from 'node:timers/promises'
import type { Ledger } from '../ledger/ledger.ts'
import { readCheckpoint } from './checkpoints.ts'
import { makeReceipt, openProver, type Prover, type Receipt, type ReceiptPorts } from './receipt.ts'
import { isWithheld } from './withheld.ts'

/** An event by its stream and its revision there. */
type EventName = { stream: string; revision: number }

/** `withheld`: the record would tell the hash of a key that can be guessed from it. */
type ReceiptAnswer = Receipt | 'withheld' | undefined

export type Receipts = {
  /**
   * Waits for the checkpoint of a new event, unless no notary has ever run.
   * @returns undefined when no checkpoint covers the event yet, or there is no such event
   */
  waitFor(event: EventName): Promise<ReceiptAnswer>
  /** Opens the last checkpoint, to prove many events. @returns undefined before the first one */
  open(): Promise<Prover | undefined>
}

/** The notary signs once a second; after this time it does not run, or does not keep up. */
const waitMs = 2000
const pollMs = 100

export function createReceipts(
  ports: ReceiptPorts & { ledger: Pick<Ledger, 'eventOf' | 'readStream'> },
): Receipts {
  const isSigned = async () => (await readCheckpoint(ports.db)) !== undefined
  return {
    open: () => openProver(ports),
    async waitFor(event) {
      if (await isWithheld(ports.ledger, event)) return 'withheld'
      for (let waited = 0; ; waited += pollMs) {
        const receipt = await makeReceipt(ports, event)
        if (receipt || waited >= waitMs || !(await isSigned())) return receipt
        await pause(pollMs)
      }
    },
  }
}
