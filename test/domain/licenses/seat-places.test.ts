/**
 * One pass over the log answers for every number of seats what a license with that many would have refused: as a simulation of each
 * number alone does, in which the seats in use never exceed it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  countPlaces,
  type Places,
  refusedWith,
  type SeatChange,
  seatChange,
} from '../../../src/domain/licenses/seat-places.ts'

function placesOfTakings(held: number, changes: readonly SeatChange[]): Places {
  const places = countPlaces(held)
  for (const change of changes) places.add(change)
  return places.counted()
}

const taken = (deviceId: string): SeatChange => ({ type: 'taken', deviceId })
const ended = (deviceId: string): SeatChange => ({ type: 'ended', deviceId })
const vacated = (left: number): SeatChange => ({ type: 'vacated', left })

/** The numbers of seats from 0 on, each with the takings that it would have refused. */
const refusedBy = (places: Places, most: number): number[] =>
  Array.from({ length: most + 1 }, (_, seats) => refusedWith(places, seats))

test.each<[what: string, held: number, changes: SeatChange[], refused: number[]]>([
  ['nothing', 0, [], [0, 0]],
  ['one after the other', 0, [taken('a'), ended('a'), taken('b'), ended('b')], [2, 0]],
  ['two at once', 0, [taken('a'), taken('b'), ended('a'), taken('c')], [3, 1, 0]],
  // With one seat, b is refused, so that c finds a free seat after a.
  ['a refused one takes no seat', 0, [taken('a'), taken('b'), ended('a'), taken('c'), ended('b')], [3, 1, 0]],
  ['beside those that were held before', 2, [taken('a'), ended('old'), taken('b')], [2, 2, 1, 0]],
  // Of the two that were held, the one that ends first counts as the second.
  ['after one that was held before', 2, [ended('old'), taken('a')], [1, 1, 0]],
  ['after all were vacated', 1, [taken('a'), taken('b'), vacated(0), taken('c')], [3, 2, 1, 0]],
  [
    'after a new key that kept devices',
    0,
    [taken('a'), vacated(1), taken('b'), ended('a'), taken('c')],
    [3, 1, 0],
  ],
])('what %s would have been refused', (_, held, changes, refused) => {
  expect(refusedBy(placesOfTakings(held, changes), refused.length - 1)).toStrictEqual(refused)
})

test('takings, ends and what vacates seats change them; nothing else does', () => {
  const deviceId = 'a'
  expect(seatChange({ type: 'DeviceActivated', deviceId }, 1)).toStrictEqual(taken('a'))
  expect(seatChange({ type: 'DeviceDeactivated', deviceId }, 0)).toStrictEqual(ended('a'))
  expect(seatChange({ type: 'LicenseReminted', deviceId: '' }, 0)).toStrictEqual(vacated(0))
  expect(seatChange({ type: 'LicenseRevoked', deviceId: '' }, 3)).toBeUndefined()
  expect(seatChange({ type: 'DeviceIdentified', deviceId }, 3)).toBeUndefined()
})

type Log = { held: number; changes: SeatChange[]; peak: number }

/** A possible log: seats end that are in use, and those that were held before end without a taking. */
const anyLog: fc.Arbitrary<Log> = fc
  .record({
    held: fc.nat({ max: 4 }),
    steps: fc.array(fc.record({ kind: fc.integer({ min: 0, max: 20 }), at: fc.nat() }), { maxLength: 80 }),
  })
  .map(({ held, steps }) => {
    let inUse = Array.from({ length: held }, (_, index) => `held-${index}`)
    let peak = held
    const changes = steps.flatMap(({ kind, at }, index): SeatChange[] => {
      if (kind === 0) {
        inUse = []
        return [vacated(0)]
      }
      const one = inUse[at % Math.max(1, inUse.length)]
      if (kind <= 9 && one !== undefined) {
        inUse = inUse.filter((deviceId) => deviceId !== one)
        return [ended(one)]
      }
      inUse.push(`device-${index}`)
      peak = Math.max(peak, inUse.length)
      return [taken(`device-${index}`)]
    })
    return { held, changes, peak }
  })

/** One number of seats alone. Those that were held before are admitted in the order in which they last. */
function simulated({ held, changes }: Log, seats: number): { refused: number; most: number } {
  let heldLeft = held
  const inUse = new Set<string>()
  let refused = 0
  let most = Math.min(heldLeft, seats)
  const used = () => inUse.size + Math.min(heldLeft, seats)
  for (const change of changes) {
    if (change.type === 'vacated') {
      inUse.clear()
      heldLeft = 0
    } else if (change.type === 'ended') {
      if (change.deviceId.startsWith('held-')) heldLeft--
      else inUse.delete(change.deviceId)
    } else if (used() < seats) inUse.add(change.deviceId)
    else refused++
    most = Math.max(most, used())
  }
  return { refused, most }
}

test('every number of seats refuses what it would refuse alone, and never has more seats in use', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const places = placesOfTakings(log.held, log.changes)
      for (let seats = 0; seats <= log.peak + 1; seats++) {
        const alone = simulated(log, seats)
        expect(refusedWith(places, seats)).toBe(alone.refused)
        expect(alone.most).toBeLessThanOrEqual(seats)
      }
    }),
    { numRuns: 500 },
  )
})

test('as many seats as were in use at the peak refuse nothing, none refuses all, and more never refuse more', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const places = placesOfTakings(log.held, log.changes)
      const refused = refusedBy(places, log.peak)
      expect(refused.at(-1)).toBe(0)
      expect(refused[0]).toBe(places.takings)
      expect(places.takings).toBe(log.changes.filter(({ type }) => type === 'taken').length)
      expect(refused).toStrictEqual(refused.toSorted((one, other) => other - one))
    }),
    { numRuns: 500 },
  )
})
