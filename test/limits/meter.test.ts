/**
 * A single process is exact. Several together never admit more than 5 % above the limit in any period, at least
 * 90 % of it under even load, and as much when all the load is on one of them.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gcraOf, Meter, type Rate, spent, waitMs } from '../../src/limits/meter.ts'
import { randomNumbers } from '../harness/random.ts'
import { createMemoryBuckets } from './memory-buckets.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const key = 'tok_1'

type World = {
  rate: Rate
  processes: number
  /** The average number of calls to a process per millisecond. */
  load: (process: number, elapsedMs: number) => number
  /** The time from a report to its answer. */
  latencyMs: (random: () => number) => number
  seconds: number
  seed: number
  /** While this holds, reports fail. */
  isDown?: (elapsedMs: number) => boolean
}

/** Simulates several meters, millisecond by millisecond. @returns when each call was admitted */
function live(world: World) {
  const { rate, processes, seconds } = world
  const random = randomNumbers(world.seed)
  const shared = createMemoryBuckets()
  const admittedAt: number[] = []
  let refused = 0
  let now = start
  const members = Array.from({ length: processes }, () => ({
    meter: new Meter(rate),
    telling: undefined as (() => void) | undefined,
    answerAt: 0,
  }))
  // A waiting call is admitted when the store decides, however long the answer takes.
  let decidedAt = now
  const count = (waitedMs: number) => {
    if (waitedMs === 0) admittedAt.push(decidedAt)
    else refused++
  }
  const tell = (member: (typeof members)[number], elapsed: number) => {
    const reports = member.meter.report()
    if (reports.length === 0) return
    const down = world.isDown?.(elapsed) ?? false
    const settlements = down ? [] : shared.settle(member.meter.gcra, reports, now)
    const toldAt = now
    member.telling = () => {
      decidedAt = down ? now : toldAt
      if (down) member.meter.fail(now)
      else member.meter.settle(settlements, now)
      decidedAt = now
    }
    member.answerAt = now + Math.max(1, Math.round(world.latencyMs(random)))
  }
  for (const { meter } of members) meter.setProcesses(processes)

  for (let elapsed = 0; elapsed < seconds * 1000; elapsed++, now++) {
    decidedAt = now
    for (const [index, member] of members.entries()) {
      if (member.telling && member.answerAt <= now) {
        const answer = member.telling
        member.telling = undefined
        answer()
      }
      const expected = world.load(index, elapsed)
      const calls = Math.floor(expected) + (random() < expected % 1 ? 1 : 0)
      for (let call = 0; call < calls; call++) {
        const wait = member.meter.admit(key, now)
        if (wait < 0) member.meter.wait(key, count)
        else count(wait)
      }
      const round = (elapsed + index * 37) % 500 === 0
      if (!member.telling && (member.meter.isUrgent || round)) tell(member, elapsed)
    }
  }
  return { admittedAt: admittedAt.sort((one, other) => one - other), refused }
}

/** The largest excess over the limit in any period, in units. */
function worstExcess(rate: Rate, admittedAt: readonly number[]): number {
  const gcra = gcraOf(rate)
  let tat = 0
  let worst = 0
  for (const moment of admittedAt) {
    tat = spent(gcra, tat, moment)
    worst = Math.max(worst, (tat - moment) / gcra.intervalMs - rate.burst)
  }
  return worst
}

const perMs = (rate: Rate) => rate.perMinute / 60_000
const limitOver = (rate: Rate, seconds: number) => rate.burst + (rate.perMinute / 60) * seconds

const management = { perMinute: 600, burst: 1200 }
const runtime = { perMinute: 6000, burst: 6000 }
const small = { perMinute: 30, burst: 30 }
const rates = { management, runtime, small, 'a few calls': { perMinute: 5, burst: 10 } }

test('alone it decides exactly like the algorithm, and no call waits', () =>
  fc.assert(
    fc.property(
      fc.record({
        perMinute: fc.constantFrom(1, 7, 30, 60, 70, 600, 6000, 7000, 12_000),
        burst: fc.integer({ min: 1, max: 400 }),
      }),
      fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 600 }),
      fc.integer({ min: 1, max: 9 }),
      (rate, gaps, tellEvery) => {
        const gcra = gcraOf(rate)
        const shared = createMemoryBuckets()
        const meter = new Meter(rate)
        let tat = 0
        let now = start
        for (const [index, gap] of gaps.entries()) {
          // Most calls come in bunches.
          now += gap < 2000 ? 0 : gap - 2000
          const wait = waitMs(gcra, tat, now)
          if (wait === 0) tat = spent(gcra, tat, now)
          expect(meter.admit(key, now)).toBe(wait)
          if (index % tellEvery === 0) meter.settle(shared.settle(gcra, meter.report(), now + 3), now + 5)
        }
        meter.settle(shared.settle(gcra, meter.report(true), now), now)
        expect(shared.stateOf(key) ?? 0).toBe(tat)
      },
    ),
    { numRuns: 500 },
  ))

