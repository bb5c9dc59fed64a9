/**
 * Guarantee: a threshold is announced once in a period, with the use that reaches it, and again only after the share was below it. What
 * is announced is what a plain model announces that knows nothing but sums.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Amount, amountOf, amountText } from '../../../src/domain/meters/amount.ts'
import { decideMeter, type MeterCommand } from '../../../src/domain/meters/decide.ts'
import type { MeterEvent } from '../../../src/domain/meters/events.ts'
import { evolveMeter, type Meter, unusedMeter } from '../../../src/domain/meters/meter.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'
import { type MeterText, meterOf, meterText } from '../../../src/domain/meters/text.ts'

const owner = { tenantId: 'acme', productId: 'api', licenseId: 'lic_1', meter: 'calls', unit: 'calls' }
const issuedAt = '2026-10-15T12:00:00.000Z'
const at = '2026-11-10T09:30:00.000Z'
const soon = '2026-11-10T10:30:00.000Z'
const allowing = (more: object = {}) => ({
  terms: MeterTerms.parse({
    ...{ meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' },
    ...more,
  }),
  moments: { issuedAt, purchasedAt: issuedAt },
})
type Allowance = ReturnType<typeof allowing>

let keys = 0
const told = (allowance: Allowance, now = at) => ({ owner, allowance, at: now, key: `k${++keys}` })
const use = (amount: string, allowance = allowing(), now = at, usedAt?: string): MeterCommand => {
  const one = { ...told(allowance, now), amount: amountOf(amount) }
  return { ...one, type: 'Consume', uses: [{ key: one.key, amount: one.amount, usedAt }] }
}
const hold = (holdId: string, amount: string, allowance = allowing()): MeterCommand => ({
  ...{ type: 'PlaceHold', holdId, amount: amountOf(amount), endsAt: soon, ...told(allowance) },
})
const commit = (
  holdId: string,
  amount: string,
  allowance: Allowance | undefined = allowing(),
): MeterCommand => ({
  ...{ type: 'CommitHold', holdId, amount: amountOf(amount), allowance, at },
})
const credit = (creditId: string, amount: string, allowance = allowing()): MeterCommand => ({
  ...{ type: 'AddCredit', creditId, amount: amountOf(amount), endsAt: null, order: null, ...told(allowance) },
})
const withdraw = (creditId: string, allowance = allowing()): MeterCommand => ({
  ...{ type: 'WithdrawCredit', creditId, reason: 'refunded', allowance, at },
})
const correct = (amount: string, allowance = allowing()): MeterCommand => ({
  ...{ type: 'CorrectUse', amount: amountOf(amount), reason: 'twice', ...told(allowance) },
})

/** The meter as a read model keeps it between two commands. */
const stored = (meter: Meter): Meter => meterOf(JSON.parse(JSON.stringify(meterText(meter))) as MeterText)

/** The events of the last of these commands. */
function last(...commands: MeterCommand[]): MeterEvent[] {
  let meter = unusedMeter
  let decided: MeterEvent[] = []
  for (const command of commands) {
    decided = decideMeter(meter, command)
    meter = stored(decided.reduce(evolveMeter, meter))
  }
  return decided
}
const percentsIn = (events: readonly MeterEvent[]) =>
  events.flatMap((event) => (event.type === 'ThresholdReached' ? [event.data.percent] : []))
const announcedBy = (...commands: MeterCommand[]) => percentsIn(last(...commands))

