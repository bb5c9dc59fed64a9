import type { LicenseEvent } from './events.ts'
import type { ChainHead } from './relay-events.ts'

/** How many seats a relay may give out, and until when. */
type Certificate = { seats: number; endsAt: string }

/** A relay in a customer's network, which gives out seats of a license by itself. */
export type Relay = Certificate & {
  relayId: string
  name: string
  /** Ed25519, base64url. */
  publicKey: string
  /** Certificates before the present one that may still be used: nobody can shorten what was signed. */
  former: readonly Certificate[]
  head: ChainHead
  nonce: string
  counter: number
  /** Of two certificates of a relay, the one with the higher serial is newer. */
  serial: number
  enrolledAt: string
  /** When the present certificate was made. */
  certifiedAt: string
  releasedAt: string | null
  forkedAt: string | null
}

/** The relays of a license; those that ended or were released more than a year ago are left out. */
export type Relays = { relays: readonly Relay[] }

/** The clock of a relay may be so far behind ours: its seats come back only after that. */
const clocksDifferMs = 10 * 60_000
const yearMs = 366 * 86_400_000

/** How many seats a relay takes at a moment: the most of all its certificates that may still be used. */
export const seatsOfRelay = ({ releasedAt, former, ...present }: Relay, at: string): number =>
  releasedAt === null
    ? Math.max(0, ...[present, ...former].filter((each) => isUsable(each, at)).map(({ seats }) => seats))
    : 0

/** Also when its end has passed by our clock, but perhaps not by that of the relay. */
const isUsable = ({ endsAt }: Certificate, at: string): boolean =>
  Date.parse(at) < Date.parse(endsAt) + clocksDifferMs

/** Whether a certificate allows nothing that a newer one does not. */
const isCovered = (one: Certificate, by: Certificate): boolean =>
  one.seats <= by.seats && one.endsAt <= by.endsAt

/** How many seats of a license its relays take at a moment. */
export const relaySeats = ({ relays }: Relays, at: string): number =>
  relays.reduce((sum, relay) => sum + seatsOfRelay(relay, at), 0)

/** How many seats of a license are taken at a moment, by devices and relays. */
export const seatsTaken = (license: Relays & { seatsUsed: number }, at: string): number =>
  license.seatsUsed + relaySeats(license, at)

export const relayStates = ['living', 'ended', 'released', 'copied'] as const
export type RelayState = (typeof relayStates)[number]

/** What a relay is at a moment. One that was copied or ended may still take seats: see {@link seatsOfRelay}. */
export function stateOfRelay(relay: Relay, at: string): RelayState {
  if (relay.releasedAt !== null) return 'released'
  if (relay.forkedAt !== null) return 'copied'
  return at < relay.endsAt ? 'living' : 'ended'
}

export type RelayEvent = Extract<
  LicenseEvent,
  { type: 'RelayEnrolled' | 'RelayRenewed' | 'RelayReleased' | 'RelayForked' }
>

export const isOfRelay = (event: LicenseEvent): event is RelayEvent =>
  event.type === 'RelayEnrolled' ||
  event.type === 'RelayRenewed' ||
  event.type === 'RelayReleased' ||
  event.type === 'RelayForked'

/** The relays of a license after something happened to one of them. */
export function evolveRelays(relays: readonly Relay[], event: RelayEvent): readonly Relay[] {
  if (event.type === 'RelayEnrolled') {
    const { at, ...relay } = event.data
    const fresh = { ...relay, former: [], enrolledAt: at, certifiedAt: at, releasedAt: null, forkedAt: null }
    return [...relays.filter((each) => !isForgotten(each, at)), fresh]
  }
  const changed = (relay: Relay): Relay => {
    const { at } = event.data
    switch (event.type) {
      case 'RelayRenewed': {
        const { at: certifiedAt, ...certified } = event.data
        const before = [{ seats: relay.seats, endsAt: relay.endsAt }, ...relay.former]
        const former = before.filter((each) => isUsable(each, at) && !isCovered(each, certified))
        return { ...relay, ...certified, certifiedAt, former }
      }
      case 'RelayReleased':
        return { ...relay, releasedAt: at }
      case 'RelayForked':
        return { ...relay, forkedAt: at }
    }
  }
  return relays.map((relay) => (relay.relayId === event.data.relayId ? changed(relay) : relay))
}

function isForgotten(relay: Relay, at: string): boolean {
  const ends = [relay, ...relay.former].map(({ endsAt }) => Date.parse(endsAt))
  const end = relay.releasedAt === null ? Math.max(...ends) : Date.parse(relay.releasedAt)
  return Date.parse(at) - end > yearMs
}
