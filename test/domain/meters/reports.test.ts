import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountOf } from '../../../src/domain/meters/amount.ts'
import { nextReport, type PlacedLine } from '../../../src/domain/meters/reports.ts'

const line = (revision: number, more: Partial<PlacedLine> = {}): PlacedLine => ({
  kind: 'use',
  amount: '1',
  usedAt: null,
  at: '2026-11-28T10:20:00.000Z',
  revision,
  ...more,
})
const nextHour = { at: '2026-11-28T11:00:00.000Z' }

describe('a report', () => {
  test('is of the uses and commits of an hour, without what was corrected', () => {
    const lines = [
      line(1, { amount: '2.5' }),
      line(2, { kind: 'commit', amount: '3' }),
      line(3, { kind: 'hold', amount: '100' }),
      line(4, { kind: 'credit', amount: '100' }),
      line(5, { kind: 'withdrawal', amount: null }),
      line(6, { kind: 'correction', amount: '0.25', at: '2026-11-28T10:59:59.999Z' }),
      line(7, nextHour),
    ]
    expect(nextReport(lines, 0n)).toStrictEqual({
      revision: 6,
      value: '5.25',
      carried: 0n,
      at: '2026-11-28T10:59:59.999Z',
    })
  })

  test('is of the hour in which something was used, when it was counted later', () => {
    const late = { usedAt: '2026-11-27T09:00:00.000Z' }
    expect(nextReport([line(1, late), line(2)], 0n)).toMatchObject({ revision: 1, at: late.usedAt })
  })

  test('has an event whole, also when its uses are of different hours', () => {
    const lines = [line(1), line(1, { usedAt: '2026-11-27T09:00:00.000Z' }), line(2, nextHour)]
    expect(nextReport(lines, 0n)).toMatchObject({ revision: 1, value: '2' })
  })

  test('takes what was corrected too much off the next ones', () => {
    const first = nextReport([line(1, { kind: 'correction', amount: '3' })], 0n)
    expect(first).toMatchObject({ value: null, carried: amountOf('-3') })
    expect(nextReport([line(2, { amount: '5' })], first?.carried ?? 0n)).toMatchObject({
      value: '2',
      carried: 0n,
    })
  })

  test('has at most 15 significant digits, and carries the others', () => {
    const report = nextReport([line(1, { amount: '123456789012.345678' })], 0n)
    expect(report).toMatchObject({ value: '123456789012.345', carried: amountOf('0.000678') })
  })

  test('is not made without lines', () => {
    expect(nextReport([], 5n)).toBeUndefined()
  })
})

test('all reports together with what is carried are what was used', () => {
  const lines = fc
    .array(
      fc.record({
        kind: fc.constantFrom('use', 'commit', 'correction', 'hold'),
        amount: fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }),
        minutes: fc.nat(3000),
      }),
      { minLength: 1, maxLength: 30 },
    )
    .map((all) =>
      all.map(({ kind, amount, minutes }, revision) => {
        const at = new Date(Date.UTC(2026, 10, 1) + minutes * 60_000).toISOString()
        const text = `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`
        return line(revision, { kind, amount: text, at })
      }),
    )
  fc.assert(
    fc.property(lines, (all) => {
      let left = all
      let reported = 0n
      let carried = 0n
      for (let report = nextReport(left, carried); report; report = nextReport(left, carried)) {
        if (report.value !== null) {
          expect(report.value.replace('.', '').replace(/^0+/, '').length).toBeLessThanOrEqual(15)
          reported += amountOf(report.value)
        }
        carried = report.carried
        const { revision } = report
        left = left.filter((each) => each.revision > revision)
      }
      const signs = { use: 1n, commit: 1n, correction: -1n, hold: 0n }
      const used = all.reduce(
        (sum, { kind, amount }) => sum + (signs[kind as keyof typeof signs] ?? 0n) * amountOf(amount ?? '0'),
        0n,
      )
      expect(reported + carried).toBe(used)
    }),
  )
})
