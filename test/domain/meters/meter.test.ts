/**
 * Guarantee: what is counted is exact to the last digit, never more than is allowed, and each amount is taken from one place: what
 * rolled over, what is included, the credits by their ends, and then beyond them.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountOf, amountText } from '../../../src/domain/meters/amount.ts'
import { answersTo, decideMeter, type MeterCommand } from '../../../src/domain/meters/decide.ts'
import type { MeterEvent } from '../../../src/domain/meters/events.ts'
import { linesOf } from '../../../src/domain/meters/lines.ts'
import { evolveMeter, unusedMeter } from '../../../src/domain/meters/meter.ts'
import { periodAt } from '../../../src/domain/meters/period.ts'
import { sharesOf, totalOf } from '../../../src/domain/meters/shares.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'
import { Refusal } from '../../../src/domain/refusal.ts'

const owner = { tenantId: 'acme', productId: 'api', licenseId: 'lic_1', meter: 'calls', unit: 'calls' }
const issuedAt = '2026-10-15T12:00:00.000Z'
const november = '2026-11-01T00:00:00.000Z'
const at = '2026-11-10T09:30:00.000Z'
const allowing = (more: object = {}) => ({
  terms: MeterTerms.parse({
    meter: 'calls',
    unit: 'calls',
    included: '10',
    period: 'month',
    overage: 'block',
    thresholds: [],
    ...more,
  }),
  moments: { issuedAt, purchasedAt: issuedAt },
})
const use = (key: string, amount: string, usedAt?: string) => ({ key, amount: amountOf(amount), usedAt })
const consuming = (
  uses: ReturnType<typeof use>[],
  allowance = allowing(),
  now = at,
): MeterCommand & { type: 'Consume' } => ({
  type: 'Consume',
  uses,
  owner,
  allowance,
  at: now,
})
const meterAfter = (...commands: MeterCommand[]) =>
  commands.reduce((meter, command) => decideMeter(meter, command).reduce(evolveMeter, meter), unusedMeter)
const crediting = (creditId: string, amount: string, endsAt: string | null = null): MeterCommand => ({
  ...{ type: 'AddCredit', creditId, key: creditId, amount: amountOf(amount), endsAt, order: null, owner, at },
  allowance: allowing(),
})
const said = (command: MeterCommand & { type: 'Consume' }, meter = unusedMeter) =>
  answersTo(meter, command).map(({ allowed, remaining, overage }) => [
    allowed,
    amountText(remaining),
    amountText(overage),
  ])
const placing = (holdId: string, amount: string, endsAt: string, allowance = allowing()): MeterCommand => ({
  ...{ type: 'PlaceHold', holdId, key: holdId, amount: amountOf(amount), endsAt, owner, allowance, at },
})
const refusalOf = (decide: () => unknown) => {
  try {
    decide()
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
  return undefined
}

describe('uses', () => {
  test('are counted until the included amount is used, and one that does not fit is left out', () => {
    const command = consuming([use('a', '7.5'), use('b', '3'), use('c', '2.500001'), use('d', '2.5')])
    expect(said(command)).toStrictEqual([
      [true, '2.5', '0'],
      [false, '2.5', '0'],
      [false, '2.5', '0'],
      [true, '0', '0'],
    ])
    expect(decideMeter(unusedMeter, command)).toMatchObject([
      { type: 'MeterOpened', data: owner },
      {
        type: 'UsesRecorded',
        data: {
          uses: [
            { key: 'a', amount: '7.5', from: { included: '7.5' }, period: { startsAt: november } },
            { key: 'd', amount: '2.5', from: { included: '2.5' } },
          ],
        },
      },
    ])
  })

  test('that all are left out record nothing', () => {
    expect(decideMeter(unusedMeter, consuming([use('a', '10.000001')]))).toStrictEqual([])
  })

  test('take the credit that ends first, and none that has ended', () => {
    const meter = meterAfter(
      crediting('never', '5'),
      crediting('late', '5', '2027-01-01T00:00:00.000Z'),
      crediting('early', '5', '2026-12-01T00:00:00.000Z'),
    )
    const [event] = decideMeter(meter, consuming([use('a', '17')]))
    expect(event).toMatchObject({
      data: { uses: [{ from: { included: '10', credits: { early: '5', late: '2' } } }] },
    })
    const december = consuming([use('a', '21')], allowing(), '2026-12-01T00:00:00.000Z')
    expect(said(december, meter)).toStrictEqual([[false, '20', '0']])
  })

  test.each([
    ['allow', null, [true, '0', '90']],
    ['allow', '90', [true, '0', '90']],
    ['allow', '89', [false, '10', '0']],
  ])('beyond it with %s up to %s', (overage, overageLimit, answer) => {
    expect(said(consuming([use('a', '100')], allowing({ overage, overageLimit })))).toStrictEqual([answer])
  })

  test('begin anew with the period, and what was left over rolls on once', () => {
    const rolling = allowing({ rollover: true })
    const october = consuming([use('a', '4')], rolling, '2026-10-20T00:00:00.000Z')
    const meter = meterAfter(october)
    expect(said(consuming([use('b', '16')], rolling), meter)).toStrictEqual([[true, '0', '0']])
    expect(said(consuming([use('b', '16.1')], rolling), meter)).toStrictEqual([[false, '16', '0']])
    const december = consuming([use('c', '20')], rolling, '2026-12-05T00:00:00.000Z')
    // November was not used at all: it leaves over what it included, and not what it had from October.
    expect(said(december, meter)).toStrictEqual([[true, '0', '0']])
  })
})

describe('late uses', () => {
  const late = (usedAt: string, now: string, meter = unusedMeter, amount = '4') =>
    answersTo(meter, consuming([use('late', amount, usedAt)], allowing(), now))[0]
  test('count in their own period for a week after its end, and then in the present one', () => {
    const october = '2026-10-31T23:00:00.000Z'
    expect(late(october, '2026-11-07T23:59:59.999Z')).toMatchObject({ late: false, resetsAt: november })
    expect(late(october, '2026-11-08T00:00:00.000Z')).toMatchObject({
      late: true,
      resetsAt: '2026-12-01T00:00:00.000Z',
    })
  })
  test('count in the present period when their own has no room', () => {
    const meter = meterAfter(consuming([use('a', '8')], allowing(), '2026-10-31T20:00:00.000Z'))
    expect(late('2026-10-31T23:00:00.000Z', '2026-11-02T00:00:00.000Z', meter)).toMatchObject({
      allowed: true,
      late: true,
    })
  })
  test('do not take again what has rolled on', () => {
    const rolling = allowing({ rollover: true })
    const meter = meterAfter(consuming([use('a', '15')], rolling, '2026-11-02T00:00:00.000Z'))
    const command = consuming(
      [use('late', '6', '2026-10-31T23:00:00.000Z')],
      rolling,
      '2026-11-02T01:00:00.000Z',
    )
    expect(answersTo(meter, command)).toMatchObject([{ allowed: false, late: true }])
    // October has nothing left, so it counts in November.
    const fitting = { ...command, uses: [use('late', '5', '2026-10-31T23:00:00.000Z')] }
    expect(answersTo(meter, fitting)).toMatchObject([{ allowed: true, late: true }])
  })
})

describe('a hold', () => {
  const soon = '2026-11-10T09:40:00.000Z'
  test('keeps its amount from others until its end, and not a moment longer', () => {
    const meter = meterAfter(placing('h', '8', soon))
    expect(said(consuming([use('a', '3')], allowing(), '2026-11-10T09:39:59.999Z'), meter)).toStrictEqual([
      [false, '2', '0'],
    ])
    expect(said(consuming([use('a', '10')], allowing(), soon), meter)).toStrictEqual([[true, '0', '0']])
  })
  test('is committed with less, once, and the rest is free', () => {
    const commit = {
      type: 'CommitHold',
      holdId: 'h',
      amount: amountOf('5'),
      allowance: allowing(),
      at,
    } as const
    const meter = meterAfter(placing('h', '8', soon), commit)
    expect(said(consuming([use('a', '5')]), meter)).toStrictEqual([[true, '0', '0']])
    expect(refusalOf(() => decideMeter(meter, commit))).toBe('hold_not_found')
  })
  test('is not committed with more, nor after its end', () => {
    const meter = meterAfter(placing('h', '8', soon))
    const amount = amountOf('8.000001')
    const commit = { type: 'CommitHold', holdId: 'h', amount, allowance: allowing(), at } as const
    expect(refusalOf(() => decideMeter(meter, commit))).toBe('hold_too_small')
    expect(refusalOf(() => decideMeter(meter, { ...commit, amount: 1n, at: soon }))).toBe('hold_not_found')
  })
  test('is not placed when there is not enough, and releasing it twice is no mistake', () => {
    expect(decideMeter(unusedMeter, placing('h', '11', soon))).toStrictEqual([])
    const release = { type: 'ReleaseHold', holdId: 'h', at } as const
    const meter = meterAfter(placing('h', '8', soon), release)
    expect(decideMeter(meter, release)).toStrictEqual([])
    expect(said(consuming([use('a', '10')]), meter)).toStrictEqual([[true, '0', '0']])
  })
})

test('a correction gives back what was beyond the period first, and never more than was used', () => {
  const allowance = allowing({ overage: 'allow' })
  const meter = meterAfter(crediting('c', '5'), consuming([use('a', '18')], allowance))
  const correct = (amount: string): MeterCommand => ({
    ...{
      type: 'CorrectUse',
      key: 'k',
      amount: amountOf(amount),
      reason: 'counted twice',
      owner,
      allowance,
      at,
    },
  })
  expect(decideMeter(meter, correct('9'))).toMatchObject([
    { data: { amount: '9', to: { overage: '3', credits: { c: '5' }, included: '1' } } },
  ])
  expect(refusalOf(() => decideMeter(meter, correct('18.1')))).toBe('correction_too_large')
})

test.each([
  ['day', '2026-11-10T00:00:00.000Z', '2026-11-11T00:00:00.000Z'],
  ['week', '2026-11-09T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
  ['month', november, '2026-12-01T00:00:00.000Z'],
  ['license', issuedAt, null],
  ['purchase', '2026-11-03T08:00:00.000Z', null],
] as const)('the period %s', (kind, startsAt, endsAt) => {
  const moments = { issuedAt, purchasedAt: '2026-11-03T08:00:00.000Z' }
  expect(periodAt(kind, at, moments)).toStrictEqual({ startsAt, endsAt })
})

const amounts = fc.bigInt({ min: 1n, max: 9_000_000n })
test('amounts are read and written without loss', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }),
      (amount) => amountOf(amountText(amount)) === amount,
    ),
  )
})

type Step =
  | { do: 'use' | 'late' | 'hold' | 'credit' | 'correct'; amount: bigint; hours: number }
  | { do: 'commit' | 'release' | 'withdraw'; amount: bigint; hours: number; which: number }
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom(
      'use' as const,
      'late' as const,
      'hold' as const,
      'credit' as const,
      'correct' as const,
    ),
    amount: amounts,
    hours: fc.integer({ min: 0, max: 200 }),
  }),
  fc.record({
    do: fc.constantFrom('commit' as const, 'release' as const, 'withdraw' as const),
    amount: amounts,
    hours: fc.integer({ min: 0, max: 200 }),
    which: fc.nat(5),
  }),
)

/** Sums over the events alone: what each period and each credit gave. */
function sumsOf(events: readonly MeterEvent[]) {
  const sums = new Map<string, bigint>()
  const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount)
  const addShares = (startsAt: string, from: ReturnType<typeof sharesOf>, sign: bigint) => {
    add(`${startsAt} included`, sign * from.included)
    add(`${startsAt} rolledOver`, sign * from.rolledOver)
    add(`${startsAt} overage`, sign * from.overage)
    for (const [creditId, amount] of from.credits) add(creditId, sign * amount)
  }
  const holds = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'UsesRecorded')
      for (const { period, from } of event.data.uses) addShares(period.startsAt, sharesOf(from), 1n)
    if (event.type === 'UseCorrected') addShares(event.data.period.startsAt, sharesOf(event.data.to), -1n)
    if (event.type === 'HoldPlaced') holds.set(event.data.holdId, event.data.period.startsAt)
    if (event.type === 'HoldCommitted')
      addShares(holds.get(event.data.holdId) ?? '', sharesOf(event.data.from), 1n)
  }
  return sums
}

