/** A replay advances step by step, each recorded once, and ends once: finished or canceled. */
import { expect, test } from 'vitest'
import type { ReplayEvent } from '../../../src/domain/replays/events.ts'
import {
  absentReplay,
  decideReplay,
  evolveReplay,
  type ReplayCommand,
} from '../../../src/domain/replays/replay.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentReplay, decide: decideReplay, evolve: evolveReplay })
const at = '2026-03-01T12:00:00.000Z'
const facts = {
  replayId: 'whr_1',
  tenantId: 'acme',
  endpointId: 'first',
  from: '2026-02-01T00:00:00.000Z',
  to: at,
  events: ['license.created'],
  only: 'failed',
  total: 3,
  at,
} satisfies Extract<ReplayEvent, { type: 'ReplayRequested' }>['data']
const requested: ReplayEvent = { type: 'ReplayRequested', data: facts }
const place = (revision: number) => ({ licenseId: 'lic_1', revision, at })
const advanced = (revision: number): ReplayEvent => ({
  type: 'ReplayAdvanced',
  data: { through: place(revision), count: 2, at },
})
const paused: ReplayEvent = { type: 'ReplayPaused', data: { at } }
const resumed: ReplayEvent = { type: 'ReplayResumed', data: { at } }
const finished: ReplayEvent = { type: 'ReplayFinished', data: { at } }
const canceled: ReplayEvent = { type: 'ReplayCanceled', data: { reason: 'requested', at } }
const step = (after: number | null, through: number | null, isLast = false): ReplayCommand => ({
  type: 'AdvanceReplay',
  after: after === null ? null : place(after),
  through: through === null ? null : place(through),
  count: through === null ? 0 : 2,
  isLast,
  at,
})

test('is requested once', () => {
  given()
    .when({ type: 'RequestReplay', ...facts })
    .expectEvents([requested])
  given(requested)
    .when({ type: 'RequestReplay', ...facts })
    .expectEvents([])
})

test('a step is recorded once, also when two processes take it', () => {
  given(requested)
    .when(step(null, 4))
    .expectEvents([advanced(4)])
  given(requested, advanced(4)).when(step(null, 4)).expectEvents([])
  given(requested, advanced(4))
    .when(step(4, 9, true))
    .expectEvents([advanced(9), finished])
})

test('it ends when nothing is left', () =>
  given(requested)
    .when(step(null, null, true))
    .expectEvents([finished]))

test('a step that was under way when it was paused counts, and does not end it', () => {
  given(requested, paused)
    .when(step(null, 4, true))
    .expectEvents([advanced(4)])
  given(requested, canceled)
    .when(step(null, 4, true))
    .expectEvents([])
})

test('pausing, resuming and canceling twice is once', () => {
  given(requested).when({ type: 'PauseReplay', at }).expectEvents([paused])
  given(requested, paused).when({ type: 'PauseReplay', at }).expectEvents([])
  given(requested, paused).when({ type: 'ResumeReplay', at }).expectEvents([resumed])
  given(requested, paused, resumed).when({ type: 'ResumeReplay', at }).expectEvents([])
  given(requested).when({ type: 'CancelReplay', reason: 'requested', at }).expectEvents([canceled])
  given(requested, canceled).when({ type: 'CancelReplay', reason: 'requested', at }).expectEvents([])
})

test('what has ended is not changed', () => {
  given(requested, finished).when({ type: 'PauseReplay', at }).expectRefusal('webhook_replay_ended')
  given(requested, canceled).when({ type: 'ResumeReplay', at }).expectRefusal('webhook_replay_ended')
  given(requested, finished)
    .when({ type: 'CancelReplay', reason: 'requested', at })
    .expectRefusal('webhook_replay_ended')
  given().when({ type: 'PauseReplay', at }).expectRefusal('webhook_replay_not_found')
})

test('it counts what it made due again', () =>
  expect([requested, advanced(4), advanced(9)].reduce(evolveReplay, absentReplay)).toMatchObject({
    status: 'running',
    done: 4,
    through: place(9),
  }))