describe('a threshold', () => {
  test('is recorded with the use that reaches it', () => {
    expect(last(use('7'), use('1.5'))).toStrictEqual([
      expect.objectContaining({ type: 'UsesRecorded' }),
      {
        type: 'ThresholdReached',
        data: {
          percent: 80,
          used: '8.5',
          remaining: '1.5',
          overage: '0',
          period: { startsAt: '2026-11-01T00:00:00.000Z', endsAt: '2026-12-01T00:00:00.000Z' },
          at,
        },
      },
    ])
  })
  test('is not reached by less', () => expect(announcedBy(use('7.999999'))).toStrictEqual([]))
  test('is announced once in a period', () => expect(announcedBy(use('8'), use('1'))).toStrictEqual([]))
  test('is announced with others that the same use reaches', () =>
    expect(announcedBy(use('10'))).toStrictEqual([80, 100]))
  test('is announced again in the next period', () =>
    expect(announcedBy(use('9'), use('9', allowing(), '2026-12-10T00:00:00.000Z'))).toStrictEqual([80]))
  test('counts in the period of a late use', () => {
    const october = '2026-10-31T20:00:00.000Z'
    const events = last(use('5'), use('8', allowing(), '2026-11-02T00:00:00.000Z', october))
    expect(events.at(-1)).toMatchObject({
      type: 'ThresholdReached',
      data: { percent: 80, period: { endsAt: '2026-11-01T00:00:00.000Z' } },
    })
  })
  test('is reached by the commit of a hold and not by its placing', () => {
    expect(announcedBy(use('5'), hold('h', '5'))).toStrictEqual([])
    expect(announcedBy(use('5'), hold('h', '5'), commit('h', '3'))).toStrictEqual([80])
    expect(announcedBy(use('5'), hold('h', '5'), commit('h', '2'))).toStrictEqual([])
  })
  test('is none under a meter that the key type no longer has', () =>
    expect(
      percentsIn(
        last(hold('h', '10'), { type: 'CommitHold', holdId: 'h', amount: 10n, allowance: undefined, at }),
      ),
    ).toStrictEqual([]))
  test('counts prepaid packs alone where nothing is included', () => {
    const prepaid = allowing({ included: '0', period: 'license' })
    const pack = credit('c', '500', prepaid)
    expect(announcedBy(pack, use('399', prepaid))).toStrictEqual([])
    expect(announcedBy(pack, use('399', prepaid), use('1', prepaid))).toStrictEqual([80])
    expect(
      announcedBy(pack, use('400', prepaid), credit('d', '500', prepaid), use('400', prepaid)),
    ).toStrictEqual([80])
  })
  test('is none where there is no full amount', () => {
    const nothing = allowing({ included: '0', overage: 'notify' })
    expect(announcedBy(use('5', nothing))).toStrictEqual([])
  })
  test('is of the key type, above 100 too', () => {
    const own = allowing({ thresholds: [50, 150], overage: 'allow' })
    expect(announcedBy(use('5', own))).toStrictEqual([50])
    expect(announcedBy(use('5', own), use('9.9', own))).toStrictEqual([])
    expect(announcedBy(use('5', own), use('10', own))).toStrictEqual([150])
    expect(announcedBy(use('10', allowing({ thresholds: [] })))).toStrictEqual([])
  })
})

describe('a threshold is announced again', () => {
  test('after a credit brought the share below it', () => {
    expect(last(use('8'), credit('c', '10'))).toMatchObject([
      { type: 'CreditAdded' },
      { type: 'ThresholdsRearmed', data: { percent: 40 } },
    ])
    expect(announcedBy(use('8'), credit('c', '10'), use('8'))).toStrictEqual([80])
  })
  test('after a correction did, even if a withdrawal brought it back', () => {
    expect(announcedBy(use('8'), correct('1'), use('1'))).toStrictEqual([80])
    expect(announcedBy(use('8'), credit('c', '10'), withdraw('c'))).toStrictEqual([80])
  })
  test('after its key type included more', () =>
    expect(
      announcedBy(use('8'), use('1', allowing({ included: '20' })), use('7', allowing({ included: '20' }))),
    ).toStrictEqual([80]))
  test('only where the share is below it', () => {
    expect(announcedBy(use('10'), correct('1'), use('1'))).toStrictEqual([100])
    expect(announcedBy(use('10'), credit('c', '1'), use('0.5'))).toStrictEqual([])
  })
})

describe('with notify', () => {
  const notify = allowing({ overage: 'notify' })
  test('each further full amount is announced, of several the last', () => {
    expect(announcedBy(use('10', notify), use('9.9', notify))).toStrictEqual([])
    expect(last(use('10', notify), use('10', notify)).at(-1)).toMatchObject({
      data: { percent: 200, further: true, used: '20', overage: '10', remaining: '0' },
    })
    expect(announcedBy(use('20', notify), use('25', notify))).toStrictEqual([400])
    expect(announcedBy(use('45', notify), use('4', notify))).toStrictEqual([])
    expect(announcedBy(use('45', notify), use('5', notify))).toStrictEqual([500])
  })
  test('it is announced again after it was not used', () =>
    expect(announcedBy(use('45', notify), correct('20', notify), use('5', notify))).toStrictEqual([300]))
  test('a threshold of the same amount is announced once', () =>
    expect(announcedBy(use('25', allowing({ overage: 'notify', thresholds: [200] })))).toStrictEqual([200]))
  test('an enormous share is a number still', () =>
    expect(
      announcedBy(use('999999999999', allowing({ overage: 'notify', included: '0.000001', thresholds: [] }))),
    ).toStrictEqual([1_000_000_000]))
})

