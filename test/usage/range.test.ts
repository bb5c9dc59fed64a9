/**
 * A range of usage is whole hours or days in UTC, ends with the current one at the latest, and has a limited
 * number of points.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxPoints, pointsIn, usageRange } from '../../src/usage/range.ts'

const now = '2026-03-01T12:30:00.000Z'
type Asked = Parameters<typeof usageRange>[0]

const cases: [what: string, asked: Asked, from: string, to: string, points: number][] = [
  ['nothing', { granularity: 'day' }, '2026-01-31T00:00', '2026-03-02T00:00', 30],
  ['hours', { granularity: 'hour' }, '2026-02-28T13:00', '2026-03-01T13:00', 24],
  [
    'a start within a day',
    { granularity: 'day', from: '2026-02-27T05:00:00.000Z' },
    '2026-02-27T00:00',
    '2026-03-02T00:00',
    3,
  ],
  [
    'whole hours',
    { granularity: 'hour', from: '2026-03-01T10:00:00.000Z', to: '2026-03-01T11:00:00.000Z' },
    '2026-03-01T10:00',
    '2026-03-01T11:00',
    1,
  ],
  [
    'parts of hours',
    { granularity: 'hour', from: '2026-03-01T10:59:59.999Z', to: '2026-03-01T11:00:00.001Z' },
    '2026-03-01T10:00',
    '2026-03-01T12:00',
    2,
  ],
  [
    'only an end',
    { granularity: 'day', to: '2026-02-01T00:00:00.000Z' },
    '2026-01-02T00:00',
    '2026-02-01T00:00',
    30,
  ],
  [
    'an end in the future',
    { granularity: 'hour', from: '2026-03-01T11:00:00.000Z', to: '9999-12-31T23:59:59.999Z' },
    '2026-03-01T11:00',
    '2026-03-01T13:00',
    2,
  ],
  [
    'a start at the current time',
    { granularity: 'hour', from: now },
    '2026-03-01T12:00',
    '2026-03-01T13:00',
    1,
  ],
  [
    'the largest number of points',
    { granularity: 'day', from: '2025-01-26T00:00:00.000Z' },
    '2025-01-26T00:00',
    '2026-03-02T00:00',
    maxPoints,
  ],
]
test.each(cases)('for %s', (_, asked, from, to, points) =>
  expect(usageRange(asked, now)).toStrictEqual({
    from: `${from}:00.000Z`,
    to: `${to}:00.000Z`,
    granularity: asked.granularity,
    points,
  }),
)

describe('there is no range', () => {
  test.each<[string, Asked, string]>([
    [
      'that ends before it starts',
      { granularity: 'day', from: '2026-02-02T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' },
      'empty',
    ],
    [
      'between two times of a day in the wrong order',
      { granularity: 'day', from: '2026-02-01T05:00:00.000Z', to: '2026-02-01T04:00:00.000Z' },
      'empty',
    ],
    [
      'of no length',
      { granularity: 'hour', from: '2026-02-01T05:00:00.000Z', to: '2026-02-01T05:00:00.000Z' },
      'empty',
    ],
    ['in the future', { granularity: 'hour', from: '2026-03-01T13:00:00.000Z' }, 'empty'],
    ['of one day too many', { granularity: 'day', from: '2025-01-25T00:00:00.000Z' }, 'too long'],
    ['of a month by hour', { granularity: 'hour', from: '2026-02-01T00:00:00.000Z' }, 'too long'],
    ['before computers', { granularity: 'day', to: '0000-01-02T00:00:00.000Z' }, 'too early'],
  ])('%s', (_, asked, why) => expect(usageRange(asked, now)).toBe(why))
})

test('any range has a point for each hour or day, and covers the request up to now', () => {
  const moment = fc
    .date({ min: new Date('2025-12-01'), max: new Date('2026-04-01'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const asked = fc.record({
    from: fc.option(moment, { nil: undefined }),
    to: fc.option(moment, { nil: undefined }),
    granularity: fc.constantFrom('hour' as const, 'day' as const),
  })
  fc.assert(
    fc.property(asked, (ask) => {
      const range = usageRange(ask, now)
      if (typeof range === 'string') return
      const moments = pointsIn(range)
      expect(moments).toHaveLength(range.points)
      expect(moments[0]).toBe(range.from)
      const step = ask.granularity === 'hour' ? 3_600_000 : 86_400_000
      const steps = [...moments, range.to].map((at) => Date.parse(at) / step)
      for (const [index, at] of steps.entries()) expect(at).toBe((steps[0] ?? 0) + index)
      if (ask.from !== undefined) expect(range.from <= ask.from).toBe(true)
      if (ask.to !== undefined && ask.to <= now) expect(range.to >= ask.to).toBe(true)
    }),
    { numRuns: 1000 },
  )
})