test.each([false, true])('never more than is allowed over any history, with rollover %s', (rollover) => {
  const allowance = allowing({ rollover, overage: 'allow', overageLimit: '3' })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let meter = unusedMeter
      let time = Date.parse(issuedAt)
      const events: MeterEvent[] = []
      const credited = new Map<string, bigint>()
      let isAsRead = true
      for (const [index, each] of steps.entries()) {
        time += each.hours * 3_600_000
        const now = new Date(time).toISOString()
        const told = { owner, allowance, at: now, amount: each.amount, key: `k${index}` }
        const earlier = new Date(Math.max(Date.parse(issuedAt), time - each.hours * 5_400_000)).toISOString()
        const endsAt = new Date(time + 86_400_000).toISOString()
        const which = 'which' in each ? each.which : 0
        const holdId = [...meter.holds.keys()][which] ?? 'none'
        const creditId = [...meter.credits.keys()][which] ?? 'none'
        const command: MeterCommand = {
          use: { ...told, type: 'Consume' as const, uses: [{ key: told.key, amount: each.amount }] },
          late: {
            ...told,
            type: 'Consume' as const,
            uses: [{ key: told.key, amount: each.amount, usedAt: earlier }],
          },
          hold: { ...told, type: 'PlaceHold' as const, holdId: `h${index}`, endsAt },
          credit: { ...told, type: 'AddCredit' as const, creditId: `c${index}`, endsAt, order: null },
          correct: { ...told, type: 'CorrectUse' as const, reason: 'r' },
          commit: { ...told, type: 'CommitHold' as const, holdId },
          release: { type: 'ReleaseHold' as const, holdId, at: now },
          withdraw: { ...told, type: 'WithdrawCredit' as const, creditId, reason: 'r' },
        }[each.do]
        const before = meter
        const refusal = refusalOf(() => {
          const decided = decideMeter(before, command)
          events.push(...decided)
          meter = decided.reduce(evolveMeter, before)
          if (command.type === 'AddCredit') credited.set(command.creditId, each.amount)
        })
        if (command.type === 'Consume' && refusal === undefined) {
          const counted = events.length > 0 && answersTo(before, command)[0]?.allowed
          isAsRead &&= counted === (meter !== before)
        }
      }
      const sums = sumsOf(events)
      const included = amountOf('10')
      for (const [name, sum] of sums) {
        expect(sum).toBeGreaterThanOrEqual(0n)
        const [startsAt = '', kind] = name.split(' ')
        if (kind === 'overage') expect(sum).toBeLessThanOrEqual(amountOf('3'))
        if (kind === 'included') {
          const next = new Date(startsAt)
          next.setUTCMonth(next.getUTCMonth() + 1)
          const rolledOn = sums.get(`${next.toISOString()} rolledOver`) ?? 0n
          expect(sum + rolledOn).toBeLessThanOrEqual(included)
        }
        if (kind === undefined) expect(sum).toBeLessThanOrEqual(credited.get(name) ?? 0n)
        if (kind === 'rolledOver') expect(sum).toBeLessThanOrEqual(rollover ? included : 0n)
      }
      // Every amount came from somewhere, to the last digit.
      for (const event of events)
        if (event.type === 'UsesRecorded')
          for (const { amount, from } of event.data.uses)
            expect(totalOf(sharesOf(from))).toBe(amountOf(amount))
      expect(isAsRead).toBe(true)
      expect(events.reduce(evolveMeter, unusedMeter)).toStrictEqual(meter)
    }),
    { numRuns: 300 },
  )
})

