import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'
import type { Resolve } from './resolve.ts'
import { isPublicAddress, type TargetRules } from './targets.ts'

/** A name means an address that nothing may be delivered to, or none at all. No connection was made. */
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
 * Pools of connections, one an origin. What a name means is asked for by each new connection, which goes to the very
 * addresses that were looked at: a name server that says something else a moment later is not asked again. Addresses in
 * URLs never come here, so whoever uses it looks at those first. An origin has as many connections as tries are made to
 * it: many tenants may use the same one, and a webhook of one of them that hangs must not keep the others' waiting.
 */
export function createConnections(resolve: Resolve, { allowPrivate }: TargetRules): Agent {
  const lookup: LookupFunction = (host, _options, done) => {
    resolve(host).then(
      (addresses) => {
        if (addresses.length === 0) return done(new NoTarget('name_not_found'), [])
        // One that is not public among others is reason enough: nobody who means well has such a name.
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
