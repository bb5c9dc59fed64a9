import { newId } from '../credentials/id.ts'
import { type DeviceClaim, takerOf } from '../domain/licenses/marks.ts'
import type { Certified } from './answer.ts'
import type { Clocks, RelayClock } from './clock.ts'
import { type DurableFloor, openFloor } from './durable-floor.ts'
import {
  type BlockedDevice,
  blocked,
  end,
  keep,
  type Outcome,
  type RelaySeat,
  ranOut,
  seatsInUse,
  type Terms,
  take,
  timeLeft,
  unblocked,
} from './floor.ts'
import { addToMinute, fenceOf, newestEntries, type Recorded, writeEnds } from './store/changes.ts'
import type { Database } from './store/database.ts'
import type { Enrollment, Kept } from './store/state.ts'
import { createWaits } from './waits.ts'

/** What a relay may do now: serve; nothing, since its certificate is over or its seats were returned; or wait for its first one. */
export type Standing =
  | { kind: 'serving' | 'over'; enrollment: Enrollment; certified: Certified }
  | { kind: 'released'; enrollment: Enrollment }
  | { kind: 'waiting' }

/** A seat: until when it is held, in Unix seconds, and how long that is. */
export type SeatHeld = { seat: RelaySeat; endsAt: number; seconds: number }

type Taken =
  | (SeatHeld & { kind: 'seated' })
  | (Extract<Outcome, { kind: 'full' }> & { waiting: number })
  | Extract<Outcome, { kind: 'blocked' }>

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
  const durable = openFloor(database, clocks)
  const { clock, floor, kept, moment, change } = durable
  const counted = { taken: 0, denied: 0, heartbeats: 0 }
  const unwritten = createUnwritten(durable)
  const waits = createWaits(clock.monotonic)

  return {
    clock,
    counted,
    standing: () => standingOf(kept(), clock),
    enrollment: () => kept().enrollment,
    activate(claim, platform) {
      const newInstanceId = newId('ins')
      const taken = change((before, at) => {
        const { outcome, ...changed } = take(before, termsIn(durable), { claim, platform, newInstanceId }, at)
        return { ...changed, result: outcome }
      })
      if (taken.kind !== 'seated') {
        counted.denied += 1
        unwritten.denied()
        return taken.kind === 'blocked'
          ? taken
          : { ...taken, waiting: waits.wait(takerOf(claim), taken.retryAfter) }
      }
      waits.stop(takerOf(claim))
      if (taken.before === undefined) counted.taken += 1
      unwritten.moved(taken.seat.instanceId)
      return { kind: 'seated', ...heldIn(durable, taken.seat) }
    },
    keepSeat(instanceId, fence) {
      const still = keep(floor(), termsIn(durable), { instanceId, fence }, moment())
      if (!still) return undefined
      durable.move(instanceId, still.end)
      unwritten.moved(instanceId)
      counted.heartbeats += 1
      return heldIn(durable, still.seat)
    },
    giveBack(instanceId, fence) {
      const known = floor().seats.get(instanceId)?.fence ?? knownFence(database, instanceId)
      if (known === undefined) return 'unknown'
      if (fence !== undefined && fence !== known) return 'lost'
      change((before, at) => ({ ...end(before, instanceId, 'given_back', at), result: undefined }))
      return 'done'
    },
    isKnown: (instanceId) => knownFence(database, instanceId) !== undefined,
    seats: () => [...floor().seats.values()].map((seat) => heldIn(durable, seat)),
    use: () => ({ inUse: seatsInUse(floor(), moment()), seats: durable.terms()?.seats ?? 0 }),
    blocked: () => floor().blocked,
    newest: (most) => database.read((file) => newestEntries(file, most)),
    free(instanceId) {
      change((before, at) => ({ ...end(before, instanceId, 'freed', at), result: undefined }))
    },
    block(instanceId) {
      change((before, at) => ({ ...blocked(before, instanceId, at), result: undefined }))
    },
    unblock(blockedId) {
      change((before) => ({ floor: unblocked(before, blockedId), entries: [], result: undefined }))
    },
    tick() {
      change((before, at) => ({ ...ranOut(before, at), result: undefined }))
      if (unwritten.isDue() || database.hasChanged()) unwritten.write()
    },
    reload: durable.reload,
  }
}

/** What is written once a second: ends that have moved, refusals by their minute, and now and then the time. */
function createUnwritten(durable: DurableFloor) {
  const { clock, floor } = durable
  const moved = new Set<string>()
  const denied = new Map<number, number>()
  let writtenAt = clock.monotonic()

  const endOf = (instanceId: string): [string, number][] => {
    const seat = floor().seats.get(instanceId)
    return seat ? [[instanceId, heldIn(durable, seat).endsAt]] : []
  }
  return {
    moved: (instanceId: string) => void moved.add(instanceId),
    denied() {
      const minute = durable.minute()
      denied.set(minute, (denied.get(minute) ?? 0) + 1)
    },
    isDue: () => moved.size > 0 || denied.size > 0 || clock.monotonic() - writtenAt >= timeMs,
    /** @throws StoreFailed; it is written the next time then */
    write() {
      durable.writeWith((file) => {
        writeEnds(file, new Map([...moved].flatMap(endOf)))
        for (const [minute, count] of denied)
          addToMinute(file, { minute, peak: floor().seats.size, taken: 0, denied: count })
      })
      moved.clear()
      denied.clear()
      writtenAt = clock.monotonic()
    },
  }
}

const knownFence = (database: Database, instanceId: string): number | undefined =>
  database.read((file) => fenceOf(file, instanceId))

function heldIn({ clock, kept, floor, moment }: DurableFloor, seat: RelaySeat): SeatHeld {
  const now = clock.now()
  const from = Math.floor(now / 1000)
  const { certified } = kept()
  const end = certified ? Date.parse(certified.claims.exp) : now
  const left = timeLeft(floor(), seat.instanceId, moment())
  const endsAt = Math.max(from, Math.floor(Math.min(now + left, end) / 1000))
  return { seat, endsAt, seconds: endsAt - from }
}

function termsIn(durable: DurableFloor): Terms {
  const terms = durable.terms()
  if (!terms) throw new Error('a relay without a certificate gives no seats')
  return terms
}

function standingOf({ enrollment, certified, released }: Kept, clock: RelayClock): Standing {
  if (!enrollment) return { kind: 'waiting' }
  if (released) return { kind: 'released', enrollment }
  if (!certified) return { kind: 'waiting' }
  const isOver = clock.highest() >= Date.parse(certified.claims.exp)
  return { kind: isOver ? 'over' : 'serving', enrollment, certified }
}
