/** The first four groups of an address as a socket names it, which nearly all are: there is nothing to work out. */
const writtenOut = /^[1-9a-f][\da-f]{0,3}:(?:(?:0|[1-9a-f][\da-f]{0,3}):){3}/

/**
 * Whose calls count together: an IPv4 address, or the /64 of an IPv6 address, since whoever has one address of it
 * has all of them. An IPv4 address that is written as IPv6 counts as itself.
 */
/** @param address undefined where there is none: on a socket of this machine's, or one that is gone already */
export function callerOf(address: string | undefined): string {
  if (address === undefined) return 'no address'
  if (!address.includes(':')) return address
  const network = writtenOut.exec(address)?.[0]
  if (network !== undefined) return `${network}:/64`
  const [bare = ''] = address.split('%', 1)
  const lastColon = bare.lastIndexOf(':')
  const tail = bare.slice(lastColon + 1)
  // `::ffff:192.0.2.1`: the dotted form stands for the last two of the eight groups.
  const groups = groupsOf(tail.includes('.') ? `${bare.slice(0, lastColon)}:${dotted(tail)}` : bare)
  const [, , , , , mapped = 0, high = 0, low = 0] = groups
  if (mapped === 0xffff && groups.slice(0, 5).every((group) => group === 0)) {
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  }
  const prefix = groups.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}

/** The eight numbers of an address, with what `::` leaves out. */
function groupsOf(address: string): number[] {
  const [front = '', back] = address.split('::', 2)
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
