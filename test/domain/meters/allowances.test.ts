/**
 * Guarantee: what a device may spend without a network is kept for it, and counts once out of that; what it does not spend is free when it
 * is given back, or a week after the end; and over any history no more is counted, kept and used together than is allowed.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountOf } from '../../../src/domain/meters/amount.ts'
import { answersTo, decideMeter, type MeterCommand } from '../../../src/domain/meters/decide.ts'
import type { MeterEvent } from '../../../src/domain/meters/events.ts'
import { evolveMeter, type Meter, unusedMeter } from '../../../src/domain/meters/meter.ts'
import { sharesOf, totalOf } from '../../../src/domain/meters/shares.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'
import { meterOf, meterText } from '../../../src/domain/meters/text.ts'
import { meterView } from '../../../src/domain/meters/view.ts'
import { Refusal } from '../../../src/domain/refusal.ts'

const owner = { tenantId: 'acme', productId: 'api', licenseId: 'lic_1', meter: 'calls', unit: 'calls' }
const issuedAt = '2026-10-15T12:00:00.000Z'
const at = '2026-11-10T09:30:00.000Z'
const allowing = (more: object = {}) => ({
  terms: MeterTerms.parse({
    ...{ meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block', ...more },
  }),
  moments: { issuedAt, purchasedAt: issuedAt },
})
const plain = allowing()
const granting = (
  amount: string,
  { id = 'a', endsAt = '2026-11-20T09:30:00.000Z', instanceId = 'one', now = at, allowance = plain } = {},
): MeterCommand => ({
  ...{ type: 'GrantAllowance', allowanceId: id, key: id, instanceId, amount: amountOf(amount), endsAt },
  ...{ owner, allowance, at: now },
})
const spending = (
  key: string,
  amount: string,
  { now = at, usedAt = at, instanceId = 'one', allowanceId = 'a' } = {},
): MeterCommand => ({
  ...{ type: 'SpendAllowance', allowanceId, instanceId, key, amount: amountOf(amount), usedAt, at: now },
  allowance: plain,
})
const returning = (instanceId = 'one', now = at): MeterCommand => ({
  ...{ type: 'ReturnAllowance', allowanceId: 'a', instanceId, at: now },
})
const crediting = (creditId: string, amount: string, endsAt: string): MeterCommand => ({
  ...{ type: 'AddCredit', creditId, key: creditId, amount: amountOf(amount), endsAt, order: null, owner, at },
  allowance: plain,
})
const meterAfter = (...commands: MeterCommand[]) =>
  commands.reduce((meter, command) => decideMeter(meter, command).reduce(evolveMeter, meter), unusedMeter)
const leftOf = (meter: Meter, now = at, allowance = plain) => {
  const { used, remaining, allowances } = meterView(meter, allowance, now)
  return { used, remaining, kept: allowances.map(({ left }) => left) }
}
const refusalOf = (decide: () => unknown) => {
  try {
    decide()
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
  return undefined
}

describe('an allowance', () => {
  test('is kept from others, and what the device reports comes out of it', () => {
    const meter = meterAfter(granting('8'), spending('u1', '3'), spending('u2', '0.5'))
    expect(leftOf(meter)).toStrictEqual({ used: '3.5', remaining: '2', kept: ['4.5'] })
    expect(leftOf(decideMeter(meter, spending('u3', '4.5')).reduce(evolveMeter, meter))).toStrictEqual({
      ...{ used: '8', remaining: '2', kept: [] },
    })
    expect(meterOf(JSON.parse(JSON.stringify(meterText(meter))) as never)).toStrictEqual(meter)
  })

  test('is not granted when there is not enough, nor a sixth time to one device', () => {
    expect(decideMeter(unusedMeter, granting('10.000001'))).toStrictEqual([])
    const five = ['a', 'b', 'c', 'd', 'e'].map((id) => granting('1', { id }))
    const meter = meterAfter(...five)
    expect(refusalOf(() => decideMeter(meter, granting('1', { id: 'f' })))).toBe('allowance_limit_reached')
    expect(decideMeter(meter, granting('1', { id: 'f', instanceId: 'two' }))).toHaveLength(1)
  })

  test('is free at once when it is given back, and giving it back twice is no mistake', () => {
    const meter = meterAfter(granting('8'), spending('u1', '3'), returning())
    expect(leftOf(meter)).toStrictEqual({ used: '3', remaining: '7', kept: [] })
    expect(decideMeter(meter, returning())).toStrictEqual([])
    expect(refusalOf(() => decideMeter(meter, spending('u2', '1')))).toBe('allowance_over')
  })

  test('of another device is neither spent nor given back, and no hold', () => {
    const meter = meterAfter(granting('8'))
    expect(refusalOf(() => decideMeter(meter, spending('u', '1', { instanceId: 'two' })))).toBe(
      'allowance_over',
    )
    expect(refusalOf(() => decideMeter(meter, returning('two')))).toBe('allowance_over')
    const commit = { type: 'CommitHold', holdId: 'a', amount: 1n, allowance: plain, at } as const
    expect(refusalOf(() => decideMeter(meter, commit))).toBe('hold_not_found')
    expect(decideMeter(meter, { type: 'ReleaseHold', holdId: 'a', at })).toStrictEqual([])
  })

  test('is kept for a week after its end, for what was used before it', () => {
    const [end, last, free] = [
      '2026-11-20T09:30:00.000Z',
      '2026-11-27T09:29:59.999Z',
      '2026-11-27T09:30:00.000Z',
    ]
    const meter = meterAfter(granting('8'))
    expect(leftOf(meter, last).remaining).toBe('2')
    expect(leftOf(meter, free).remaining).toBe('10')
    expect(decideMeter(meter, spending('u', '8', { now: last, usedAt: end }))).toMatchObject([
      { type: 'UsesRecorded' },
      { type: 'ThresholdReached', data: { percent: 80 } },
    ])
    const tooLate = '2026-11-20T09:30:00.001Z'
    expect(refusalOf(() => decideMeter(meter, spending('u', '1', { now: last, usedAt: tooLate })))).toBe(
      'allowance_over',
    )
    expect(refusalOf(() => decideMeter(meter, spending('u', '1', { now: free, usedAt: end })))).toBe(
      'allowance_over',
    )
    expect(refusalOf(() => decideMeter(meter, spending('u', '8.000001')))).toBe('allowance_over')
  })

  test('ends with its period, and counts in that after it', () => {
    const meter = meterAfter(granting('8', { endsAt: '2026-12-10T00:00:00.000Z' }))
    const [december, reported] = ['2026-12-01T00:00:00.000Z', '2026-12-07T23:59:59.999Z']
    expect(meterView(meter, plain, at).allowances).toStrictEqual([
      {
        allowanceId: 'a',
        instanceId: 'one',
        left: '8',
        endsAt: december,
        keptUntil: '2026-12-08T00:00:00.000Z',
      },
    ])
    const spent = decideMeter(
      meter,
      spending('u', '8', { now: reported, usedAt: '2026-11-30T23:00:00.000Z' }),
    )
    expect(spent.slice(0, 1)).toMatchObject([
      { data: { uses: [{ period: { endsAt: december }, allowance: 'a' }] } },
    ])
    expect(leftOf(spent.reduce(evolveMeter, meter), reported).remaining).toBe('10')
  })

  test('ends with the first credit that it is taken from', () => {
    const early = '2026-11-12T00:00:00.000Z'
    const meter = meterAfter(
      crediting('c', '5', early),
      crediting('d', '5', '2027-01-01T00:00:00.000Z'),
      granting('12'),
    )
    expect(meterView(meter, plain, at).allowances).toMatchObject([{ endsAt: early }])
    const past = '2026-11-13T00:00:00.000Z'
    expect(decideMeter(meter, spending('u', '12', { now: past, usedAt: at }))).toMatchObject([
      { data: { uses: [{ from: { included: '10', credits: { c: '2' } } }] } },
    ])
  })
})

const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      'grant' as const,
      'spend' as const,
      'spend' as const,
      'give back' as const,
      'use' as const,
    ),
    amount: fc.bigInt({ min: 1n, max: 9_000_000n }),
    hours: fc.integer({ min: 0, max: 100 }),
    ago: fc.integer({ min: 0, max: 300 }),
    which: fc.nat(3),
  }),
  { maxLength: 60 },
)

/** What each period gave, from the events alone. */
function countedIn(events: readonly MeterEvent[]) {
  const counted = new Map<string, bigint>()
  for (const event of events)
    if (event.type === 'UsesRecorded')
      for (const { period, from } of event.data.uses)
        counted.set(period.startsAt, (counted.get(period.startsAt) ?? 0n) + totalOf(sharesOf(from)))
  return counted
}

