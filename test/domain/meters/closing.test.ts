/**
 * Guarantee: a period is closed once, when nothing more can count in it, with what was used in it to the last digit; and nothing counts
 * in it after that, whatever the clock of a process says.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountOf } from '../../../src/domain/meters/amount.ts'
import { answersTo, decideMeter, type MeterCommand } from '../../../src/domain/meters/decide.ts'
import type { MeterEvent } from '../../../src/domain/meters/events.ts'
import { evolveMeter, type Meter, unusedMeter } from '../../../src/domain/meters/meter.ts'
import { type Period, periodKinds } from '../../../src/domain/meters/period.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'
import { type MeterText, meterOf, meterText } from '../../../src/domain/meters/text.ts'
import { Refusal } from '../../../src/domain/refusal.ts'

const owner = { tenantId: 'acme', productId: 'api', licenseId: 'lic_1', meter: 'calls', unit: 'calls' }
const issuedAt = '2026-10-15T12:00:00.000Z'
const allowing = (more: object = {}, purchasedAt = issuedAt) => ({
  terms: MeterTerms.parse({
    ...{ meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'allow', thresholds: [] },
    ...more,
  }),
  moments: { issuedAt, purchasedAt },
})
type Allowance = ReturnType<typeof allowing>
let keys = 0
const use = (amount: string, at: string, allowance = allowing(), usedAt?: string) => ({
  ...{ type: 'Consume' as const, owner, allowance, at },
  uses: [{ key: `k${++keys}`, amount: amountOf(amount), usedAt }],
})
const close = (at: string, allowance: Allowance | undefined = allowing()): MeterCommand => ({
  ...{ type: 'ClosePeriods', allowance, at },
})
const meterAfter = (...commands: MeterCommand[]): Meter =>
  commands.reduce(
    (meter, command) =>
      meterOf(
        JSON.parse(
          JSON.stringify(meterText(decideMeter(meter, command).reduce(evolveMeter, meter))),
        ) as MeterText,
      ),
    unusedMeter,
  )
const october = { startsAt: '2026-10-01T00:00:00.000Z', endsAt: '2026-11-01T00:00:00.000Z' }
const inOctober = '2026-10-20T00:00:00.000Z'
const due = '2026-11-08T00:00:00.000Z'

describe('a period of the calendar', () => {
  const used = meterAfter(use('12.5', inOctober))
  test('is closed a week after its end', () => {
    expect(decideMeter(used, close('2026-11-07T23:59:59.999Z'))).toStrictEqual([])
    expect(decideMeter(used, close(due))).toStrictEqual([
      {
        type: 'PeriodClosed',
        data: {
          period: october,
          endedAt: october.endsAt,
          used: '12.5',
          from: { included: '10', overage: '2.5' },
          at: due,
        },
      },
    ])
  })
  test('is closed once, also when the key type has no such meter any more', () => {
    const closed = meterAfter(use('1', inOctober), close(due, undefined))
    expect(closed.closed.through).toBe(october.endsAt)
    expect(decideMeter(closed, close('2027-01-01T00:00:00.000Z'))).toStrictEqual([])
  })
  test('takes no late use after that, of a process whose clock is behind either', () => {
    const closed = meterAfter(use('1', inOctober), close(due))
    const behind = '2026-11-07T23:00:00.000Z'
    expect(answersTo(closed, use('1', behind, allowing(), inOctober))).toMatchObject([
      { allowed: true, late: true, resetsAt: '2026-12-01T00:00:00.000Z' },
    ])
    // By this clock it would be the present one.
    expect(answersTo(closed, use('1', inOctober))).toMatchObject([
      { allowed: true, resetsAt: '2026-12-01T00:00:00.000Z' },
    ])
  })
  test('is closed with what was used before it', () => {
    const days = { period: 'day' }
    const uses = ['2026-10-20', '2026-10-21', '2026-10-22', '2026-10-23'].map((day, index) =>
      use(String(index + 1), `${day}T10:00:00.000Z`, allowing(days)),
    )
    const closed = decideMeter(meterAfter(...uses), close('2026-10-30T12:00:00.000Z', allowing(days)))
    expect(closed.map((event) => event.type === 'PeriodClosed' && event.data.used)).toStrictEqual([
      '1',
      '2',
      '3',
    ])
  })
})

describe('a period by purchase', () => {
  const renewedAt = '2026-11-05T08:00:00.000Z'
  const purchase = (purchasedAt = issuedAt) => allowing({ period: 'purchase' }, purchasedAt)
  const used = meterAfter(use('3', inOctober, purchase()))
  test('is closed at once when the next one begins, and not before', () => {
    expect(decideMeter(used, close('2027-10-20T00:00:00.000Z', purchase()))).toStrictEqual([])
    expect(decideMeter(used, close(renewedAt, purchase(renewedAt)))).toMatchObject([
      { data: { period: { startsAt: issuedAt, endsAt: null }, endedAt: renewedAt, used: '3' } },
    ])
  })
  test('is closed after the holds in it', () => {
    const holding: MeterCommand = {
      ...{ type: 'PlaceHold', holdId: 'h', key: 'h', amount: amountOf('2'), owner, allowance: purchase() },
      ...{ endsAt: '2026-11-05T09:00:00.000Z', at: '2026-11-05T07:59:00.000Z' },
    }
    const held = meterAfter(use('3', inOctober, purchase()), holding)
    expect(decideMeter(held, close(renewedAt, purchase(renewedAt)))).toStrictEqual([])
    const commit: MeterCommand = {
      type: 'CommitHold',
      holdId: 'h',
      amount: amountOf('1'),
      allowance: undefined,
      at: renewedAt,
    }
    const committed = decideMeter(held, commit).reduce(evolveMeter, held)
    expect(decideMeter(committed, close(renewedAt, purchase(renewedAt)))).toMatchObject([
      { data: { used: '4' } },
    ])
    expect(decideMeter(held, close('2026-11-05T09:00:00.000Z', purchase(renewedAt)))).toMatchObject([
      { data: { used: '3' } },
    ])
  })
  test('takes nothing from a process that does not know of the renewal yet', () => {
    const closed = meterAfter(use('3', inOctober, purchase()), close(renewedAt, purchase(renewedAt)))
    const [event] = decideMeter(closed, use('1', renewedAt, purchase()))
    expect(event).toMatchObject({ data: { uses: [{ period: { startsAt: renewedAt, endsAt: null } }] } })
  })
})

test('the life of a license is not closed', () => {
  const life = allowing({ period: 'license' }, '2026-11-05T08:00:00.000Z')
  expect(
    decideMeter(meterAfter(use('3', inOctober, life)), close('2036-01-01T00:00:00.000Z', life)),
  ).toStrictEqual([])
})

const step = fc.record({
  do: fc.constantFrom('use', 'use', 'late', 'correct', 'close', 'renew', 'kind'),
  amount: fc.bigInt({ min: 1n, max: 9_000_000n }),
  hours: fc.integer({ min: 0, max: 300 }),
  /** By how much the clock of the process is behind. */
  behindHours: fc.constantFrom(0, 0, 0, 1, 200),
  kind: fc.constantFrom(...periodKinds),
})

