import { setTimeout as pause } from 'node:timers/promises'
import { readCheckpoint } from './checkpoints.ts'
import { makeReceipt, openProver, type Prover, type Receipt, type ReceiptPorts } from './receipt.ts'

/** An event by its stream and its revision there. */
type EventName = { stream: string; revision: number }

export type Receipts = {
  /** @returns undefined when no checkpoint covers the event yet, or there is no such event */
  of(event: EventName): Promise<Receipt | undefined>
  /** The same, waiting for the checkpoint of a new event, unless no notary has ever run. */
  waitFor(event: EventName): Promise<Receipt | undefined>
  /** Opens the last checkpoint, to prove many events. @returns undefined before the first one */
  open(): Promise<Prover | undefined>
}

/** The notary signs once a second; after this time it does not run, or does not keep up. */
const waitMs = 2000
const pollMs = 100

export function createReceipts(ports: ReceiptPorts): Receipts {
  const of = (event: EventName) => makeReceipt(ports, event)
  const isSigned = async () => (await readCheckpoint(ports.db)) !== undefined
  return {
    of,
    open: () => openProver(ports),
    async waitFor(event) {
      for (let waited = 0; ; waited += pollMs) {
        const receipt = await of(event)
        if (receipt || waited >= waitMs || !(await isSigned())) return receipt
        await pause(pollMs)
      }
    },
  }
}
