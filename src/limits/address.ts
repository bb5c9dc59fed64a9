import { isIPv6 } from 'node:net'

/** The first four groups of an address as a socket names it, which nearly all are: there is nothing to work out. */
const writtenOut = /^[1-9a-f][\da-f]{0,3}:(?:(?:0|[1-9a-f][\da-f]{0,3}):){3}/

/**
 * Whose calls count together: an IPv4 address, or the /64 of an IPv6 address, since whoever has one address of it
 * has all of them. An IPv4 address that is written as IPv6 counts as itself.
 * @param address undefined where there is none: on a socket of this machine's, or one that is gone already
 */
export function callerOf(address: string | undefined): string {
  if (address === undefined) return 'no address'
  if (!address.includes(':')) return address
  const network = writtenOut.exec(address)?.[0]
  if (network !== undefined) return `${network}:/64`
  const groups = groupsOf(address)
  if (!groups) return address
  const prefix = groups.slice(0, 4).map((group) => group.toString(16))
  return ipv4In(groups) ?? `${prefix.join(':')}::/64`
}

/**
 * One address in the one form in which it is shown and recorded: an IPv4 address as such, also where a socket for both
 * kinds names it as IPv6; an IPv6 address in lower case, as short as it can be, and without the zone, which names an
 * interface of this machine. What is no address is left as it is.
 */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const groups = groupsOf(address)
  if (!groups) return address
  const written = groups.map((group) => group.toString(16)).join(':')
  return ipv4In(groups) ?? new URL(`http://[${written}]`).hostname.slice(1, -1)
}

/** The IPv4 address that an IPv6 address stands for. */
function ipv4In(groups: readonly number[]): string | undefined {
  const [, , , , , mapped = 0, high = 0, low = 0] = groups
  if (mapped !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight numbers of an IPv6 address, with what `::` leaves out; undefined for what is none. */
function groupsOf(address: string): number[] | undefined {
  const [bare = ''] = address.split('%', 1)
  if (!isIPv6(bare)) return undefined
  const lastColon = bare.lastIndexOf(':')
  const tail = bare.slice(lastColon + 1)
  // `::ffff:192.0.2.1`: the dotted form stands for the last two of the eight groups.
  const whole = tail.includes('.') ? `${bare.slice(0, lastColon)}:${dotted(tail)}` : bare
  const [front = '', back] = whole.split('::', 2)
  const numbers = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const first = numbers(front)
  const last = numbers(back ?? '')
  return [...first, ...Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => 0), ...last]
}

function dotted(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}
