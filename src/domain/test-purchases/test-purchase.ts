import type { Decider } from '../decider.ts'
import type { Provider } from '../integrations/provider.ts'
import { Refusal } from '../refusal.ts'
import { Stage, type TestPurchaseEvent } from './events.ts'

type StageState = {
  name: Stage
  status: 'pending' | 'running' | 'done' | 'failed'
  /** When it reached this status; null while it is pending. */
  at: string | null
  /** The result in plain words; null until the stage ends. */
  detail: string | null
}

/** A simulated purchase, to check that sales of a product lead to licenses. */
export type TestPurchase =
  | { status: 'absent' }
  | {
      status: 'running' | 'succeeded' | 'failed'
      testPurchaseId: string
      tenantId: string
      productId: string
      keyTypeId: string
      provider: Provider
      stages: readonly StageState[]
      startedAt: string
    }

export type KnownTestPurchase = Exclude<TestPurchase, { status: 'absent' }>

export type TestPurchaseCommand =
  | {
      type: 'StartTestPurchase'
      testPurchaseId: string
      tenantId: string
      productId: string
      keyTypeId: string
      provider: Provider
      at: string
    }
  | { type: 'BeginStage'; stage: Stage; at: string }
  | { type: 'EndStage'; stage: Stage; outcome: 'done' | 'failed'; detail: string; at: string }

export const absentTestPurchase: TestPurchase = { status: 'absent' }

/** The next stage to run; undefined once the purchase has ended. */
export function nextStage(purchase: TestPurchase): Stage | undefined {
  if (purchase.status !== 'running') return undefined
  return purchase.stages.find(({ status }) => status !== 'done')?.name
}

/**
 * A command for another stage than the next one records nothing: another process was faster.
 * @throws Refusal `test_purchase_exists`, `test_purchase_not_found`
 */
export function decideTestPurchase(
  purchase: TestPurchase,
  command: TestPurchaseCommand,
): TestPurchaseEvent[] {
  if (command.type === 'StartTestPurchase') {
    if (purchase.status !== 'absent') throw new Refusal('test_purchase_exists')
    const { type: _, ...data } = command
    return [{ type: 'TestPurchaseStarted', data }]
  }
  if (purchase.status === 'absent') throw new Refusal('test_purchase_not_found')
  const { stage, at } = command
  if (nextStage(purchase) !== stage) return []
  if (command.type === 'BeginStage') {
    const isRunning = purchase.stages.some(({ name, status }) => name === stage && status === 'running')
    return isRunning ? [] : [{ type: 'StageStarted', data: { stage, at } }]
  }
  const { outcome, detail } = command
  return [{ type: outcome === 'done' ? 'StageDone' : 'StageFailed', data: { stage, detail, at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveTestPurchase(purchase: TestPurchase, event: TestPurchaseEvent): TestPurchase {
  if (event.type === 'TestPurchaseStarted') {
    const { at, ...data } = event.data
    const stages = Stage.options.map(
      (name): StageState => ({ name, status: 'pending', at: null, detail: null }),
    )
    return { ...data, status: 'running', stages, startedAt: at }
  }
  if (purchase.status === 'absent') return purchase
  const { stage, at } = event.data
  switch (event.type) {
    case 'StageStarted':
      return withStage(purchase, { name: stage, status: 'running', at, detail: null })
    case 'StageDone': {
      const after = withStage(purchase, { name: stage, status: 'done', at, detail: event.data.detail })
      const ended = after.stages.every(({ status }) => status === 'done')
      return ended ? { ...after, status: 'succeeded' } : after
    }
    case 'StageFailed': {
      const after = withStage(purchase, { name: stage, status: 'failed', at, detail: event.data.detail })
      return { ...after, status: 'failed' }
    }
  }
}

function withStage(purchase: KnownTestPurchase, stage: StageState): KnownTestPurchase {
  const stages = purchase.stages.map((before) => (before.name === stage.name ? stage : before))
  return { ...purchase, stages }
}

/** The rules of test purchase streams. */
export const testPurchases: Decider<TestPurchase, TestPurchaseCommand, 'testpurchase'> = {
  category: 'testpurchase',
  initial: absentTestPurchase,
  decide: decideTestPurchase,
  evolve: evolveTestPurchase,
}
