import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { faultOfUrl, hostOf, isPublicAddress, type TargetFault, type TargetRules } from './targets.ts'

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
