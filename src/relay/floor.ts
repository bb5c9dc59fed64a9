import { z } from 'zod'
import { sameJson } from '../domain/equality.ts'
import { claimOn, isOfFence, seatOf } from '../domain/licenses/floating.ts'
import { alsoHeld, marksAfter, recognized } from '../domain/licenses/identity.ts'
import type { DeviceClaim, DeviceIdentity } from '../domain/licenses/marks.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import type { FloatingSeats } from '../domain/products/key-type.ts'
import type { Entry, SeatEnd } from './entry.ts'

/** A seat that a relay gave to a device, as it is stored. */
export const RelaySeat = z.strictObject({
  instanceId: z.string(),
  fence: z.int().min(1),
  name: z.string(),
  installId: z.string().nullable(),
  /** Hashed with the relay's own key, as its components. */
  machine: z.string().nullable(),
  components: z.record(z.string(), z.string()),
  platform: z.string().nullable(),
  /** Unix seconds. */
  since: z.int(),
})
export type RelaySeat = z.infer<typeof RelaySeat>

/** A device that gets no seat. */
export type BlockedDevice = RelaySeat & { blockedId: number }

/** The seats of a relay. */
export type Floor = {
  /** The fence of the seat that was taken last; 0 before the first. */
  lastFence: number
  /** By instance id. */
  seats: ReadonlyMap<string, RelaySeat>
  /** When each seat ends, by instance id, in milliseconds of the monotonic clock. */
  ends: ReadonlyMap<string, number>
  blocked: readonly BlockedDevice[]
}

/** How many seats the certificate allows, and how they float. */
export type Terms = { seats: number; floating: FloatingSeats }

/** The monotonic clock in milliseconds, and the time in Unix seconds. */
export type Moment = { monotonic: number; seconds: number }

export type Changed = { floor: Floor; entries: Entry[] }
export type Outcome =
  /** `before` is the seat as it was stored; undefined for a new one. */
  | { kind: 'seated'; seat: RelaySeat; before: RelaySeat | undefined }
  | { kind: 'full'; retryAfter: number }
  | { kind: 'blocked' }

/** What a device says of itself when it takes a seat. */
export type Asking = { claim: DeviceClaim & { name: string }; platform: string | null; newInstanceId: string }

/** The subject of hashes that the relay's own key makes; there is one. */
export const ownSubject = 'relay'

const periodMs = ({ floating }: Terms): number => floating.seatSeconds * 1000

/**
 * Gives a device a seat; one that has a seat keeps it. Seats whose end has passed are free for it.
 * @returns the entries to record, before anyone is told of the change
 */
export function take(
  floor: Floor,
  terms: Terms,
  { claim: said, platform, newInstanceId }: Asking,
  at: Moment,
): Changed & { outcome: Outcome } {
  const after = ranOut(floor, at)
  const claim = claimOn(terms, said)
  if (isBlocked(after.floor, said)) return { ...after, outcome: { kind: 'blocked' } }
  const all = seatsOf(after.floor)
  const found = seatOf(
    { floating: terms.floating, seatsUsed: all.size, seats: all, deviceSubjects: [] },
    claim,
    null,
  )
  const before = found && after.floor.seats.get(found.instanceId)
  if (found && before) {
    const others = alsoHeld(all.values(), found, claim)
    const rest = others.reduce((changed, { instanceId }) => ended(changed, instanceId, 'replaced', at), after)
    const { installId, name, identity } = marksAfter(found, claim)
    const said: RelaySeat = { ...before, name, installId, ...storedIdentity(identity) }
    const seat = sameJson(said, before) ? before : said
    return {
      ...rest,
      floor: withSeat(rest.floor, terms, seat, at),
      outcome: { kind: 'seated', seat, before },
    }
  }
  if (all.size >= terms.seats)
    return { ...after, outcome: { kind: 'full', retryAfter: waitIn(after.floor, terms, at) } }
  const { installId, name, identities } = claim
  const seat: RelaySeat = {
    instanceId: newInstanceId,
    fence: after.floor.lastFence + 1,
    name,
    installId,
    ...storedIdentity(identities[0] ?? null),
    platform,
    since: at.seconds,
  }
  const entry: Entry = { type: 'taken', instance_id: newInstanceId, fence: seat.fence, name, at: at.seconds }
  return {
    floor: { ...withSeat(after.floor, terms, seat, at), lastFence: seat.fence },
    entries: [...after.entries, entry],
    outcome: { kind: 'seated', seat, before: undefined },
  }
}

/**
 * Keeps a seat for one more period.
 * @param fence of the seat that the device means; undefined for whichever it has
 * @returns the seat and its new end; undefined when it ran out, was given back, or is not the one that the device means
 */
export function keep(
  floor: Floor,
  terms: Terms,
  { instanceId, fence }: { instanceId: string; fence?: number | undefined },
  at: Moment,
): { seat: RelaySeat; end: number } | undefined {
  const seat = floor.seats.get(instanceId)
  if (!seat || !isOfFence(seat, fence) || hasPassed(floor, instanceId, at)) return undefined
  return { seat, end: at.monotonic + periodMs(terms) }
}

