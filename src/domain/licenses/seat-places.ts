import { mayChangeAllSeats } from './event-traits.ts'
import type { LicenseEvent } from './events.ts'

/** What an event does to seats in use: one is taken, one ends, or all but some end at once. */
export type SeatChange =
  | { type: 'taken'; deviceId: string }
  | { type: 'ended'; deviceId: string }
  /** `left` is how many are in use afterwards. */
  | { type: 'vacated'; left: number }

/**
 * What an event does to the seats of a license with floating seats; undefined when nothing.
 * @param seatsUsed how many are in use after it
 */
export function seatChange(
  { type, deviceId }: { type: LicenseEvent['type']; deviceId: string },
  seatsUsed: number,
): SeatChange | undefined {
  if (type === 'DeviceActivated') return { type: 'taken', deviceId }
  if (type === 'DeviceDeactivated') return { type: 'ended', deviceId }
  return mayChangeAllSeats({ type }) ? { type: 'vacated', left: seatsUsed } : undefined
}

/** How many seats were taken, by the lowest place that was free for each: the first place has index 0. */
export type Places = { takings: number; byPlace: readonly number[] }

/**
 * Gives each taking the lowest place that is free. What happens in the first N places does not depend on the others, so they show what a
 * license with N seats would have done: a taking with a place beyond N would have found all N in use, and been refused. Thus one pass answers for
 * every N. A refused taking takes no seat.
 * @param held how many seats were in use before the changes. They have the first places; which device has which is not known, so
 *   those that are in use longest count as the first
 */
export function countPlaces(held: number) {
  const seats = createPlaces(held)
  const placeOf = new Map<string, number>()
  const byPlace: number[] = []
  let takings = 0
  return {
    /** Counts the next change, in the order of the log. */
    add(change: SeatChange): void {
      if (change.type === 'taken') {
        const place = seats.take()
        placeOf.set(change.deviceId, place)
        while (byPlace.length <= place) byPlace.push(0)
        byPlace[place] = (byPlace[place] ?? 0) + 1
        takings++
      } else if (change.type === 'ended') {
        seats.free(placeOf.get(change.deviceId))
        placeOf.delete(change.deviceId)
      } else {
        seats.freeDownTo(change.left)
        for (const [deviceId, place] of placeOf) if (!seats.isTaken(place)) placeOf.delete(deviceId)
      }
    },
    counted: (): Places => ({ takings, byPlace }),
  }
}

/** How many of the takings N seats would have refused. Never more than with fewer seats. */
export const refusedWith = ({ byPlace }: Places, seats: number): number =>
  byPlace.slice(seats).reduce((sum, count) => sum + count, 0)

function createPlaces(held: number) {
  const taken: boolean[] = Array.from({ length: held }, () => true)
  let heldLeft = held
  let used = held
  /** No place before it is free. */
  let lowest = held
  const release = (place: number) => {
    taken[place] = false
    used--
    lowest = Math.min(lowest, place)
  }
  return {
    isTaken: (place: number): boolean => taken[place] === true,
    take(): number {
      while (taken[lowest] === true) lowest++
      taken[lowest] = true
      used++
      return lowest
    },
    /** Without a place, frees that of a seat that was held before: of these, the last. */
    free(place: number | undefined): void {
      if (place !== undefined) release(place)
      else if (heldLeft > 0) release(--heldLeft)
    },
    /** Frees the last places. */
    freeDownTo(left: number): void {
      for (let place = taken.length - 1; used > left && place >= 0; place--)
        if (taken[place] === true) release(place)
      heldLeft = Math.min(heldLeft, taken.lastIndexOf(true) + 1)
    },
  }
}