const latencies: Record<string, World['latencyMs']> = {
  'a quick store': () => 1,
  'a slow store': (random) => 5 + random() * 60,
}

describe.each(Object.entries(rates))('the limit of %s', (_, rate) => {
  describe.each(Object.entries(latencies))('over %s', (__, latencyMs) => {
    const worlds: [string, World['load']][] = [
      ['far too much, evenly', () => perMs(rate) * 20],
      ['a little too much, evenly', () => perMs(rate) * 1.2],
      ['all on one', (index) => (index === 0 ? perMs(rate) * 20 : 0)],
      [
        'in bursts that alternate',
        (index, ms) => (Math.floor(ms / 700) % 3 === index % 3 ? perMs(rate) * 30 : 0),
      ],
      ['a flood after a rest', (_index, ms) => (ms > 20_000 && ms < 20_100 ? rate.burst / 5 : 0)],
    ]
    test.each(worlds)('is kept by two, three and eight processes: %s', (name, load) => {
      for (const processes of [2, 3, 8]) {
        const seconds = 60
        const { admittedAt } = live({ rate, processes, load, latencyMs, seconds, seed: processes })
        expect(worstExcess(rate, admittedAt)).toBeLessThanOrEqual(rate.burst * 0.05)
        if (name === 'a flood after a rest') {
          expect(admittedAt.length).toBeGreaterThanOrEqual(rate.burst * 0.9)
        } else if (name !== 'a little too much, evenly') {
          expect(admittedAt.length).toBeGreaterThanOrEqual(limitOver(rate, seconds) * 0.9)
        }
      }
    })
  })

  test('all load below the limit is admitted', () => {
    const load = () => (perMs(rate) * 0.9) / 4
    const latencyMs = latencies['a slow store'] ?? (() => 1)
    const { refused } = live({ rate, processes: 4, load, latencyMs, seconds: 120, seed: 4 })
    expect(refused).toBe(0)
  })
})

test('for any rate, load, store and number of processes it is never exceeded by more than 5 %', () =>
  fc.assert(
    fc.property(
      fc.record({
        perMinute: fc.integer({ min: 30, max: 6000 }),
        burst: fc.oneof(fc.integer({ min: 2, max: 60 }), fc.integer({ min: 40, max: 3000 })),
        processes: fc.integer({ min: 2, max: 12 }),
        pressure: fc.double({ min: 0.5, max: 30, noNaN: true }),
        period: fc.integer({ min: 50, max: 4000 }),
        latency: fc.integer({ min: 1, max: 80 }),
        seed: fc.integer(),
      }),
      ({ perMinute, burst, processes, pressure, period, latency, seed }) => {
        const rate = { perMinute, burst }
        const load: World['load'] = (index, ms) =>
          Math.floor(ms / period + index) % 2 === 0 ? perMs(rate) * pressure : burst / 2000
        const latencyMs: World['latencyMs'] = (random) => latency * (0.5 + random())
        const { admittedAt } = live({ rate, processes, load, latencyMs, seconds: 20, seed })
        expect(worstExcess(rate, admittedAt)).toBeLessThanOrEqual(burst * 0.05)
      },
    ),
    { numRuns: 100 },
  ))

describe('while the store does not answer', () => {
  test('each process decides alone and no call waits; afterwards they keep the limit together again', () => {
    const processes = 3
    const load = () => perMs(management) * 10
    const isDown = (ms: number) => ms < 10_000
    const { admittedAt } = live({
      rate: management,
      processes,
      load,
      isDown,
      latencyMs: () => 3,
      seconds: 200,
      seed: 5,
    })
    const until = (ms: number) => admittedAt.filter((moment) => moment < start + ms).length
    expect(until(10_000)).toBeGreaterThan(limitOver(management, 10) * 2)
    expect(until(10_000)).toBeLessThanOrEqual(limitOver(management, 10) * processes)
    // The excess is paid back before any call is admitted again.
    expect(admittedAt.length).toBeLessThanOrEqual(limitOver(management, 200) + management.burst * 2)
  })

  test('a failed report is sent again, once', () => {
    const meter = new Meter(management)
    meter.setProcesses(2)
    const gcra = gcraOf(management)
    const shared = createMemoryBuckets()
    for (let calls = 0; calls < 5; calls++) meter.admit(key, start)
    expect(meter.report()).toMatchObject([{ admitted: 5, since: start }])
    meter.fail(start)
    meter.admit(key, start + 10)
    const [again] = meter.report()
    expect(again).toMatchObject({ admitted: 6, since: start, waiting: 0 })
    meter.settle(shared.settle(gcra, again ? [again] : [], start + 20), start + 20)
    expect(meter.report()).toStrictEqual([])
    expect(shared.stateOf(key)).toBe(start + 600)
  })

  test('waiting calls are decided as for a single process', () => {
    const meter = new Meter({ perMinute: 10, burst: 2 })
    meter.setProcesses(2)
    const answers: number[] = []
    for (let calls = 0; calls < 3; calls++) {
      expect(meter.admit(key, start)).toBe(-1)
      meter.wait(key, (waitedMs) => answers.push(waitedMs))
    }
    meter.report()
    meter.giveUp(start)
    expect(answers).toStrictEqual([0, 0, 6000])
    meter.settle([{ key, tat: start + 12_000, granted: 2 }], start)
    expect(answers).toHaveLength(3)
  })
})

