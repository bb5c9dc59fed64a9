import { causeOf } from '../../src/commands/origin.ts'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import { readCheckpoint } from '../../src/notary/checkpoints.ts'
import { followLog } from '../../src/notary/notary.ts'
import { openSigner } from '../../src/notary/signing-log.ts'
import { type TestLedger, origin as testActor } from './ledger.ts'

export const testOrigin = 'licenses.example.com'

export const testCause = () => causeOf(testActor, new Date().toISOString())

/** A notary that signs the log of a test. */
export type TestNotary = {
  /** Resolves once a checkpoint covers every event. */
  upToDate(): Promise<void>
  stop(): Promise<void>
}

export function startNotary(ledger: TestLedger, origin = testOrigin): TestNotary {
  const { ports, db } = ledger
  const log = openRawLog(ledger.eventStoreUrl)
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async () => {
    while (!signal.aborted) {
      const signer = await openSigner(ports, origin, testCause())
      await followLog({ ...ports, db, log, signer, pollMs: 20 }, signal)
    }
  }
  const running = run()
  const pause = () => new Promise((resolve) => setTimeout(resolve, 10))
  return {
    async upToDate() {
      let size = 0
      for await (const { events } of log.pages(undefined)) size += events.length
      while (((await readCheckpoint(db))?.size ?? 0) < size) await Promise.race([running, pause()])
    },
    async stop() {
      stopping.abort()
      await running
      await log.close()
    },
  }
}
