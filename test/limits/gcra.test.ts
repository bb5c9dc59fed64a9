/**
 * In any period at most the burst plus the sustained rate is admitted, and no call is refused that could be
 * admitted: the algorithm is an exact token bucket.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gcraOf, type Rate, spent, waitMs } from '../../src/limits/meter.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

/** Which calls at these times are admitted. */
function admitted(rate: Rate, moments: readonly number[]): boolean[] {
  const gcra = gcraOf(rate)
  let tat = 0
  return moments.map((moment) => {
    if (waitMs(gcra, tat, moment) > 0) return false
    tat = spent(gcra, tat, moment)
    return true
  })
}

/** A textbook token bucket, counted in sixty-thousandths of a unit. */
function bucketAdmits({ perMinute, burst }: Rate, moments: readonly number[]): boolean[] {
  // A millisecond adds `perMinute` parts, and a unit has 60,000 parts: all whole numbers.
  const unit = 60_000
  let level = burst * unit
  let last = moments[0] ?? 0
  return moments.map((moment) => {
    level = Math.min(burst * unit, level + (moment - last) * perMinute)
    last = moment
    if (level < unit) return false
    level -= unit
    return true
  })
}

const anyRate = fc.record({
  // Some rates whose interval is a fraction of a millisecond.
  perMinute: fc.constantFrom(1, 7, 30, 60, 70, 600, 6000, 7000, 12_000),
  burst: fc.integer({ min: 1, max: 50 }),
})
const anyMoments = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 20_000 })), {
    minLength: 1,
    maxLength: 200,
  })
  .map((gaps) => {
    let now = start
    return gaps.map((gap) => {
      now += gap
      return now
    })
  })

test('it admits exactly what a bucket of the same rate admits', () =>
  fc.assert(
    fc.property(anyRate, anyMoments, (rate, moments) => {
      expect(admitted(rate, moments)).toStrictEqual(bucketAdmits(rate, moments))
    }),
    { numRuns: 2000 },
  ))

test('a call is admitted after exactly the returned wait, and not a millisecond earlier', () =>
  fc.assert(
    fc.property(anyRate, anyMoments, (rate, moments) => {
      const gcra = gcraOf(rate)
      let tat = 0
      for (const moment of moments) {
        const wait = waitMs(gcra, tat, moment)
        if (wait === 0) tat = spent(gcra, tat, moment)
        else {
          expect(waitMs(gcra, tat, moment + Math.ceil(wait))).toBe(0)
          if (wait > 1) expect(waitMs(gcra, tat, moment + wait - 1)).toBeGreaterThan(0)
        }
      }
    }),
  ))

describe('600 a minute with a burst of 1200', () => {
  const rate = { perMinute: 600, burst: 1200 }
  test('1200 at one moment, and not one more', () =>
    expect(
      admitted(
        rate,
        Array.from({ length: 1201 }, () => start),
      ),
    ).toStrictEqual([...Array.from({ length: 1200 }, () => true), false]))
  test('then one every 100 ms', () => {
    const gcra = gcraOf(rate)
    let tat = 0
    for (let calls = 0; calls < 1200; calls++) tat = spent(gcra, tat, start)
    expect(waitMs(gcra, tat, start)).toBe(100)
    expect(waitMs(gcra, tat, start + 99)).toBe(1)
    expect(waitMs(gcra, tat, start + 100)).toBe(0)
  })
})
