import { lookup, Resolver } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Why a URL may not be delivered to. */
export type TargetFault = 'not https' | 'credentials' | 'not public'

/** `allowPrivate` is for development and also allows plain HTTP, since localhost has no certificate. */
export type TargetRules = { allowPrivate: boolean }

/**
 * Checks a URL without resolving it: its scheme, and its host if that is an address or means the machine
 * itself.
 *
 * | URL                             | fault         |                                                  |
 * | ------------------------------- | ------------- | ------------------------------------------------ |
 * | `https://hooks.example.com/a`   | none yet      | its addresses decide                             |
 * | `http://hooks.example.com/a`    | `not https`   |                                                  |
 * | `https://ada@hooks.example.com` | `credentials` |                                                  |
 * | `https://10.1.2.3/`             | `not public`  |                                                  |
 * | `https://0x7f.1/`               | `not public`  | the parser reads it as 127.0.0.1                 |
 * | `https://[::ffff:8.8.8.8]/`     | `not public`  | mapped addresses are never public                |
 * | `https://api.localhost/`        | `not public`  | RFC 6761                                         |
 */
export function faultOfUrl(url: URL, { allowPrivate }: TargetRules): TargetFault | undefined {
  const schemes = allowPrivate ? ['https:', 'http:'] : ['https:']
  if (!schemes.includes(url.protocol)) return 'not https'
  if (url.username !== '' || url.password !== '') return 'credentials'
  if (allowPrivate) return undefined
  const host = hostOf(url)
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : 'not public'
  return /(?:^|\.)localhost$/.test(host) ? 'not public' : undefined
}

/** The host as name servers know it: an IPv6 address without brackets, a name without its last dot. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/**
 * Whether an address belongs to the public internet, by the IANA registries of special-purpose addresses. For
 * IPv6 only the assigned range is public (2000::/3), which excludes the loopback, unique-local, link-local,
 * multicast, mapped, compatible and NAT64 forms. Special addresses inside that range, such as 6to4 and
 * Teredo, are listed.
 *
 * | address                            |         |                              |
 * | ---------------------------------- | ------- | ---------------------------- |
 * | 93.184.215.14, 2606:4700::1111     | public  |                              |
 * | 127.0.0.1, 0.0.0.0, ::1, ::        | not     | loopback, unspecified        |
 * | 10.0.0.1, 172.31.0.1, 192.168.1.1  | not     | private                      |
 * | 169.254.169.254, fe80::1           | not     | link-local, cloud metadata   |
 * | fd00::1                            | not     | unique-local                 |
 * | 100.64.0.1                         | not     | carrier-grade NAT            |
 * | 224.0.0.1, ff02::1                 | not     | multicast                    |
 * | ::ffff:93.184.215.14               | not     | IPv4-mapped                  |
 * | 64:ff9b::5db8:d70e, 64:ff9b:1::1   | not     | NAT64                        |
 * | 2002:5db8:d70e::1, 192.88.99.1     | not     | 6to4 and its relays          |
 * | 2001::1                            | not     | Teredo                       |
 * | 192.0.2.1, 2001:db8::1, 3fff::1    | not     | documentation                |
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !specialIPv4.check(address, 'ipv4')
  // Only link-local addresses have a zone (`fe80::1%eth0`).
  if (family !== 6 || address.includes('%')) return false
  return givenOutIPv6.check(address, 'ipv6') && !specialIPv6.check(address, 'ipv6')
}

const specialIPv4 = networks('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
])

const givenOutIPv6 = networks('ipv6', [['2000::', 3]])

const specialIPv6 = networks('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])

function networks(family: 'ipv4' | 'ipv6', list: readonly (readonly [address: string, bits: number])[]) {
  const block = new BlockList()
  for (const [address, bits] of list) block.addSubnet(address, bits, family)
  return block
}

/** All addresses of a name; none when it has none, or the name servers do not answer in time. */
export type Resolve = (host: string) => Promise<string[]>

/** Returns why a URL may not be delivered to; undefined when nothing is known against it. */
export type CheckTarget = (url: URL) => Promise<TargetFault | undefined>

/**
 * Every address of a name must be public, since a delivery may use any of them. A name without an address is
 * accepted here: each delivery checks again, since names change.
 */
export function createTargetCheck(resolve: Resolve, rules: TargetRules): CheckTarget {
  return async (url) => {
    const fault = faultOfUrl(url, rules)
    const host = hostOf(url)
    if (fault !== undefined || rules.allowPrivate || isIP(host) !== 0) return fault
    const addresses = await resolve(host)
    return addresses.every(isPublicAddress) ? undefined : 'not public'
  }
}

const timeLimitMs = 2000

/**
 * Queries the name servers directly: `getaddrinfo` would block one of the few threads that hash passwords.
 */
export async function resolveByDns(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  const late = setTimeout(() => resolver.cancel(), timeLimitMs)
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  } finally {
    clearTimeout(late)
  }
}

/** Resolves names as other programs on the machine do, for development: `localhost`, a service in Compose. */
export async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
