/**
 * Guarantee: within a process a relay's time goes by the monotonic clock alone; across starts it never goes back; what the
 * certificate's end is compared with is the highest time that any clock showed; and an answer of the vendor corrects both.
 */
import { describe, expect, test } from 'vitest'
import { createRelayClock } from '../../src/relay/clock.ts'
import { testClocks } from './clocks.ts'

const day = 86_400_000

test('a clock that is set forward or back changes nothing while the process runs', () => {
  const time = testClocks()
  const clock = createRelayClock(time.clocks, undefined)
  time.set(day)
  time.pass(1000)
  expect(clock.now()).toBe(time.real)
  expect(clock.aheadMs()).toBe(day)
  time.set(-2 * day)
  time.pass(1000)
  expect(clock.now()).toBe(time.real)
  expect(clock.aheadMs()).toBe(-day)
})

test('the highest time is that of any clock, and does not go back with it', () => {
  const time = testClocks()
  const clock = createRelayClock(time.clocks, undefined)
  time.set(day)
  expect(clock.highest()).toBe(time.real + day)
  time.set(-2 * day)
  expect(clock.highest()).toBe(time.real + day)
})

test('time in which the machine was suspended counts, but not for the ends of seats', () => {
  const time = testClocks()
  const clock = createRelayClock(time.clocks, undefined)
  const before = clock.monotonic()
  time.suspend(3 * 3_600_000)
  expect(clock.now()).toBe(time.real)
  expect(clock.monotonic()).toBe(before)
  time.pass(1000)
  expect(clock.now()).toBe(time.real)
})

describe('at the next start', () => {
  test('a clock that was set back does not bring earlier times back', () => {
    const time = testClocks()
    const first = createRelayClock(time.clocks, undefined)
    time.pass(60_000)
    const known = { now: first.now(), highest: first.highest() }
    time.restart()
    time.set(-day)
    const second = createRelayClock(time.clocks, known)
    expect(second.now()).toBe(known.now)
    expect(second.highest()).toBe(known.highest)
    time.pass(1000)
    expect(second.now()).toBe(known.now + 1000)
  })

  test('a clock that is ahead is believed, until the vendor says what time it is', () => {
    const time = testClocks()
    time.set(day)
    const clock = createRelayClock(time.clocks, { now: time.real, highest: time.real })
    expect(clock.now()).toBe(time.real + day)
    const requestedAt = clock.now()
    time.pass(5000)
    const answeredAt = time.real - 2000
    clock.correct({ from: answeredAt, until: answeredAt + (clock.now() - requestedAt) })
    time.set(-day)
    expect(clock.now()).toBe(time.real + 3000)
    expect(clock.highest()).toBe(time.real + 3000)
  })

  test('a clock that is behind is corrected by the vendor too', () => {
    const time = testClocks()
    time.set(-5 * day)
    const clock = createRelayClock(time.clocks, undefined)
    clock.correct({ from: time.real, until: time.real + 1000 })
    expect(clock.now()).toBe(time.real)
  })
})