test('what a license uses of what its customer shares is recorded with that license, also when it was held', () => {
  const shared = { tenantId: 'acme', customerId: 'cus_1', meter: 'calls', unit: 'calls' }
  const told = { owner: shared, licenseId: 'lic_2' }
  const used = decideMeter(unusedMeter, { ...consuming([use('a', '4')]), ...told })
  expect(used).toMatchObject([
    { type: 'SharedMeterOpened', data: { ...shared, at } },
    { type: 'UsesRecorded', data: { uses: [{ key: 'a', licenseId: 'lic_2' }] } },
  ])
  const held = [placing('h', '5', '2026-11-10T10:00:00.000Z')].map((command) => ({ ...command, ...told }))
  const meter = used.reduce(evolveMeter, unusedMeter)
  const placed = held.flatMap((command) => decideMeter(meter, command))
  const committed = decideMeter(placed.reduce(evolveMeter, meter), {
    ...{ type: 'CommitHold', holdId: 'h', amount: amountOf('3'), allowance: undefined, at },
  })
  const lines = [...used, ...placed, ...committed].flatMap(linesOf)
  expect(lines.map(({ kind, amount, licenseId }) => [kind, amount, licenseId])).toStrictEqual([
    ['use', '4', 'lic_2'],
    ['hold', '5', 'lic_2'],
    ['commit', '3', 'lic_2'],
  ])
})
