import { isIPv6 } from 'node:net'

/** Matches an address whose first four groups can be used as written, as is true of nearly all. */
const writtenOut = /^[1-9a-f][\da-f]{0,3}:(?:(?:0|[1-9a-f][\da-f]{0,3}):){3}/

/**
 * The address or network whose calls count together: an IPv4 address, or the /64 of an IPv6 address, since a
 * user of one address usually has the whole /64. An IPv4 address written as IPv6 counts as IPv4.
 * @param address undefined for a unix socket, or a connection that is already closed
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
 * Normalizes an address for display and recording. An IPv4 address is written as such, even if a dual-stack
 * socket reports it as IPv6. An IPv6 address is lower case, compressed, and without the zone, which names an
 * interface of this machine. Any other text is returned unchanged.
 */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const groups = groupsOf(address)
  if (!groups) return address
  const written = groups.map((group) => group.toString(16)).join(':')
  return ipv4In(groups) ?? new URL(`http://[${written}]`).hostname.slice(1, -1)
}

/** The IPv4 address of an IPv4-mapped IPv6 address. */
function ipv4In(groups: readonly number[]): string | undefined {
  const [, , , , , mapped = 0, high = 0, low = 0] = groups
  if (mapped !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight groups of an IPv6 address, with `::` expanded; undefined for any other text. */
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
