import type { DatabaseSync } from 'node:sqlite'
import { type Clocks, createRelayClock, type RelayClock } from './clock.ts'
import { type Changed, type Floor, type Moment, stored, type Terms } from './floor.ts'
import { addToMinute, writeFloor } from './store/changes.ts'
import type { Database } from './store/database.ts'
import { type Kept, readKept, writeValue } from './store/state.ts'

/** The seats of a relay in memory and in its file. */
export type DurableFloor = {
  clock: RelayClock
  kept: () => Kept
  floor: () => Floor
  terms: () => Terms | undefined
  moment: () => Moment
  /** The minute to count in. Minutes that were reported do not change any more, even if the time was corrected. */
  minute: () => number
  /** Moves the end of a seat, which is not written with each call. @param end milliseconds of the monotonic clock */
  move: (instanceId: string, end: number) => void
  /**
   * Makes a change durable, then visible; one of ends alone is not written.
   * @param decide is repeated when another process has written meanwhile
   * @throws StoreFailed, and then nothing has changed
   */
  change: <Result>(decide: (floor: Floor, at: Moment) => Changed & { result: Result }) => Result
  /** Writes the time, and what else is to be written with it. @throws StoreFailed */
  writeWith: (work: (file: DatabaseSync) => void) => void
  /** Reads again what another part of the program, or another process, has written. @throws StoreFailed */
  reload: () => void
}

/** @throws StoreFailed; AnswerUnusable for a damaged file */
export function openFloor(database: Database, clocks: Clocks): DurableFloor {
  let kept = database.read(readKept)
  const clock = createRelayClock(clocks, kept.time)
  const moment = (): Moment => ({
    monotonic: clock.monotonic(),
    seconds: Math.floor(clock.now() / 1000),
  })
  const minute = (): number => Math.max(kept.reportedMinute + 1, Math.floor(clock.now() / 60_000))
  let floor: Floor
  /** Those of the floor, which move with each heartbeat: a copy each time would be most of the garbage. */
  let ends: Map<string, number>
  const adopt = (next: Floor): void => {
    ends = new Map(next.ends)
    floor = { ...next, ends }
  }
  adopt(stored(kept, termsOf(kept), moment()))

  /** Seats keep the ends that they have in this process. */
  function takeOver(read: Kept): void {
    const isNew = read.certified?.claims.serial !== kept.certified?.claims.serial
    kept = read
    if (isNew && read.certified) {
      const from = Date.parse(read.certified.claims.iat)
      clock.correct({ from, until: from + Math.max(0, clock.now() - read.requestedAt) })
    }
    adopt(stored(kept, termsOf(kept), moment(), floor))
  }

  return {
    clock,
    kept: () => kept,
    floor: () => floor,
    terms: () => termsOf(kept),
    moment,
    minute,
    move: (instanceId, end) => void ends.set(instanceId, end),
    change(decide) {
      const at = moment()
      const decided = decide(floor, at)
      if (decided.floor.seats === floor.seats && decided.floor.blocked === floor.blocked) {
        adopt(decided.floor)
        return decided.result
      }
      const done = database.transact((file, hasChanged) => {
        if (hasChanged) takeOver(readKept(file))
        const { floor: after, entries, result } = decide(floor, at)
        const head = writeFloor(file, floor, after, kept.head, entries)
        const taken = entries.filter(({ type }) => type === 'taken').length
        const peak = Math.max(floor.seats.size, after.seats.size)
        if (entries.length > 0) addToMinute(file, { minute: minute(), peak, taken, denied: 0 })
        return { after, head, result }
      })
      adopt(done.after)
      kept = { ...kept, head: done.head }
      return done.result
    },
    writeWith(work) {
      database.transact((file, hasChanged) => {
        if (hasChanged) takeOver(readKept(file))
        work(file)
        writeValue(file, 'time', { now: clock.now(), highest: Math.floor(clock.highest()) })
      })
    },
    reload() {
      takeOver(database.read(readKept))
    },
  }
}

/** A request for fewer seats counts at once, since the vendor may have answered it; a relay that was released has none. */
function termsOf({ certified, fewestAsked, released }: Kept): Terms | undefined {
  if (!certified) return undefined
  const { seats, seat_seconds: seatSeconds, scope } = certified.claims
  return {
    seats: released ? 0 : Math.min(seats, fewestAsked),
    floating: { seatSeconds, scope, overdraft: null },
  }
}