/** Ends a seat; nothing changes without one. One whose end has passed ran out, whoever ends it now. */
export const end = (floor: Floor, instanceId: string, how: SeatEnd, at: Moment): Changed =>
  ended({ floor, entries: [] }, instanceId, hasPassed(floor, instanceId, at) ? 'ran_out' : how, at)

/** Ends a seat, and gives its device no other one. */
export function blocked(floor: Floor, instanceId: string, at: Moment): Changed {
  const seat = floor.seats.get(instanceId)
  if (!seat) return { floor, entries: [] }
  const changed = end(floor, instanceId, 'blocked', at)
  const blockedId = Math.max(0, ...floor.blocked.map((each) => each.blockedId)) + 1
  return { ...changed, floor: { ...changed.floor, blocked: [...floor.blocked, { ...seat, blockedId }] } }
}

/** Lets a device take seats again. */
export const unblocked = (floor: Floor, blockedId: number): Floor => ({
  ...floor,
  blocked: floor.blocked.filter((each) => each.blockedId !== blockedId),
})

/** Ends all seats whose end has passed. */
export const ranOut = (floor: Floor, at: Moment): Changed =>
  [...floor.seats.keys()]
    .filter((instanceId) => hasPassed(floor, instanceId, at))
    .reduce<Changed>((changed, instanceId) => ended(changed, instanceId, 'ran_out', at), {
      floor,
      entries: [],
    })

/**
 * The seats after a start: what was stored is taken, and lasts for one whole period, since devices could not call meanwhile.
 * @param ends of a floor of this process, whose seats are not given more time
 */
export function stored(
  stored: Pick<Floor, 'lastFence' | 'blocked'> & { seats: readonly RelaySeat[] },
  terms: Terms | undefined,
  at: Moment,
  before?: Floor,
): Floor {
  const endOf = ({ instanceId, fence }: RelaySeat): number =>
    (before?.seats.get(instanceId)?.fence === fence ? before.ends.get(instanceId) : undefined) ??
    at.monotonic + (terms ? periodMs(terms) : 0)
  return {
    ...stored,
    seats: new Map(stored.seats.map((seat) => [seat.instanceId, seat])),
    ends: new Map(stored.seats.map((seat) => [seat.instanceId, endOf(seat)])),
  }
}

/** How many seats are in use: a seat that ran out is not, whether or not that is recorded. */
export const seatsInUse = (floor: Floor, at: Moment): number =>
  [...floor.seats.keys()].filter((instanceId) => !hasPassed(floor, instanceId, at)).length

/** How many milliseconds a seat lasts without another call. */
export const timeLeft = ({ ends }: Floor, instanceId: string, { monotonic }: Moment): number =>
  Math.max(0, (ends.get(instanceId) ?? monotonic) - monotonic)

const hasPassed = ({ ends }: Floor, instanceId: string, { monotonic }: Moment): boolean =>
  (ends.get(instanceId) ?? Infinity) <= monotonic

const isBlocked = ({ blocked }: Floor, claim: DeviceClaim): boolean =>
  recognized(blocked.map(asSeat), claim, null) !== undefined

/** Until the first seat may be free, at most half of a period: a device may give its seat back before. */
function waitIn({ ends }: Floor, terms: Terms, { monotonic }: Moment): number {
  const first = Math.min(...ends.values())
  return Math.max(
    1,
    Math.min(Math.ceil((first - monotonic) / 1000), Math.floor(terms.floating.seatSeconds / 2)),
  )
}

function ended({ floor, entries }: Changed, instanceId: string, how: SeatEnd, at: Moment): Changed {
  const seat = floor.seats.get(instanceId)
  if (!seat) return { floor, entries }
  const { fence, name } = seat
  return {
    floor: { ...floor, seats: without(floor.seats, instanceId), ends: without(floor.ends, instanceId) },
    entries: [...entries, { type: 'ended', instance_id: instanceId, fence, name, how, at: at.seconds }],
  }
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}

const withSeat = (floor: Floor, terms: Terms, seat: RelaySeat, { monotonic }: Moment): Floor => ({
  ...floor,
  seats:
    floor.seats.get(seat.instanceId) === seat ? floor.seats : new Map(floor.seats).set(seat.instanceId, seat),
  ends: new Map(floor.ends).set(seat.instanceId, monotonic + periodMs(terms)),
})

const seatsOf = ({ seats }: Floor): Map<string, Seat> =>
  new Map(Array.from(seats, ([instanceId, seat]) => [instanceId, asSeat(seat)]))

const storedIdentity = (identity: DeviceIdentity | null) => ({
  machine: identity?.machine ?? null,
  components: identity?.components ?? {},
})

const known = new WeakMap<RelaySeat, Seat>()

/** A seat as the rules of licenses know it. */
function asSeat(seat: RelaySeat): Seat {
  const found = known.get(seat) ?? madeOf(seat)
  known.set(seat, found)
  return found
}

function madeOf({ machine, components, since, ...seat }: RelaySeat): Seat {
  const hasMarks = machine !== null || Object.keys(components).length > 0
  return {
    ...seat,
    deviceId: seat.instanceId,
    identity: hasMarks ? { subjectId: ownSubject, machine, components } : null,
    former: null,
    inTwoPlacesAt: null,
    givenName: null,
    files: null,
    personId: null,
    status: 'active',
    activatedAt: new Date(since * 1000).toISOString(),
    deactivatedAt: null,
  }
}
