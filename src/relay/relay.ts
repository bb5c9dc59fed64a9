import { newId } from '../credentials/id.ts'
import type { DeviceClaim } from '../domain/licenses/marks.ts'
import type { Certified } from './answer.ts'
import { type Clocks, createRelayClock, type RelayClock } from './clock.ts'
import {
  type BlockedDevice,
  blocked,
  type Changed,
  end,
  type Floor,
  keep,
  type Moment,
  type Outcome,
  type RelaySeat,
  ranOut,
  seatsInUse,
  secondsLeft,
  stored,
  take,
  type Terms,
  unblocked,
} from './floor.ts'
import { addToMinute, fenceOf, newestEntries, type Recorded, writeEnds, writeFloor } from './store/changes.ts'
import type { Database } from './store/database.ts'
import { type Enrollment, type Kept, readKept, writeValue } from './store/state.ts'

/** What a relay may do now: serve; nothing, since its certificate is over or its seats were returned; or wait for its first one. */
export type Standing =
  | { kind: 'serving' | 'over'; enrollment: Enrollment; certified: Certified }
  | { kind: 'released'; enrollment: Enrollment }
  | { kind: 'waiting' }

/** A seat: until when it is held, in Unix seconds, and how long that is. */
export type SeatHeld = { seat: RelaySeat; endsAt: number; seconds: number }

type Taken = (SeatHeld & { kind: 'seated' }) | Exclude<Outcome, { kind: 'seated' }>

/**
 * A running relay: the seats in memory, and the file in which they are durable. Each function is one step without a pause. That
 * a seat was taken or ended is durable when it is returned; until when seats last is not, since after a start each of them lasts
 * for one whole period. Each throws StoreFailed when the file cannot be written, and then nothing has changed.
 */
export type Relay = {
  clock: RelayClock
  /** Since the start. */
  counted: Readonly<{ taken: number; denied: number; heartbeats: number }>
  standing: () => Standing
  /** undefined in a directory in which no relay was enrolled. */
  enrollment: () => Enrollment | undefined
  activate: (claim: DeviceClaim & { name: string }, platform: string | null) => Taken
  /** @returns undefined when the seat is lost */
  keepSeat: (instanceId: string, fence?: number) => SeatHeld | undefined
  /** @returns `unknown` for an instance that never had a seat, `lost` for a fence that is not its own */
  giveBack: (instanceId: string, fence?: number) => 'done' | 'lost' | 'unknown'
  /** Whether an instance has had a seat. */
  isKnown: (instanceId: string) => boolean
  seats: () => SeatHeld[]
  /** How many seats are in use, and how many there may be. */
  use: () => { inUse: number; seats: number }
  blocked: () => readonly BlockedDevice[]
  newest: (most: number) => Recorded[]
  /** Frees the seat of an instance. */
  free: (instanceId: string) => void
  /** Frees the seat of an instance, and gives its device no other one. */
  block: (instanceId: string) => void
  unblock: (blockedId: number) => void
  /** Records what ran out, and writes what changed: ends, counts, the time. To be called every second. */
  tick: () => void
  /** Reads again what another part of the program, or another process, has written. */
  reload: () => void
}

/** How often the time is written while nothing else is. */
const timeMs = 10_000

