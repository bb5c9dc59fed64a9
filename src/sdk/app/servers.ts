import type { Calls } from './calls.ts'

/** Where the relays of the network are, in the order in which they are asked: their addresses, or what finds them. */
export type Relays = readonly string[] | (() => readonly string[] | Promise<readonly string[]>)

/** Who gives seats: a relay by its address, or the vendor's server without one. */
export type Server = { relay: string | undefined; calls: Calls }

/** The relays of the customer's network and the vendor's server. */
export type Servers = {
  /** The vendor's server: it alone is believed about its keys, and asked about settings and trials. */
  vendor: Calls
  /** All in the order in which they are asked for a seat: the relays, and the vendor's server at the end. */
  inOrder(): Promise<readonly Server[]>
  /** The one that gave a seat. */
  that(gave: { relay?: string | undefined }): Calls
}

/** @param vendor undefined for an app that never reaches the vendor's server */
export function createServers(
  vendor: Calls | undefined,
  none: Calls,
  relays: Relays,
  callsTo: (address: string) => Calls,
): Servers {
  const known = new Map<string, Calls>()
  const relay = (address: string): Calls => {
    const calls = known.get(address) ?? callsTo(address)
    known.set(address, calls)
    return calls
  }
  return {
    vendor: vendor ?? none,
    async inOrder() {
      // Looked up anew each time: a laptop changes its network. Finding none must not keep the app from its vendor.
      const found = await (async () => (typeof relays === 'function' ? relays() : relays))().catch(() => [])
      const near = found.map((address) => ({ relay: address, calls: relay(address) }))
      return vendor || near.length === 0 ? [...near, { relay: undefined, calls: vendor ?? none }] : near
    },
    that: ({ relay: address }) => (address === undefined ? (vendor ?? none) : relay(address)),
  }
}