test.each(['day', 'month', 'license'])('no more than is included in a %s over any history', (period) => {
  const allowance = allowing({ period })
  fc.assert(
    fc.property(steps, (all) => {
      let meter = unusedMeter
      let time = Date.parse(issuedAt)
      const events: MeterEvent[] = []
      const grants = new Map<string, bigint>()
      for (const [index, each] of all.entries()) {
        time += each.hours * 3_600_000
        const now = new Date(time).toISOString()
        const usedAt = new Date(Math.max(Date.parse(issuedAt), time - each.ago * 3_600_000)).toISOString()
        const [key, instanceId] = [`k${index}`, `i${each.which % 2}`]
        const allowanceId = [...grants.keys()].at(-1 - each.which) ?? 'none'
        const told = { owner, allowance, at: now }
        const endsAt = new Date(time + each.ago * 3_600_000 + 3_600_000).toISOString()
        const ofDevice = { allowanceId, instanceId, at: now }
        const command: MeterCommand = {
          grant: {
            type: 'GrantAllowance' as const,
            allowanceId: key,
            key,
            instanceId,
            amount: each.amount,
            endsAt,
            ...told,
          },
          spend: {
            type: 'SpendAllowance' as const,
            allowance,
            ...ofDevice,
            key,
            amount: each.amount,
            usedAt,
          },
          'give back': { type: 'ReturnAllowance' as const, ...ofDevice },
          use: { type: 'Consume' as const, uses: [{ key, amount: each.amount, usedAt }], ...told },
        }[each.do]
        refusalOf(() => {
          const before = meter
          const decided = decideMeter(before, command)
          if (command.type === 'GrantAllowance' && decided.length > 0) grants.set(key, each.amount)
          if (command.type === 'Consume')
            expect(decided.length > 0).toBe(answersTo(before, command)[0]?.allowed)
          events.push(...decided)
          meter = decided.reduce(evolveMeter, before)
        })
      }
      for (const sum of countedIn(events).values()) expect(sum).toBeLessThanOrEqual(amountOf('10'))
      const spentOf = new Map<string, bigint>()
      for (const event of events)
        if (event.type === 'UsesRecorded')
          for (const { allowance: id, amount } of event.data.uses)
            if (id !== undefined) spentOf.set(id, (spentOf.get(id) ?? 0n) + amountOf(amount))
      for (const [id, sum] of spentOf) expect(sum).toBeLessThanOrEqual(grants.get(id) ?? 0n)
      expect(events.reduce(evolveMeter, unusedMeter)).toStrictEqual(meter)
    }),
    { numRuns: 300 },
  )
})
