import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { faultOfUrl, hostOf, isPublicAddress, type TargetFault, type TargetRules } from './targets.ts'

/** All addresses of a name; none when it has none, or the name servers do not answer in time. */
export type Resolve = (host: string) => Promise<string[]>

/** Says why a URL may not be delivered to; undefined when it may, as far as can be told now. */
export type CheckTarget = (url: URL) => Promise<TargetFault | undefined>

/**
 * Every address of a name must be public, since a delivery may take any of them. A name that has no address (yet)
 * is let pass: each delivery asks again, for names change what they mean.
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

/** Asks the name servers themselves: `getaddrinfo` would hold one of the few threads that hash passwords. */
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

/** As every other program on the machine understands names, for development: `localhost`, a neighbour in compose. */
export async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
