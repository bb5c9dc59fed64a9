import type { FastifyReply } from 'fastify'
import { readKey } from '../../credentials/license-key.ts'
import { type Limited, rateLimited, spend } from '../../http/limits/rate-limit.ts'
import { Problem } from '../../http/problem.ts'
import { callerOf } from '../../limits/address.ts'
import type { LimitName, Limits } from '../../limits/limits.ts'
import type { LimitHits, TenantLimit } from '../../usage/limit-hits.ts'
import type { Client, ClientRoute } from './client.ts'

/**
 * The points at which a client call is rate limited. Each answers synchronously or later, and throws Problem 429.
 */
export type ClientLimits = {
  /** Before any lookup: only the route and the caller's address are known. */
  arriving(route: ClientRoute, reply: FastifyReply): void | Promise<void>
  /** After the SDK key was recognized as the tenant's. */
  admitted(tenantId: string): void | Promise<void>
  /** After the body was read: limited by license and instance. */
  asking(
    client: Client,
    license: { keyHash: string; instanceId: string },
    reply: FastifyReply,
  ): void | Promise<void>
  /** Likewise for a call about meters: validates and these do not take from each other. */
  counting(
    client: Client,
    license: { licenseKey: string; instanceId: string },
    reply: FastifyReply,
  ): void | Promise<void>
  /** After an anonymous instance was found to be new. */
  creating(tenantId: string): void | Promise<void>
}

const byRoute: Record<ClientRoute, LimitName> = {
  validate: 'clientValidate',
  // It takes the place of a validate.
  heartbeat: 'clientValidate',
  activate: 'clientActivate',
  deactivate: 'clientDeactivate',
  // As rare as an activation.
  'browser-activations': 'clientActivate',
  // Every five seconds while a person decides.
  poll: 'clientConfig',
  consume: 'clientValidate',
  uses: 'clientValidate',
  allowance: 'clientValidate',
  'free-tier': 'clientFreeTier',
  keyless: 'clientKeyless',
  config: 'clientConfig',
  // As rare as an activation, and as costly.
  relay: 'clientActivate',
}

/** The limit that a refusal names; `x-service-limit` gives its steady rate, per minute or per hour. */
export const scopes = ['ip', 'tenant', 'instance', 'new_instances'] as const

type Scope = (typeof scopes)[number]

const minutesOf: Record<Scope, number> = { ip: 1, tenant: 1, instance: 1, new_instances: 60 }

export function createClientLimits(limits: Limits, hits: LimitHits): ClientLimits {
  const spendOf = (tenantId: string, name: TenantLimit, scope: Scope, key = tenantId, reply?: FastifyReply) =>
    spend(limits[name], key, { onHit: () => hits.count(tenantId, name), reply, refusal: tooMany(scope) })
  return {
    arriving: (route, reply) => {
      const [limiter, key] = [limits[byRoute[route]], callerOf(reply.request.ip)]
      return spend(limiter, key, { reply, refusal: tooMany('ip') })
    },
    admitted: (tenantId) => spendOf(tenantId, 'clientTenant', 'tenant'),
    asking: ({ tenantId }, instance, reply) =>
      spendOf(tenantId, 'clientInstance', 'instance', `${tenantId}.${nameOf(instance)}`, reply),
    counting: ({ tenantId }, { licenseKey, instanceId }, reply) => {
      const keyHash = readKey(licenseKey)?.keyHash ?? ''
      const key = `${tenantId}.${nameOf({ keyHash, instanceId })}.meters`
      return spendOf(tenantId, 'clientInstance', 'instance', key, reply)
    },
    creating: (tenantId) => spendOf(tenantId, 'clientNewInstances', 'new_instances'),
  }
}

/** Truncated, because callers may send ids of any length; genuine ids are shorter. */
const nameOf = ({ keyHash, instanceId }: { keyHash: string; instanceId: string }): string =>
  `${keyHash}.${instanceId.slice(0, 64)}`

const tooMany =
  (scope: Scope) =>
  (limiter: Limited, key: string, waitMs: number): Problem => {
    const { status, code, message, headers } = rateLimited(limiter, key, waitMs)
    return new Problem(status, code, message, {
      ...headers,
      'x-service-limit-scope': scope,
      'x-service-limit': String(Math.round(limiter.rate.perMinute * minutesOf[scope])),
      // A caller with a unit left would not be refused.
      'x-service-remaining': '0',
    })
  }
