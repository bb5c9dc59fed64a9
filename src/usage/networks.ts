import { createHmac, type KeyObject } from 'node:crypto'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { callerOf, plainAddress } from '../limits/address.ts'

const groupsOf48 = 3

/**
 * The network of an address, whose addresses are taken for one place: the /24 of IPv4, and the /48 of IPv6. An IPv4 address written as IPv6
 * counts as IPv4.
 * @returns undefined for anything else, such as the caller of a unix socket
 */
export function networkOf(address: string): string | undefined {
  const plain = plainAddress(address)
  if (isIPv4(plain)) return `${plain.slice(0, plain.lastIndexOf('.'))}.0/24`
  if (!isIPv6(plain)) return undefined
  // Of the /64, whose first four groups are written out.
  return `${callerOf(plain).split(':').slice(0, groupsOf48).join(':')}::/48`
}

/** A list of addresses and networks, to look addresses up in. */
export function listOf(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/**
 * A network under a key of the tenant. Neither two licenses nor two days have the same hash of one network, so that the rows follow no one
 * from day to day or from license to license.
 */
export const hashOfNetwork = (
  key: KeyObject,
  { licenseId, day, network }: { licenseId: string; day: string; network: string },
): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([licenseId, day, network]))
    .digest('base64url')
    .slice(0, 22)
