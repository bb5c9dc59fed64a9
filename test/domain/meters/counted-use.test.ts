/** Guarantee: each use has a moment in the period that it counts in, so that the days of a period add up to what was counted in it. */
import { expect, test } from 'vitest'
import { countedUse } from '../../../src/domain/meters/counted-use.ts'
import type { Line } from '../../../src/domain/meters/lines.ts'

const april = { startsAt: '2026-04-01T00:00:00.000Z', endsAt: '2026-05-01T00:00:00.000Z' }
const line: Line = {
  kind: 'use',
  key: 'a',
  amount: '2.5',
  from: { included: '2', overage: '0.5' },
  period: april,
  endsAt: null,
  subjectId: null,
  licenseId: null,
  usedAt: null,
  late: false,
  note: null,
  at: '2026-04-10T12:00:00.000Z',
}
const counted = { at: line.at, used: 2_500_000n, overage: 500_000n }
const inMay = '2026-05-01T00:00:05.000Z'

test.each<[string, Partial<Line>, object | undefined]>([
  ['a use', {}, counted],
  ['a commit', { kind: 'commit' }, counted],
  ['a correction', { kind: 'correction' }, { ...counted, used: -2_500_000n, overage: -500_000n }],
  ['a hold', { kind: 'hold' }, undefined],
  ['a credit', { kind: 'credit', period: null, from: null }, undefined],
  ['a withdrawal', { kind: 'withdrawal', period: null, from: null, amount: null }, undefined],
  ['a late use', { usedAt: '2026-04-02T00:00:00.000Z' }, { ...counted, at: '2026-04-02T00:00:00.000Z' }],
  [
    'a late use in its own period',
    { usedAt: '2026-04-30T23:00:00.000Z', at: inMay },
    { ...counted, at: '2026-04-30T23:00:00.000Z' },
  ],
  ['a late use in the present period', { usedAt: '2026-03-30T00:00:00.000Z', late: true }, counted],
  ['a use of a clock that is ahead', { usedAt: '2026-04-10T12:04:00.000Z' }, counted],
  [
    'a commit in the period after',
    { kind: 'commit', at: inMay },
    { ...counted, at: '2026-04-30T23:59:59.999Z' },
  ],
  ['a use of a period without an end', { period: { ...april, endsAt: null } }, counted],
])('%s', (_, change, expected) => {
  expect(countedUse({ ...line, ...change })).toStrictEqual(expected)
})
