/** A test purchase runs each stage once, in order, and ends at the first failure or after the last stage. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Stage, type TestPurchaseEvent } from '../../../src/domain/test-purchases/events.ts'
import {
  absentTestPurchase,
  decideTestPurchase,
  evolveTestPurchase,
  nextStage,
  type TestPurchaseCommand,
} from '../../../src/domain/test-purchases/test-purchase.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentTestPurchase, decide: decideTestPurchase, evolve: evolveTestPurchase })

const at = '2026-03-01T12:00:00.000Z'
const facts = {
  testPurchaseId: 'tp_1',
  tenantId: 'acme',
  productId: 'editor',
  keyTypeId: 'pro',
  provider: 'gumroad',
} as const
const start: TestPurchaseCommand = { type: 'StartTestPurchase', ...facts, at }
const started: TestPurchaseEvent = { type: 'TestPurchaseStarted', data: { ...facts, at } }
const begin = (stage: Stage): TestPurchaseCommand => ({ type: 'BeginStage', stage, at })
const begun = (stage: Stage): TestPurchaseEvent => ({ type: 'StageStarted', data: { stage, at } })
const end = (stage: Stage, outcome: 'done' | 'failed'): TestPurchaseCommand => ({
  type: 'EndStage',
  stage,
  outcome,
  detail: 'why',
  at,
})
const done = (stage: Stage): TestPurchaseEvent => ({ type: 'StageDone', data: { stage, detail: 'why', at } })
const failed = (stage: Stage): TestPurchaseEvent => ({
  type: 'StageFailed',
  data: { stage, detail: 'why', at },
})

test('it starts once', () => {
  given().when(start).expectEvents([started])
  given(started).when(start).expectRefusal('test_purchase_exists')
})

test('a stage begins once and ends once', () => {
  given(started)
    .when(begin('checkout'))
    .expectEvents([begun('checkout')])
  given(started, begun('checkout')).when(begin('checkout')).expectEvents([])
  given(started, begun('checkout'))
    .when(end('checkout', 'done'))
    .expectEvents([done('checkout')])
  given(started, done('checkout')).when(end('checkout', 'done')).expectEvents([])
  given(started, done('checkout')).when(end('checkout', 'failed')).expectEvents([])
})

test('a stage that is not the next one records nothing', () => {
  given(started).when(begin('webhook')).expectEvents([])
  given(started).when(end('license_minted', 'done')).expectEvents([])
  given(started, failed('checkout')).when(begin('webhook')).expectEvents([])
})

test('an absent test purchase refuses every command', () =>
  given().when(begin('checkout')).expectRefusal('test_purchase_not_found'))

test('it succeeds after every stage, and fails at the first failed one', () => {
  const state = (...events: TestPurchaseEvent[]) => events.reduce(evolveTestPurchase, absentTestPurchase)
  const stage = (name: Stage, status: string) => ({
    name,
    status,
    at: status === 'pending' ? null : at,
    detail: status === 'done' || status === 'failed' ? 'why' : null,
  })
  const whole = { ...facts, startedAt: at }
  expect(state(started, begun('checkout'))).toStrictEqual({
    ...whole,
    status: 'running',
    stages: [stage('checkout', 'running'), stage('webhook', 'pending'), stage('license_minted', 'pending')],
  })
  expect(state(started, ...Stage.options.map(done))).toStrictEqual({
    ...whole,
    status: 'succeeded',
    stages: [stage('checkout', 'done'), stage('webhook', 'done'), stage('license_minted', 'done')],
  })
  expect(state(started, done('checkout'), failed('webhook'))).toStrictEqual({
    ...whole,
    status: 'failed',
    stages: [stage('checkout', 'done'), stage('webhook', 'failed'), stage('license_minted', 'pending')],
  })
})

test('for any commands in any order, stages are done in order and none after a failure', () => {
  const command = fc.oneof(
    fc.constantFrom(...Stage.options).map(begin),
    fc
      .record({ stage: fc.constantFrom(...Stage.options), outcome: fc.constantFrom('done', 'failed') })
      .map(({ stage, outcome }) => end(stage, outcome as 'done' | 'failed')),
  )
  fc.assert(
    fc.property(fc.array(command), (commands) => {
      let state = evolveTestPurchase(absentTestPurchase, started)
      for (const each of commands) state = decideTestPurchase(state, each).reduce(evolveTestPurchase, state)
      if (state.status === 'absent') throw new Error('it was started')
      const statuses = state.stages.map(({ status }) => status)
      expect(statuses.join(' ')).toMatch(/^(done ?)*((running|failed|pending) ?)?(pending ?)*$/)
      expect(state.status).toBe(
        statuses.includes('failed')
          ? 'failed'
          : statuses.every((s) => s === 'done')
            ? 'succeeded'
            : 'running',
      )
      expect(nextStage(state) === undefined).toBe(state.status !== 'running')
    }),
  )
})
