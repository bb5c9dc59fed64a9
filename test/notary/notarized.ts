import { openRawLog } from '../../src/ledger/raw/log.ts'
import { readCheckpoint } from '../../src/notary/checkpoints.ts'
import { followLog } from '../../src/notary/notary.ts'
import type { TestLedger } from '../harness/ledger.ts'
import { signer } from './signer.ts'

/** Runs the notary until its checkpoint covers all events of the log. */
export async function notarizeAll(ledger: TestLedger): Promise<void> {
  const log = openRawLog(ledger.eventStoreUrl)
  const stop = new AbortController()
  let size = 0
  for await (const { events } of log.pages(undefined)) size += events.length
  const options = {
    db: ledger.db,
    log,
    ledger: ledger.ports.ledger,
    signer,
    now: () => new Date(),
    pollMs: 10,
  }
  const running = followLog(options, stop.signal)
  while ((await readCheckpoint(ledger.db))?.size !== size)
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 5))])
  stop.abort()
  await running
  await log.close()
}