test('a full bucket is dropped; one that is not full, or has unreported units, is kept', () => {
  const meter = new Meter(management)
  meter.admit('told', start)
  for (let calls = 0; calls < 1000; calls++) meter.admit('spent', start)
  meter.setProcesses(2)
  const shared = createMemoryBuckets()
  meter.settle(shared.settle(gcraOf(management), meter.report(), start), start)
  meter.admit('untold', start)
  meter.forget(start + 60_000)
  expect(meter.size).toBe(2)
  expect(meter.admit('spent', start + 60_000)).toBe(0)
})

describe('of unreported units', () => {
  test('a single process does not report them, and drops them when the bucket is full again', () => {
    const meter = new Meter({ perMinute: 30, burst: 30 })
    for (let caller = 0; caller < 500; caller++) meter.admit(`once ${caller}`, start)
    meter.admit('twice', start)
    meter.admit('twice', start)
    expect(meter.report()).toMatchObject([{ key: 'twice', admitted: 2 }])
    meter.fail(start)
    meter.forget(start + 2000)
    expect(meter.size).toBe(1)
  })

  test('a process reports all of them when another one joins, and when it stops', () => {
    const meter = new Meter({ perMinute: 30, burst: 30 })
    meter.admit('one', start)
    expect(meter.report()).toStrictEqual([])
    meter.setProcesses(2)
    expect(meter.report()).toMatchObject([{ key: 'one', admitted: 1 }])
    meter.setProcesses(1)
    meter.admit('another', start)
    expect(meter.report()).toStrictEqual([])
    expect(meter.report(true)).toMatchObject([{ key: 'another', admitted: 1 }])
  })

  test('every unit of a very small limit is reported', () => {
    const meter = new Meter({ perMinute: 5, burst: 10 })
    meter.admit('one', start)
    expect(meter.isUrgent).toBe(true)
    expect(meter.report()).toMatchObject([{ key: 'one', admitted: 1 }])
  })
})

describe('with any number of addresses', () => {
  const maxBuckets = 1000
  test.each([1, 3])('no more buckets are kept than allowed, by one of %i', (processes) => {
    const meter = new Meter({ perMinute: 120, burst: 240 }, { maxBuckets })
    meter.setProcesses(processes)
    for (let caller = 0; caller < 20 * maxBuckets; caller++) {
      expect(meter.admit(`address ${caller}`, start)).toBe(0)
      expect(meter.size).toBeLessThanOrEqual(maxBuckets)
    }
    expect(meter.report(true).length).toBeLessThanOrEqual(maxBuckets)
  })

  test('an address that has used its limit stays refused while fewer addresses call', () => {
    const meter = new Meter({ perMinute: 5, burst: 10 }, { maxBuckets })
    for (let calls = 0; calls < 10; calls++) expect(meter.admit('greedy', start)).toBe(0)
    for (let caller = 0; caller < maxBuckets - 1; caller++) meter.admit(`address ${caller}`, start)
    expect(meter.admit('greedy', start)).toBeGreaterThan(0)
  })

  test('a bucket with waiting calls is kept', () => {
    const meter = new Meter({ perMinute: 5, burst: 10 }, { maxBuckets })
    meter.setProcesses(3)
    let answer: number | undefined
    expect(meter.admit('waiting', start)).toBeLessThan(0)
    meter.wait('waiting', (waitedMs) => {
      answer = waitedMs
    })
    for (let caller = 0; caller < 3 * maxBuckets; caller++) meter.admit(`address ${caller}`, start)
    meter.settle([], start)
    meter.report()
    meter.settle([{ key: 'waiting', tat: start + 12_000, granted: 1 }], start)
    expect(answer).toBe(0)
  })
})
