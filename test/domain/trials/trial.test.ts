/**
 * A machine's trial of a product starts once in 18 months, with the first report of one, and its start never
 * changes; it ends at start + length, to the second. A hash that too many installs share never counts against
 * a machine.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TrialEvent } from '../../../src/domain/trials/events.ts'
import {
  decideTrial,
  evolveTrial,
  installStates,
  type Trial,
  type TrialCommand,
  trialStatusOf,
  unknownMachine,
} from '../../../src/domain/trials/trial.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: unknownMachine, decide: decideTrial, evolve: evolveTrial })

const at = '2026-03-01T12:00:00.000Z'
const place = { tenantId: 'acme', productId: 'editor' }
const startedAt = (moment: string): TrialEvent => ({ type: 'TrialStarted', data: { ...place, at: moment } })
const foundShared = (moment: string, installs = 21): TrialEvent => ({
  type: 'MachineFoundShared',
  data: { ...place, installs, at: moment },
})
const report: TrialCommand = { ...place, state: 'trial', installs: 1, at }
const trialAfter = (...events: TrialEvent[]): Trial => events.reduce(evolveTrial, unknownMachine)
const unix = (moment: string) => Math.floor(Date.parse(moment) / 1000)

describe('a trial', () => {
  test('starts with the first report of one', () =>
    given()
      .when(report)
      .expectEvents([startedAt(at)]))

  test.each(['free_tier', 'expired'] as const)('does not start with the report %s', (state) =>
    given()
      .when({ ...report, state })
      .expectEvents([]),
  )

  test('starts once', () =>
    given(startedAt(at))
      .when({ ...report, at: '2026-03-02T12:00:00.000Z' })
      .expectEvents([]))

  test('starts at a whole second, as in answers', () =>
    expect(trialStatusOf(trialAfter(startedAt('2026-03-01T12:00:00.999Z')), 14, at)).toStrictEqual({
      startedAt: unix(at),
      alreadyUsed: false,
    }))
})

describe('a trial has run out', () => {
  const usedAt = (started: string, days: number | undefined, now: string) =>
    trialStatusOf(trialAfter(startedAt(started)), days, now)?.alreadyUsed

  test.each([
    // Days are days of 24 hours: no daylight saving, and over a leap day.
    ['2026-03-01T12:00:00.000Z', 14, '2026-03-15T12:00:00.000Z'],
    ['2026-03-29T00:30:00.000Z', 1, '2026-03-30T00:30:00.000Z'],
    ['2028-02-28T23:59:59.000Z', 1, '2028-02-29T23:59:59.000Z'],
    ['2027-02-28T23:59:59.000Z', 1, '2027-03-01T23:59:59.000Z'],
    ['2026-12-31T00:00:00.000Z', 30, '2027-01-30T00:00:00.000Z'],
  ])('started at %s, after %i days, at %s', (started, days, end) => {
    expect(usedAt(started, days, new Date(Date.parse(end) - 1).toISOString())).toBe(false)
    expect(usedAt(started, days, end)).toBe(true)
  })

  test('at once where trials are off', () => expect(usedAt(at, 0, at)).toBe(true))
  test('never where no length is configured: nobody knows', () =>
    expect(usedAt(at, undefined, '2027-08-01T12:00:00.000Z')).toBe(false))
  test('no longer when the vendor makes it longer', () => {
    const now = '2026-03-20T12:00:00.000Z'
    expect(usedAt(at, 14, now)).toBe(true)
    expect(usedAt(at, 30, now)).toBe(false)
  })
})

describe('the trial counts for 18 calendar months', () => {
  test.each([
    ['2026-03-01T12:00:00.000Z', '2027-09-01T12:00:00.000Z'],
    ['2026-08-31T08:00:00.000Z', '2028-02-29T08:00:00.000Z'],
    ['2025-08-31T08:00:00.000Z', '2027-02-28T08:00:00.000Z'],
    ['2024-02-29T08:00:00.000Z', '2025-08-29T08:00:00.000Z'],
    ['2026-12-31T23:59:59.000Z', '2028-06-30T23:59:59.000Z'],
  ])('one of %s until %s, and no millisecond longer', (started, end) => {
    const trial = trialAfter(startedAt(started))
    const after = new Date(Date.parse(end) + 1).toISOString()
    expect(trialStatusOf(trial, 14, end)).toStrictEqual({ startedAt: unix(started), alreadyUsed: true })
    expect(trialStatusOf(trial, 14, after)).toBeUndefined()
    given(startedAt(started))
      .when({ ...report, at: end })
      .expectEvents([])
    given(startedAt(started))
      .when({ ...report, at: after })
      .expectEvents([startedAt(after)])
  })

  test('after that a new trial starts', () => {
    const again = '2027-10-01T12:00:00.000Z'
    expect(trialStatusOf(trialAfter(startedAt(at), startedAt(again)), 14, again)).toStrictEqual({
      startedAt: unix(again),
      alreadyUsed: false,
    })
  })
})

describe('a machine with more than 20 installs', () => {
  test('is noticed at the 21st', () => {
    given(startedAt(at))
      .when({ ...report, installs: 20 })
      .expectEvents([])
    given(startedAt(at))
      .when({ ...report, installs: 21 })
      .expectEvents([foundShared(at)])
  })

  test('is noticed once', () =>
    given(startedAt(at), foundShared(at))
      .when({ ...report, installs: 21 })
      .expectEvents([]))

  test('is noticed with or without a trial', () => {
    given()
      .when({ ...report, state: 'free_tier', installs: 21 })
      .expectEvents([foundShared(at)])
    given()
      .when({ ...report, installs: 21 })
      .expectEvents([startedAt(at), foundShared(at)])
  })

  test('has used no trial, however long ago the first was', () =>
    expect(
      trialStatusOf(trialAfter(startedAt(at), foundShared(at)), 14, '2027-01-01T00:00:00.000Z'),
    ).toStrictEqual({ startedAt: unix(at), alreadyUsed: false }))

  test('without a trial has no trial status', () =>
    expect(trialStatusOf(trialAfter(foundShared(at)), 14, at)).toBeUndefined())
})

test('a machine without reports is unknown', () =>
  expect(trialStatusOf(unknownMachine, 14, at)).toBeUndefined())

describe('over any reports in any order', () => {
  const reports = fc.array(
    fc.record({
      state: fc.constantFrom(...installStates),
      installs: fc.integer({ min: 1, max: 30 }),
      // From one moment to longer than the trial counts.
      afterDays: fc.oneof(fc.double({ min: 0, max: 20, noNaN: true }), fc.integer({ min: 0, max: 700 })),
    }),
    { maxLength: 30 },
  )
  /** Applies the reports. @returns the answer to each */
  function live(
    days: number | undefined,
    told: readonly { state: TrialCommand['state']; installs: number; afterDays: number }[],
  ) {
    let now = Date.parse(at)
    let trial: Trial = unknownMachine
    const events: TrialEvent[] = []
    const answers = told.map(({ state, installs, afterDays }) => {
      now += Math.round(afterDays * 86_400_000)
      const moment = new Date(now).toISOString()
      const decided = decideTrial(trial, { ...place, state, installs, at: moment })
      events.push(...decided)
      trial = decided.reduce(evolveTrial, trial)
      return { at: moment, state, installs, standing: trialStatusOf(trial, days, moment) }
    })
    return { trial, events, answers }
  }
  const anyDays = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined })

  test('a replay of the events gives the same status', () =>
    fc.assert(
      fc.property(anyDays, reports, (days, told) => {
        const { trial, events, answers } = live(days, told)
        const again = trialAfter(...(JSON.parse(JSON.stringify(events)) as TrialEvent[]))
        expect(again).toStrictEqual(trial)
        const last = answers.at(-1)
        if (last) expect(trialStatusOf(again, days, last.at)).toStrictEqual(last.standing)
      }),
    ))

  test('a start never changes while it counts, and two starts are more than 18 months apart', () =>
    fc.assert(
      fc.property(anyDays, reports, (days, told) => {
        const { events, answers } = live(days, told)
        const starts = events.filter(({ type }) => type === 'TrialStarted').map(({ data }) => data.at)
        for (const [index, start] of starts.entries()) {
          const before = starts[index - 1]
          if (before !== undefined)
            expect(Date.parse(start) - Date.parse(before)).toBeGreaterThan(545 * 86_400_000)
        }
        for (const { at: moment, standing } of answers) {
          if (!standing) continue
          const latest = starts.filter((start) => start <= moment).at(-1)
          expect(standing.startedAt).toBe(unix(latest ?? ''))
        }
      }),
    ))

  test('a trial is used only when one has run out, and never where the machine is shared', () =>
    fc.assert(
      fc.property(anyDays, reports, (days, told) => {
        let shared = false
        let first: string | undefined
        for (const { at: moment, state, installs, standing } of live(days, told).answers) {
          shared ||= installs > 20
          if (state === 'trial') first ??= moment
          if (!standing?.alreadyUsed) continue
          expect(shared).toBe(false)
          expect(days).toBeDefined()
          expect(unix(moment)).toBeGreaterThanOrEqual(unix(first ?? '') + (days ?? 0) * 86_400)
        }
      }),
    ))

  test('a repeated report changes nothing', () =>
    fc.assert(
      fc.property(
        reports,
        fc.constantFrom(...installStates),
        fc.integer({ min: 1, max: 30 }),
        (told, state, installs) => {
          const { trial, answers } = live(14, told)
          const command = { ...place, state, installs, at: answers.at(-1)?.at ?? at }
          const after = decideTrial(trial, command).reduce(evolveTrial, trial)
          expect(decideTrial(after, command)).toStrictEqual([])
        },
      ),
    ))
})
