import { listRunningTestPurchases } from '../../projections/test-purchases.ts'
import type { Origin } from '../commands/origin.ts'
import { changeTestPurchase, loadTestPurchase } from '../commands/test-purchases.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Stage } from '../domain/test-purchases/events.ts'
import { type KnownTestPurchase, nextStage } from '../domain/test-purchases/test-purchase.ts'
import { ProviderRefused, ProviderUnavailable } from '../payments/errors.ts'
import type { Ports } from '../ports.ts'
import { graceAt } from './confirmations.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/** The result of a stage, in words for the person who watches. */
export type StageOutcome = {
  outcome: 'done' | 'failed'
  detail: string
  /** Whether a retry may succeed, since a service did not respond. Not recorded. */
  mayRecover?: boolean
}

/**
 * Runs one stage of a test purchase. It may be repeated, after a crash or concurrently, and must then have
 * the same result.
 */
export type TestPurchaseDriver = Record<Stage, (purchase: KnownTestPurchase) => Promise<StageOutcome>>

/**
 * Runs the stages of a test purchase in order until it has ended; undefined when there is no such purchase.
 */
export type RunTestPurchase = (
  testPurchaseId: string,
  origin: Origin,
) => Promise<KnownTestPurchase | undefined>

/** Every step is an event, so an interrupted run is continued, and two concurrent runs record one history. */
export function createTestPurchaseRunner(
  ports: Ports<'execute' | 'ledger' | 'now'>,
  driver: TestPurchaseDriver,
): RunTestPurchase {
  return async (testPurchaseId, origin) => {
    const { state } = await loadTestPurchase(ports, testPurchaseId)
    if (state.status === 'absent') return undefined
    let purchase: KnownTestPurchase = state
    for (let stage = nextStage(purchase); stage !== undefined; stage = nextStage(purchase)) {
      const name = stage
      await changeTestPurchase(ports, testPurchaseId, origin, (at) => ({
        type: 'BeginStage',
        stage: name,
        at,
      }))
      const outcome = await outcomeOf(() => driver[name](purchase))
      purchase = await changeTestPurchase(ports, testPurchaseId, origin, (at) => ({
        type: 'EndStage',
        stage: name,
        ...outcome,
        at,
      }))
    }
    return purchase
  }
}

/** A provider that rejects the request or does not respond is a result of the test purchase. */
async function outcomeOf(run: () => Promise<StageOutcome>): Promise<StageOutcome> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ProviderUnavailable) {
      return { outcome: 'failed', detail: `${error.provider} does not respond` }
    }
    if (error instanceof ProviderRefused) {
      return { outcome: 'failed', detail: `${error.provider} rejected the request (${error.reason})` }
    }
    if (error instanceof Refusal) return { outcome: 'failed', detail: `not possible: ${error.code}` }
    throw error
  }
}

/** How long the process that started a test purchase has to run it before another one does. */
const graceMs = 10_000

/** Resumes test purchases whose process died. */
export function resumeTestPurchases(
  ports: Ports<'db' | 'ledger' | 'now'>,
  run: RunTestPurchase,
  onFailure: (failure: Failure) => void,
): Poller {
  return processOf<string>(ports, onFailure, {
    name: 'test-purchases.resume',
    everyMs: 5000,
    due: (wanted) => listRunningTestPurchases(ports.db, graceAt(ports.now(), graceMs), wanted),
    idOf: (testPurchaseId) => testPurchaseId,
    async advance(testPurchaseId) {
      await run(testPurchaseId, originOfProcess())
    },
  })
}