const amounts = fc.bigInt({ min: 1n, max: 12_000_000n })
const step = fc.record({
  do: fc.constantFrom('use', 'use', 'use', 'hold', 'commit', 'credit', 'withdraw', 'correct'),
  amount: amounts,
})

/** Only sums, in one period without end. Corrections take from what is beyond first, then from the last credit on. */
function createModel(included: Amount, thresholds: readonly number[]) {
  let used = 0n
  let has = included
  const announced = new Set<number>()
  const isAt = (percent: number) => has > 0n && 100n * used >= BigInt(percent) * has
  const rearm = () => {
    for (const percent of announced) if (!isAt(percent)) announced.delete(percent)
  }
  return {
    change(by: { used?: Amount; has?: Amount }, isAnnounced: boolean): number[] {
      rearm()
      used += by.used ?? 0n
      has += by.has ?? 0n
      if (!isAnnounced) rearm()
      const now = isAnnounced ? thresholds.filter((percent) => isAt(percent) && !announced.has(percent)) : []
      for (const percent of now) announced.add(percent)
      return now.toSorted((one, other) => one - other)
    },
    used: () => used,
  }
}

test('any uses, holds, credits, withdrawals and corrections announce what a model of sums announces', () => {
  const thresholds = [50, 80, 100, 130]
  const allowance = allowing({ period: 'license', overage: 'allow', thresholds })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const model = createModel(amountOf('10'), thresholds)
      let meter = unusedMeter
      const events: MeterEvent[] = []
      for (const [index, { do: what, amount }] of steps.entries()) {
        const text = amountText(amount)
        const [holdId, held] = [...meter.holds].at(-1) ?? []
        const [creditId, there] = [...meter.credits].at(-1) ?? []
        const least = (one: Amount, other: Amount) => (one < other ? one : other)
        const steps: Record<typeof what, () => [MeterCommand, Parameters<typeof model.change>] | undefined> =
          {
            use: () => [use(text, allowance), [{ used: amount }, true]],
            // What is held is not used, and is no less there.
            hold: () => [hold(`h${index}`, text, allowance), [{}, false]],
            commit: () =>
              held && holdId !== undefined
                ? [
                    commit(holdId, amountText(least(amount, held.amount)), allowance),
                    [{ used: least(amount, held.amount) }, true],
                  ]
                : undefined,
            credit: () => [credit(`c${index}`, text, allowance), [{ has: amount }, false]],
            // What was spent of a credit stays there.
            withdraw: () =>
              there && creditId !== undefined
                ? [withdraw(creditId, allowance), [{ has: -there.left }, true]]
                : undefined,
            correct: () =>
              amount <= model.used() ? [correct(text, allowance), [{ used: -amount }, false]] : undefined,
          }
        const taken = steps[what]()
        // A hold of a withdrawn credit, or a correction that gives one back, changes what there is.
        if (!taken || (what === 'withdraw' && (meter.holds.size > 0 || isSpent(meter, creditId)))) continue
        const [command, change] = taken
        const decided = decideMeter(meter, command)
        const expected = what === 'hold' ? [] : model.change(...change)
        expect(percentsIn(decided)).toStrictEqual(expected)
        events.push(...decided)
        meter = stored(decided.reduce(evolveMeter, meter))
      }
      expect(stored(events.reduce(evolveMeter, unusedMeter))).toStrictEqual(meter)
    }),
    { numRuns: 500 },
  )
})

/** Whether anything of a credit was spent: corrections would not give it back once it is withdrawn. */
const isSpent = ({ periods }: Meter, creditId: string | undefined): boolean =>
  periods.some(({ used }) => (used.credits.get(creditId ?? '') ?? 0n) > 0n)
