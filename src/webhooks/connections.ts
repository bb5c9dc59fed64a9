import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'
import type { Resolve } from './resolve.ts'
import { isPublicAddress, type TargetRules } from './targets.ts'

/** The name has no address, or one that must not be delivered to. No connection was made. */
export class NoTarget extends Error {
  readonly reason: 'target_refused' | 'name_not_found'

  constructor(reason: NoTarget['reason']) {
    super(reason)
    this.name = 'NoTarget'
    this.reason = reason
  }
}

const connectTimeoutMs = 5000
const keepAliveMs = 10_000

/**
 * Pools of connections, one per origin. Each new connection resolves the name and connects to exactly the
 * addresses that were checked, so a name server cannot switch to another address in between. URLs with an
 * address are not checked here, so the caller checks those first. An origin has as many connections as
 * concurrent attempts: tenants may share an origin, and a slow webhook of one must not delay the others.
 */
export function createConnections(resolve: Resolve, { allowPrivate }: TargetRules): Agent {
  const lookup: LookupFunction = (host, _options, done) => {
    resolve(host).then(
      (addresses) => {
        if (addresses.length === 0) return done(new NoTarget('name_not_found'), [])
        // One non-public address is enough to reject the name: legitimate names have none.
        if (!allowPrivate && !addresses.every(isPublicAddress))
          return done(new NoTarget('target_refused'), [])
        return done(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      },
      () => done(new NoTarget('name_not_found'), []),
    )
  }
  return new Agent({
    connect: { lookup, timeout: connectTimeoutMs, autoSelectFamily: true },
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: 16_384,
  })
}
