/**
 * Guarantee: over any order of calls, ticks, clocks and restarts a relay has never more living seats than its certificate allows; a
 * seat that has ended is never kept or given back by the device that had it; and one that calls in time never ends.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Asking,
  blocked,
  end,
  type Floor,
  keep,
  ranOut,
  seatsInUse,
  stored,
  type Terms,
  take,
  unblocked,
} from '../../src/relay/floor.ts'

const empty: Floor = { lastFence: 0, seats: new Map(), ends: new Map(), blocked: [] }
const termsOf = (seats: number, scope: 'device' | 'process' | 'user' = 'device'): Terms => ({
  seats,
  floating: { seatSeconds: 60, scope, overdraft: null },
})
const at = (seconds: number) => ({ monotonic: seconds * 1000, seconds: 1_795_000_000 + seconds })

let made = 0
function device(
  name: string,
  marks: { machine?: string; installId?: string; instanceId?: string } = {},
): Asking {
  made += 1
  const { machine, installId = null, instanceId = null } = marks
  const identities = machine === undefined ? [] : [{ subjectId: 'relay', machine, components: {} }]
  return {
    claim: { instanceId, installId, name, identities },
    platform: 'linux',
    newInstanceId: `ins_${String(made)}`,
  }
}

describe('who is the same device', () => {
  test('one that says the same machine keeps its seat, whatever its name', () => {
    const first = take(empty, termsOf(2), device('a', { machine: 'm' }), at(0))
    const again = take(first.floor, termsOf(2), device('b', { machine: 'm' }), at(1))
    expect(again.entries).toStrictEqual([])
    expect(again.outcome).toMatchObject({ kind: 'seated', seat: { fence: 1, name: 'b' } })
  })

  test('each process has a seat of its own, and keeps it by its instance id', () => {
    const terms = termsOf(2, 'process')
    const first = take(empty, terms, device('node', { machine: 'm' }), at(0))
    const second = take(first.floor, terms, device('node', { machine: 'm' }), at(0))
    expect(second.floor.seats.size).toBe(2)
    const [instanceId = ''] = second.floor.seats.keys()
    const again = take(second.floor, terms, device('node', { instanceId }), at(1))
    expect(again.outcome).toMatchObject({ kind: 'seated', seat: { instanceId, fence: 1 } })
  })

  test('a device gives a second seat back that turns out to be its own', () => {
    const one = take(empty, termsOf(3), device('a', { machine: 'm' }), at(0))
    const two = take(one.floor, termsOf(3), device('b', { installId: 'i' }), at(0))
    const both = take(two.floor, termsOf(3), device('c', { machine: 'm', installId: 'i' }), at(1))
    expect(both.entries).toMatchObject([{ type: 'ended', how: 'replaced' }])
    expect(both.floor.seats.size).toBe(1)
  })
})

test('a full relay says when a seat may be free', () => {
  const first = take(empty, termsOf(1), device('a'), at(0))
  expect(take(first.floor, termsOf(1), device('b'), at(40)).outcome).toStrictEqual({
    kind: 'full',
    retryAfter: 20,
  })
  expect(take(first.floor, termsOf(1), device('b'), at(60)).outcome).toMatchObject({
    kind: 'seated',
    seat: { fence: 2 },
  })
})

test('a blocked device loses its seat and gets no other one until it is unblocked', () => {
  const { floor } = take(empty, termsOf(1), device('a', { machine: 'm' }), at(0))
  const after = blocked(floor, [...floor.seats.keys()][0] ?? '', at(1))
  expect(after.entries).toMatchObject([{ type: 'ended', how: 'blocked' }])
  const refused = take(after.floor, termsOf(1), device('b', { machine: 'm' }), at(2))
  expect(refused.outcome).toStrictEqual({ kind: 'blocked' })
  const other = take(after.floor, termsOf(1), device('other', { machine: 'n' }), at(2))
  expect(other.outcome.kind).toBe('seated')
  const free = unblocked(after.floor, 1)
  expect(take(free, termsOf(1), device('b', { machine: 'm' }), at(2)).outcome.kind).toBe('seated')
})

test('with fewer seats than are in use none ends, and none is taken', () => {
  const { floor } = ['a', 'b', 'c'].reduce(
    (before, name) => take(before.floor, termsOf(3), device(name), at(0)),
    { floor: empty } as { floor: Floor },
  )
  expect(take(floor, termsOf(1), device('d'), at(1)).outcome.kind).toBe('full')
  expect(keep(floor, termsOf(1), { instanceId: [...floor.seats.keys()][0] ?? '' }, at(1))).toBeDefined()
})

type Held = { instanceId: string; fence: number; endsAt: number; device: number }

/** What each device knows, and the rules in the simplest form. */
class Model {
  now = 0
  floor: Floor = empty
  held: Held[] = []
  known: Held[] = []
  lastFence = 0
  readonly terms: Terms

