import { Refusal } from '../refusal.ts'
import { afterEnds, type Ends, requireSeats, type Seated } from './activation.ts'
import type { LicenseEvent } from './events.ts'
import { leaseEnd } from './expiry.ts'
import { mostSeats } from './floating.ts'
import { type Why, withReason } from './reasons.ts'
import type { ChainHead } from './relay-events.ts'
import { type Relay, type Relays, seatsOfRelay, seatsTaken } from './relay-seats.ts'
import { started } from './start.ts'

/**
 * What a relay asks with, signed by its own key. Each request has a new nonce and a higher counter, so that an old one that
 * was kept brings nothing.
 */
export type RelayRequest = {
  /** The relay that it says it is; null before it knows its id. */
  relayId: string | null
  publicKey: string
  nonce: string
  counter: number
  name: string
  seats: number
  /** Where its chain was at the last renewal that it knows of, at each request since, and now; see `docs/concepts/relays.md`. */
  heads: readonly [ChainHead, ...ChainHead[]]
}

/** A relay gives its seats back, signed by its own key. */
export type RelayRelease = Pick<RelayRequest, 'publicKey' | 'heads'> & { relayId: string }

export type RelayCommand =
  | ({
      type: 'CertifyRelay'
      /** For a relay that is not enrolled yet. */
      newId: string
      request: RelayRequest
      /** How long the certificate is good, unless the license ends before. */
      seconds: number
      at: string
    } & Ends &
      Why)
  | ({ type: 'ReleaseRelay'; release: RelayRelease; at: string } & Why)

type Certify = Extract<RelayCommand, { type: 'CertifyRelay' }>

/** How many relays a license enrolls within a year at most, so that its state stays small. */
const mostRelays = 100

/**
 * Enrolls a relay or renews it, or takes its seats back. The same request again changes nothing. A relay that turns out to have
 * been copied is recorded as such, which is the whole answer: the caller refuses it.
 * @throws Refusal `relays_off` for a license whose seats do not float; `relay_not_found`, `relay_released`, `relay_copied`,
 *   `relay_request_outdated`, `relay_limit_reached`, `seat_limit_reached`, `license_revoked`, `license_suspended`,
 *   `license_expired`
 */
export function decideOnRelay(license: Seated, command: RelayCommand): LicenseEvent[] {
  if (command.type === 'ReleaseRelay') return released(license, command)
  if (license.floating === null) throw new Refusal('relays_off')
  requireSeats(license, command.at)
  return afterEnds(license, command, (after) => certified(after, command))
}

function certified(license: Seated, command: Certify): LicenseEvent[] {
  const { request, at } = command
  const relay = relayOf(license, request)
  if (relay?.releasedAt) throw new Refusal('relay_released')
  if (relay?.forkedAt) throw new Refusal('relay_copied')
  if (relay?.nonce === request.nonce && at < relay.endsAt) return []
  requireNew(license, relay, request)
  if (relay && wasCopied(relay, request)) return [forked(relay, request, at)]
  requireFree(license, relay, request.seats, at)
  const start = started(license, at)
  const expiresAt =
    start.find((event) => event.type === 'LicenseStarted')?.data.expiresAt ?? license.expiresAt
  const end = leaseEnd({ ...license, expiresAt }, command.seconds, at)
  const { name, seats, nonce, counter, publicKey } = request
  const data = {
    relayId: relay?.relayId ?? command.newId,
    name,
    seats,
    endsAt: new Date(end * 1000).toISOString(),
    head: lastOf(request.heads),
    nonce,
    counter,
    // Two certificates of a relay that are made at once must not have the same serial.
    serial: Math.max(Date.parse(at) * 1000, (relay?.serial ?? 0) + 1),
    at,
  }
  const event: LicenseEvent = relay
    ? { type: 'RelayRenewed', data }
    : { type: 'RelayEnrolled', data: { ...data, publicKey } }
  return [...start, ...withReason(event, command)]
}

/**
 * The relay that asks. One that does not know its id, as when the answer to its enrollment was lost, is known by its key.
 * @throws Refusal `relay_not_found`
 */
function relayOf({ relays }: Relays, { relayId, publicKey }: RelayRequest): Relay | undefined {
  if (relayId === null)
    return relays.findLast((each) => each.publicKey === publicKey && each.releasedAt === null)
  const relay = relays.find((each) => each.relayId === relayId && each.publicKey === publicKey)
  if (!relay) throw new Refusal('relay_not_found')
  return relay
}

/** @throws Refusal `relay_request_outdated` for a request that is older than one that was answered, `relay_limit_reached` */
function requireNew({ relays }: Relays, relay: Relay | undefined, request: RelayRequest): void {
  const ofKey = relays.filter(({ publicKey }) => publicKey === request.publicKey)
  if (ofKey.some(({ nonce, counter }) => nonce === request.nonce || counter > request.counter))
    throw new Refusal('relay_request_outdated')
  // A relay that gave its seats back may enroll again, but not with a request from before.
  if (relay) return
  if (ofKey.some(({ counter }) => counter === request.counter)) throw new Refusal('relay_request_outdated')
  if (relays.length >= mostRelays) throw new Refusal('relay_limit_reached')
}

/** A relay reports all heads since the last one that it knows was recorded; two requests with one counter come from two relays. */
const wasCopied = ({ head, counter }: Relay, request: RelayRequest): boolean =>
  counter === request.counter || !knows(request.heads, head)

const knows = (heads: readonly ChainHead[], { length, hash }: ChainHead): boolean =>
  heads.some((each) => each.length === length && each.hash === hash)

const forked = (
  { relayId, name, head: known }: Relay,
  { heads }: Pick<RelayRequest, 'heads'>,
  at: string,
): LicenseEvent => ({ type: 'RelayForked', data: { relayId, name, known, reported: lastOf(heads), at } })

const lastOf = (heads: RelayRequest['heads']): ChainHead => heads.at(-1) ?? heads[0]

/** @throws Refusal `seat_limit_reached` */
function requireFree(license: Seated, relay: Relay | undefined, seats: number, at: string): void {
  const most = mostSeats(license)
  const others = seatsTaken(license, at) - (relay ? seatsOfRelay(relay, at) : 0)
  if (most !== null && others + seats > most) throw new Refusal('seat_limit_reached')
}

/** The seats of a relay that was copied come back when its certificates end: the copy does not stop with the release. */
function released(license: Relays, command: Extract<RelayCommand, { type: 'ReleaseRelay' }>): LicenseEvent[] {
  const { release, at } = command
  const { relayId, publicKey, heads } = release
  const relay = license.relays.find((each) => each.relayId === relayId && each.publicKey === publicKey)
  if (!relay) throw new Refusal('relay_not_found')
  if (relay.releasedAt !== null) return []
  if (relay.forkedAt !== null) throw new Refusal('relay_copied')
  if (!knows(heads, relay.head)) return [forked(relay, release, at)]
  return withReason({ type: 'RelayReleased', data: { relayId, name: relay.name, at } }, command)
}
