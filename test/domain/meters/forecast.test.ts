/** Guarantee: a forecast says when a meter is used up if its use goes on as in the last seven days, and nothing when that tells too little. */
import { expect, test } from 'vitest'
import { amountOf } from '../../../src/domain/meters/amount.ts'
import { forecastOf } from '../../../src/domain/meters/forecast.ts'
import { type Meter, unusedMeter } from '../../../src/domain/meters/meter.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'

const at = '2026-12-01T00:00:00.000Z'
const week = { used: amountOf('700'), since: '2026-11-24T00:00:00.000Z' }
const moments = { issuedAt: '2026-10-01T00:00:00.000Z', purchasedAt: '2026-10-01T00:00:00.000Z' }
const allowing = (included: string, period: MeterTerms['period'] = 'license') => ({
  terms: MeterTerms.parse({ meter: 'calls', unit: 'calls', included, period, overage: 'block' }),
  moments,
})
const withCredits = (...credits: [left: string, endsAt: string | null][]): Meter => ({
  ...unusedMeter,
  credits: new Map(
    credits.map(([left, endsAt], index) => [`crd_${index}`, { left: amountOf(left), endsAt }]),
  ),
})
const rate = amountOf('100')

test('at this rate, 2,000 are used up on the 21st', () => {
  expect(forecastOf(undefined, allowing('2000'), week, at)).toStrictEqual({
    perDay: rate,
    usedUpAt: '2026-12-21T00:00:00.000Z',
  })
})

test.each([
  ['3099', '2026-12-31T23:45:36.000Z'],
  ['3100', null],
  ['4000', null],
])('%s of a month that ends with the 31st are used up at %s', (included, usedUpAt) => {
  expect(forecastOf(undefined, allowing(included, 'month'), week, at)).toStrictEqual({
    perDay: rate,
    usedUpAt,
  })
})

test.each<[string, Meter, string]>([
  ['spent after what is included', withCredits(['100', null]), '2026-12-07T00:00:00.000Z'],
  [
    'lost that end before their turn',
    withCredits(['100', '2026-12-03T00:00:00.000Z']),
    '2026-12-06T00:00:00.000Z',
  ],
  [
    'lost in part that end in their turn',
    withCredits(['200', '2026-12-07T00:00:00.000Z']),
    '2026-12-07T00:00:00.000Z',
  ],
  [
    'spent one after the other',
    withCredits(['100', '2026-12-20T00:00:00.000Z'], ['100', null]),
    '2026-12-08T00:00:00.000Z',
  ],
])('with 500 included, credits are %s', (_, meter, usedUpAt) => {
  expect(forecastOf(meter, allowing('500'), week, at)).toStrictEqual({ perDay: rate, usedUpAt })
})

test('what is held is not free', () => {
  const used = { rolledOver: 0n, included: amountOf('100'), credits: new Map(), overage: 0n }
  const period = { startsAt: moments.issuedAt, endsAt: null }
  const hold = {
    amount: used.included,
    from: used,
    period,
    included: amountOf('500'),
    endsAt: '2026-12-01T01:00:00.000Z',
  }
  const meter = { ...unusedMeter, holds: new Map([['hld_1', hold]]) }
  expect(forecastOf(meter, allowing('500'), week, at)?.usedUpAt).toBe('2026-12-05T00:00:00.000Z')
})

test('what lasts for more than ten years has no end', () => {
  expect(forecastOf(undefined, allowing('999999999999'), week, at)).toStrictEqual({
    perDay: rate,
    usedUpAt: null,
  })
})

test('after less than seven days, the days since the first use count', () => {
  const recent = { used: amountOf('300'), since: '2026-11-29T00:00:00.000Z' }
  expect(forecastOf(undefined, allowing('1500'), recent, at)).toStrictEqual({
    perDay: amountOf('150'),
    usedUpAt: '2026-12-11T00:00:00.000Z',
  })
})

test.each([
  ['nothing was ever used', undefined, '500'],
  ['nothing was used lately', { ...week, used: 0n }, '500'],
  ['more was corrected than used', { ...week, used: -1n }, '500'],
  ['the first use was less than a day ago', { ...week, since: '2026-11-30T00:00:00.001Z' }, '500'],
  ['nothing is left', week, '0'],
])('when %s, there is too little to tell', (_, recent, included) => {
  expect(forecastOf(undefined, allowing(included), recent, at)).toBeUndefined()
})
