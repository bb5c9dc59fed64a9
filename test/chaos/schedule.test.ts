// Guarantee: a seed always gives the same schedule; each round has every kind of fault; faults on the same thing
// never overlap; and all faults end with their round.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Fault, faultKinds, inWords, scheduleOf } from './schedule.ts'

const asked = fc.record({
  seed: fc.nat({ max: 2 ** 32 - 1 }),
  rounds: fc.integer({ min: 1, max: 4 }),
  roundMs: fc.constantFrom(30_000, 45_000),
  more: fc.integer({ min: 0, max: 20 }),
})

test('the same seed gives the same schedule, another seed another one', () => {
  fc.assert(
    fc.property(asked, (options) => {
      expect(scheduleOf(options)).toStrictEqual(scheduleOf(options))
      expect(scheduleOf({ ...options, seed: options.seed + 1 })).not.toStrictEqual(scheduleOf(options))
    }),
  )
})

test('more rounds do not change the first ones', () => {
  fc.assert(
    fc.property(asked, (options) => {
      const longer = scheduleOf({ ...options, rounds: options.rounds + 1 })
      expect(longer.slice(0, options.rounds)).toStrictEqual(scheduleOf(options))
    }),
  )
})

test('each round has every kind of fault, in the order of time and within the round', () => {
  fc.assert(
    fc.property(asked, (options) => {
      for (const faults of scheduleOf(options)) {
        expect(new Set(faults.map(({ kind }) => kind))).toStrictEqual(new Set(faultKinds))
        expect(faults).toStrictEqual(faults.toSorted((one, other) => one.atMs - other.atMs))
        expect(faults.filter((fault) => fault.atMs + fault.lastsMs > options.roundMs)).toStrictEqual([])
      }
    }),
  )
})

test('faults on the same thing never overlap', () => {
  const thingOf = ({ kind, on }: Fault) =>
    kind === 'fill disk' ? `disk ${on}` : kind === 'move clock' ? 'clocks' : on
  fc.assert(
    fc.property(asked, (options) => {
      for (const faults of scheduleOf(options)) {
        for (const ofOne of Map.groupBy(faults, thingOf).values()) {
          const overlapping = ofOne.filter((fault, index) => {
            const before = ofOne[index - 1]
            return before !== undefined && fault.atMs <= before.atMs + before.lastsMs
          })
          expect(overlapping).toStrictEqual([])
        }
      }
    }),
  )
})

test('the schedule of a seed does not change between versions', () => {
  const [faults = []] = scheduleOf({ seed: 1, rounds: 1, roundMs: 30_000, more: 0 })
  expect(faults.map((fault) => `${fault.atMs} ${inWords(fault)}`)).toMatchInlineSnapshot(`
    [
      "2607 nothing passes for 5.1 s: clients to app 2",
      "3706 receiver is frozen for 19.4 s",
      "7063 answers are lost for 7.8 s: app 2 to event store",
      "8178 connections are reset: clients to app 2",
      "11088 the disk of event store is full for 4.6 s",
      "12219 the clock of app 1 is 60 s off for 9.5 s",
      "13348 Postgres is stopped in order, and started again",
      "15175 connections are cut: apps to receiver",
      "15429 everything takes 44 ms longer for 4.6 s: clients to app 2",
      "16236 Postgres is killed, and started again after 0.1 s",
      "18472 Postgres ends connections for 2.5 s",
      "20854 hostile requests are sent for 2.8 s: clients to app 2",
    ]
  `)
})