test('over any history, closed periods have what was counted in them, and nothing is added to them', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      let meter = unusedMeter
      let time = Date.parse(issuedAt)
      let [kind, purchasedAt]: [string, string] = ['day', issuedAt]
      // Days and weeks that begin at one moment are one period where the key type changed between them.
      const counted = new Map<string, bigint>()
      const closed = new Set<string>()
      const add = ({ startsAt, endsAt }: Period, by: bigint) => {
        expect(closed.has(`${startsAt} ${endsAt}`)).toBe(false)
        counted.set(startsAt, (counted.get(startsAt) ?? 0n) + by)
      }
      for (const each of steps) {
        time += each.hours * 3_600_000
        const at = new Date(Math.max(Date.parse(issuedAt), time - each.behindHours * 3_600_000)).toISOString()
        if (each.do === 'renew') purchasedAt = new Date(time).toISOString()
        if (each.do === 'kind') kind = each.kind
        const allowance = allowing({ period: kind }, each.behindHours > 0 ? issuedAt : purchasedAt)
        for (const event of decided(meter, commandOf(each, allowance, at))) {
          if (event.type === 'UsesRecorded')
            for (const { period, amount } of event.data.uses) add(period, amountOf(amount))
          if (event.type === 'UseCorrected') add(event.data.period, -amountOf(event.data.amount))
          if (event.type === 'PeriodClosed') {
            const { startsAt, endsAt } = event.data.period
            expect(closed.has(`${startsAt} ${endsAt}`)).toBe(false)
            closed.add(`${startsAt} ${endsAt}`)
            expect(amountOf(event.data.used)).toBe(counted.get(startsAt))
            counted.delete(startsAt)
          }
          meter = evolveMeter(meter, event)
        }
      }
    }),
    { numRuns: 500 },
  )
})

type Step = typeof step extends fc.Arbitrary<infer Of> ? Of : never

function commandOf(each: Step, allowance: Allowance, at: string): MeterCommand {
  const usedAt = new Date(Math.max(Date.parse(issuedAt), Date.parse(at) - 150 * 3_600_000)).toISOString()
  const one = { owner, allowance, at, key: `p${++keys}`, amount: each.amount }
  if (each.do === 'correct') return { ...one, type: 'CorrectUse', reason: 'r' }
  if (each.do === 'close') return { type: 'ClosePeriods', allowance, at }
  return { ...one, type: 'Consume', uses: [{ ...one, usedAt: each.do === 'late' ? usedAt : undefined }] }
}

function decided(meter: Meter, command: MeterCommand): MeterEvent[] {
  try {
    return decideMeter(meter, command)
  } catch (error) {
    if (error instanceof Refusal) return []
    throw error
  }
}