/** Opens the relay of a directory that this process has locked. @throws StoreFailed; AnswerUnusable for a damaged file */
export function openRelay(database: Database, clocks: Clocks): Relay {
  let kept = database.read(readKept)
  const clock = createRelayClock(clocks, kept.time)
  let floor = stored(kept, termsOf(kept), momentOf(clock))
  const counted = { taken: 0, denied: 0, heartbeats: 0 }
  /** What is not written yet: instances whose end has moved, and refusals by their minute. */
  const moved = new Set<string>()
  let denied = new Map<number, number>()
  let timeWritten = clock.monotonic()

  /** Takes over what is stored; seats keep the ends that they have in this process. */
  function takeOver(read: Kept): void {
    const isNew = read.certified?.claims.serial !== kept.certified?.claims.serial
    kept = read
    if (isNew && read.certified) {
      const from = Date.parse(read.certified.claims.iat)
      clock.correct({ from, until: from + Math.max(0, clock.now() - read.requestedAt) })
    }
    floor = stored(kept, termsOf(kept), momentOf(clock), floor)
  }

  /** Minutes that were reported do not change any more, even if the time was corrected. */
  const minuteNow = (): number => Math.max(kept.reportedMinute + 1, Math.floor(clock.now() / 60_000))

  /** Makes a change durable, then visible. @param decide is repeated when another process has written meanwhile */
  function change<Result>(decide: (floor: Floor, at: Moment) => Changed & { result: Result }): Result {
    const at = momentOf(clock)
    const decided = decide(floor, at)
    if (decided.floor.seats === floor.seats && decided.floor.blocked === floor.blocked) {
      floor = decided.floor
      return decided.result
    }
    const done = database.transact((connection, hasChanged) => {
      if (hasChanged) takeOver(readKept(connection))
      const { floor: after, entries, result } = decide(floor, at)
      const head = writeFloor(connection, floor, after, kept.head, entries)
      const taken = entries.filter(({ type }) => type === 'taken').length
      const peak = Math.max(floor.seats.size, after.seats.size)
      if (entries.length > 0) addToMinute(connection, { minute: minuteNow(), peak, taken, denied: 0 })
      return { after, head, taken, result }
    })
    floor = done.after
    kept = { ...kept, head: done.head }
    counted.taken += done.taken
    return done.result
  }

  const held = (seat: RelaySeat): SeatHeld => {
    const now = momentOf(clock)
    const end = kept.certified ? Date.parse(kept.certified.claims.exp) / 1000 : now.seconds
    const seconds = Math.max(0, Math.min(secondsLeft(floor, seat.instanceId, now), end - now.seconds))
    return { seat, seconds, endsAt: now.seconds + seconds }
  }

  function deny(): void {
    counted.denied += 1
    denied.set(minuteNow(), (denied.get(minuteNow()) ?? 0) + 1)
  }

  function write(): void {
    const refused = denied
    const endsAt = new Map([...moved].flatMap((id) => endOf(id)))
    database.transact((connection, hasChanged) => {
      if (hasChanged) takeOver(readKept(connection))
      writeEnds(connection, endsAt)
      for (const [minute, count] of refused)
        addToMinute(connection, { minute, peak: floor.seats.size, taken: 0, denied: count })
      writeValue(connection, 'time', { now: clock.now(), highest: Math.floor(clock.highest()) })
    })
    denied = new Map()
    moved.clear()
    timeWritten = clock.monotonic()
  }

  const endOf = (instanceId: string): [string, number][] => {
    const seat = floor.seats.get(instanceId)
    return seat ? [[instanceId, held(seat).endsAt]] : []
  }

  return {
    clock,
    counted,
    standing: () => standingOf(kept, clock),
    enrollment: () => kept.enrollment,
    activate(claim, platform) {
      const newInstanceId = newId('ins')
      const taken = change((before, at) => {
        const terms = requireTerms(kept)
        const { outcome, ...changed } = take(before, terms, { claim, platform, newInstanceId }, at)
        return { ...changed, result: outcome }
      })
      if (taken.kind !== 'seated') {
        deny()
        return taken
      }
      moved.add(taken.seat.instanceId)
      return { kind: 'seated', ...held(taken.seat) }
    },
    keepSeat(instanceId, fence) {
      const keptSeat = keep(floor, requireTerms(kept), { instanceId, fence }, momentOf(clock))
      if (!keptSeat) return undefined
      floor = keptSeat.floor
      moved.add(instanceId)
      counted.heartbeats += 1
      return held(keptSeat.seat)
    },
    giveBack(instanceId, fence) {
      const known = floor.seats.get(instanceId)?.fence ?? database.read((file) => fenceOf(file, instanceId))
      if (known === undefined) return 'unknown'
      if (fence !== undefined && fence !== known) return 'lost'
      change((before, at) => ({ ...end(before, instanceId, 'given_back', at), result: undefined }))
      return 'done'
    },
    isKnown: (instanceId) => database.read((file) => fenceOf(file, instanceId)) !== undefined,
    seats: () => [...floor.seats.values()].map(held),
    use: () => ({ inUse: seatsInUse(floor, momentOf(clock)), seats: termsOf(kept)?.seats ?? 0 }),
    blocked: () => floor.blocked,
    newest: (most) => database.read((file) => newestEntries(file, most)),
    free: (instanceId) => change((before, at) => ({ ...end(before, instanceId, 'freed', at), result: undefined })),
    block: (instanceId) => change((before, at) => ({ ...blocked(before, instanceId, at), result: undefined })),
    unblock: (id) => change((before) => ({ floor: unblocked(before, id), entries: [], result: undefined })),
    tick() {
      change((before, at) => ({ ...ranOut(before, at), result: undefined }))
      const isDue = clock.monotonic() - timeWritten >= timeMs
      if (moved.size > 0 || denied.size > 0 || isDue || database.hasChanged()) write()
    },
    reload: () => takeOver(database.read(readKept)),
  }
}

const momentOf = (clock: RelayClock): Moment => ({
  monotonic: clock.monotonic(),
  seconds: Math.floor(clock.now() / 1000),
})

/** A request for fewer seats counts at once: the vendor may have answered it already. */
function termsOf({ certified, fewestAsked }: Kept): Terms | undefined {
  if (!certified) return undefined
  const { seats, seat_seconds: seatSeconds, scope } = certified.claims
  return { seats: Math.min(seats, fewestAsked), floating: { seatSeconds, scope, overdraft: null } }
}

function requireTerms(kept: Kept): Terms {
  const terms = termsOf(kept)
  if (!terms) throw new Error('a relay without a certificate gives no seats')
  return kept.released ? { ...terms, seats: 0 } : terms
}

function standingOf({ enrollment, certified, released }: Kept, clock: RelayClock): Standing {
  if (!enrollment) return { kind: 'waiting' }
  if (released) return { kind: 'released', enrollment }
  if (!certified) return { kind: 'waiting' }
  const isOver = clock.highest() >= Date.parse(certified.claims.exp)
  return { kind: isOver ? 'over' : 'serving', enrollment, certified }
}
