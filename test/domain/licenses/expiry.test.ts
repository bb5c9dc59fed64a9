/**
 * A license expires on the same day of a later month or year, at the same second in UTC; a day that the month
 * lacks becomes its last day.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expiryAfter, unixSeconds, wholeSeconds } from '../../../src/domain/licenses/expiry.ts'
import type { Duration } from '../../../src/domain/products/key-type.ts'

describe('the end of a license', () => {
  test.each<[string, number, Duration['unit'], string]>([
    ['2026-03-01T12:00:00.000Z', 1, 'day', '2026-03-02T12:00:00.000Z'],
    ['2026-12-31T23:59:59.000Z', 1, 'day', '2027-01-01T23:59:59.000Z'],
    ['2026-03-01T12:00:00.000Z', 365, 'day', '2027-03-01T12:00:00.000Z'],
    ['2028-02-28T12:00:00.000Z', 1, 'day', '2028-02-29T12:00:00.000Z'],
    ['2026-03-15T12:00:00.000Z', 1, 'month', '2026-04-15T12:00:00.000Z'],
    ['2026-11-30T12:00:00.000Z', 2, 'month', '2027-01-30T12:00:00.000Z'],
    ['2026-03-15T12:00:00.000Z', 1, 'year', '2027-03-15T12:00:00.000Z'],
    ['2026-03-15T12:00:00.000Z', 1000, 'year', '3026-03-15T12:00:00.000Z'],
  ])('%s + %i %s is %s', (from, count, unit, end) => expect(expiryAfter(from, { count, unit })).toBe(end))

  test.each<[string, number, Duration['unit'], string]>([
    ['2026-01-31T12:00:00.000Z', 1, 'month', '2026-02-28T12:00:00.000Z'],
    ['2028-01-31T12:00:00.000Z', 1, 'month', '2028-02-29T12:00:00.000Z'],
    ['2026-01-29T12:00:00.000Z', 1, 'month', '2026-02-28T12:00:00.000Z'],
    ['2026-03-31T12:00:00.000Z', 1, 'month', '2026-04-30T12:00:00.000Z'],
    ['2026-05-31T12:00:00.000Z', 13, 'month', '2027-06-30T12:00:00.000Z'],
    ['2026-12-31T12:00:00.000Z', 2, 'month', '2027-02-28T12:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', 1, 'year', '2029-02-28T12:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', 4, 'year', '2032-02-29T12:00:00.000Z'],
    ['2096-02-29T12:00:00.000Z', 4, 'year', '2100-02-28T12:00:00.000Z'],
  ])('a day that the month lacks becomes its last one: %s + %i %s is %s', (from, count, unit, end) =>
    expect(expiryAfter(from, { count, unit })).toBe(end),
  )

  test('falls on a whole second, the one in which the license was issued', () => {
    for (const unit of ['day', 'month', 'year'] as const) {
      expect(expiryAfter('2026-03-01T12:00:00.999Z', { count: 1, unit })).toMatch(/T12:00:00\.000Z$/)
    }
  })

  test('a year is twelve months', () =>
    fc.assert(
      fc.property(starts, fc.integer({ min: 1, max: 80 }), (from, count) => {
        const inMonths = expiryAfter(from, { count: count * 12, unit: 'month' })
        expect(expiryAfter(from, { count, unit: 'year' })).toBe(inMonths)
      }),
    ))

  test('is after the start, and names one moment in text and in Unix seconds', () =>
    fc.assert(
      fc.property(starts, durations, (from, duration) => {
        const end = expiryAfter(from, duration)
        expect(end > from).toBe(true)
        expect(new Date(unixSeconds(end) * 1000).toISOString()).toBe(end)
      }),
    ))

  test('is later for every unit more', () =>
    fc.assert(
      fc.property(starts, durations, (from, duration) => {
        const longer = { ...duration, count: duration.count + 1 }
        expect(expiryAfter(from, longer) > expiryAfter(from, duration)).toBe(true)
      }),
    ))

  test('is never earlier for a license issued days later', () =>
    fc.assert(
      fc.property(starts, fc.integer({ min: 0, max: 400 }), durations, (from, days, duration) => {
        const start = new Date(from)
        start.setUTCDate(start.getUTCDate() + days)
        expect(expiryAfter(start.toISOString(), duration) >= expiryAfter(from, duration)).toBe(true)
      }),
    ))

  test('does not depend on the time zone of the machine', () => {
    const zone = process.env.TZ
    const ends = (where: string) => {
      process.env.TZ = where
      return ['2026-03-07T07:30:00.000Z', '2026-10-24T22:30:00.000Z', '2026-02-28T23:30:00.000Z'].flatMap(
        (from) => (['day', 'month', 'year'] as const).map((unit) => expiryAfter(from, { count: 1, unit })),
      )
    }
    try {
      expect(ends('America/New_York')).toStrictEqual(ends('UTC'))
      expect(new Date(2026, 0).getTimezoneOffset()).toBe(0)
      expect(ends('Pacific/Kiritimati')).toStrictEqual(ends('UTC'))
      expect(ends('Europe/Berlin')).toStrictEqual(ends('UTC'))
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  test('keeps the day of the month, or takes the last one of a shorter month', () =>
    fc.assert(
      fc.property(starts, fc.integer({ min: 1, max: 999 }), (from, count) => {
        const end = new Date(expiryAfter(from, { count, unit: 'month' }))
        const dayAfter = new Date(end)
        dayAfter.setUTCDate(end.getUTCDate() + 1)
        const day = new Date(from).getUTCDate()
        const sameDay = end.getUTCDate() === day
        expect(sameDay || (end.getUTCDate() < day && dayAfter.getUTCDate() === 1)).toBe(true)
        const months = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth()
        expect(months(end) - months(new Date(from))).toBe(count)
      }),
    ))
})

const starts = fc
  .date({
    min: new Date('1970-01-01T00:00:00.000Z'),
    max: new Date('2999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString())

const durations: fc.Arbitrary<Duration> = fc.record({
  count: fc.integer({ min: 1, max: 999 }),
  unit: fc.constantFrom('day', 'month', 'year'),
})

test('the whole second of a moment is the one it lies in', () => {
  expect(wholeSeconds('2026-03-01T12:00:00.000Z')).toBe('2026-03-01T12:00:00.000Z')
  expect(wholeSeconds('2026-03-01T12:00:00.999Z')).toBe('2026-03-01T12:00:00.000Z')
  expect(wholeSeconds('2026-03-01T14:00:00+02:00')).toBe('2026-03-01T12:00:00.000Z')
})

test('Unix seconds are rounded down', () => {
  expect(unixSeconds('1970-01-01T00:00:01.999Z')).toBe(1)
  expect(unixSeconds('2026-03-01T12:00:00.000Z')).toBe(1_772_366_400)
})
