import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { startEventStore } from '../../../infra/local/eventstore/server.ts'
import { copyLog } from '../../../src/ledger/raw/copy.ts'
import { openRawLog } from '../../../src/ledger/raw/log.ts'
import type { TestLedger } from '../../harness/ledger.ts'
import { startScenario } from '../../projections/scenario.ts'
import { anyStep, everyStep } from '../../projections/steps.ts'

/** Runs commands of every kind, then random ones, until the log has so many events. */
export async function makeHistory(ledger: TestLedger, events: number, seed = 7): Promise<void> {
  const log = openRawLog(ledger.eventStoreUrl)
  const scenario = await startScenario(ledger)
  for (const step of everyStep) await scenario.run(step)
  for (let round = 0; (await lengthOf(log)) < events; round += 1)
    for (const step of fc.sample(anyStep, { numRuns: 100, seed: seed + round })) await scenario.run(step)
  await log.close()
}

async function lengthOf(log: ReturnType<typeof openRawLog>): Promise<number> {
  let length = 0
  for await (const { events } of log.pages(undefined)) length += events.length
  return length
}

/** Copies a log into an event store of its own, and stops that. @returns its directory, which holds `events.sqlite` */
export async function copyToDirectory(url: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const store = await startEventStore({ directory })
  const [source, target] = [openRawLog(url), openRawLog(store.url)]
  try {
    await copyLog(source, target, {
      onProgress: () => undefined,
      onRetry: (error) => {
        throw error
      },
    })
    return directory
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    throw error
  } finally {
    await Promise.all([source.close(), target.close()])
    await store.close()
  }
}