  constructor(seats: number) {
    this.terms = termsOf(seats)
  }

  living(): Held[] {
    return this.held.filter(({ endsAt }) => endsAt > this.now)
  }
}

const period = 60

type Step = fc.Command<Model, Model>
const step = (name: string, run: (m: Model) => void, check = (_m: Readonly<Model>) => true): Step => ({
  check,
  run: (_model, m) => run(m),
  toString: () => name,
})
const hasKnown = (m: Readonly<Model>) => m.known.length > 0
const knownIn = (m: Model, which: number): Held => m.known[which % m.known.length] as Held

const takes = (number: number): Step =>
  step(`take(${String(number)})`, (m) => {
    const before = m.living().find((held) => held.device === number)
    const asking = device(`d${String(number)}`, { machine: String(number) })
    const { floor, outcome } = take(m.floor, m.terms, asking, at(m.now))
    m.floor = floor
    if (before) {
      expect(outcome).toMatchObject({ kind: 'seated', seat: { fence: before.fence } })
      before.endsAt = m.now + period
    } else if (m.living().length >= m.terms.seats) {
      expect(outcome.kind).toBe('full')
    } else {
      if (outcome.kind !== 'seated') throw new Error(`${outcome.kind}, though a seat is free`)
      const { instanceId, fence } = outcome.seat
      expect(fence).toBeGreaterThan(m.lastFence)
      m.lastFence = fence
      const taken = { instanceId, fence, device: number, endsAt: m.now + period }
      m.held = [...m.living(), taken]
      m.known.push(taken)
    }
  })

const keeps = (which: number, withFence: boolean): Step =>
  step(
    `keep(${String(which)})`,
    (m) => {
      const known = knownIn(m, which)
      const { instanceId, fence } = known
      const kept = keep(m.floor, m.terms, { instanceId, fence: withFence ? fence : undefined }, at(m.now))
      expect(kept !== undefined).toBe(m.living().includes(known))
      if (!kept) return
      m.floor = { ...m.floor, ends: new Map(m.floor.ends).set(instanceId, kept.end) }
      known.endsAt = m.now + period
    },
    hasKnown,
  )

const gives = (which: number): Step =>
  step(
    `give(${String(which)})`,
    (m) => {
      const known = knownIn(m, which)
      m.floor = end(m.floor, known.instanceId, 'given_back', at(m.now)).floor
      m.held = m.held.filter((held) => held !== known)
    },
    hasKnown,
  )

const passes = (seconds: number, ticks: boolean): Step =>
  step(`pass(${String(seconds)}, ${String(ticks)})`, (m) => {
    m.now += seconds
    if (ticks) m.floor = ranOut(m.floor, at(m.now)).floor
  })

/** Every seat that was not recorded as ended gets a whole period. */
const restarts = step('restart', (m) => {
  const { lastFence, blocked: none, seats } = m.floor
  m.floor = stored({ lastFence, blocked: none, seats: [...seats.values()] }, m.terms, at(m.now))
  m.held = m.known.filter(({ instanceId }) => seats.has(instanceId))
  for (const held of m.held) held.endsAt = m.now + period
})

const checks = step('check', (m) => {
  expect(seatsInUse(m.floor, at(m.now))).toBe(m.living().length)
  expect(m.living().length).toBeLessThanOrEqual(m.terms.seats)
  expect(m.floor.seats.size).toBeLessThanOrEqual(m.terms.seats)
})

test('it does what a simple model does', () => {
  const which = fc.nat(40)
  const commands = fc.commands(
    [
      fc.nat(6).map((number) => takes(number)),
      fc.tuple(which, fc.boolean()).map(([number, fence]) => keeps(number, fence)),
      which.map((number) => gives(number)),
      fc.tuple(fc.integer({ min: 1, max: 70 }), fc.boolean()).map(([s, ticks]) => passes(s, ticks)),
      fc.constant(restarts),
      fc.constant(checks),
    ],
    { maxCommands: 60 },
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), commands, (seats, run) => {
      const model = new Model(seats)
      fc.modelRun(() => ({ model, real: model }), run)
    }),
    { numRuns: 500 },
  )
})
