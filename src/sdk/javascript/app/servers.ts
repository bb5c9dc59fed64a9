import { type Calls, noCalls } from './calls.ts'

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

/** @param address of the vendor's server; undefined for an app that never reaches it */
export function createServers(
  address: string | undefined,
  relays: Relays,
  callsTo: (address: string) => Calls,
): Servers {
  const vendor = address === undefined ? noCalls : callsTo(address)
  const known = new Map<string, Calls>()
  const relay = (at: string): Calls => {
    const calls = known.get(at) ?? callsTo(at)
    known.set(at, calls)
    return calls
  }
  return {
    vendor,
    async inOrder() {
      // Looked up anew each time: a laptop changes its network. Finding none must not keep the app from its vendor.
      const found = await (async () => (typeof relays === 'function' ? relays() : relays))().catch(() => [])
      const near = found.map((at) => ({ relay: at, calls: relay(at) }))
      return address !== undefined || near.length === 0
        ? [...near, { relay: undefined, calls: vendor }]
        : near
    },
    that: ({ relay: at }) => (at === undefined ? vendor : relay(at)),
  }
}
