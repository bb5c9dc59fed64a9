import type { FastifyRequest } from 'fastify'
import { Problem, rateLimited } from '../../http/problem.ts'
import { callerOf } from '../../limits/address.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { LimitName, Limits } from '../../limits/limits.ts'
import type { LimitHits, TenantLimit } from '../../usage/limit-hits.ts'
import type { Client, ClientRoute } from './client.ts'

/** Where a client call may be found to be one too many. Each answers at once or later, and throws Problem 429. */
export type ClientLimits = {
  /** Before anything is looked up: all that is known is the route and the caller's address. */
  arriving(route: ClientRoute, request: FastifyRequest): void | Promise<void>
  /** Once the SDK key has been found to be the tenant's. */
  admitted(tenantId: string): void | Promise<void>
  /** Once the body is read: an app asks about one license on one instance. */
  asking(client: Client, license: { keyHash: string; instanceId: string }): void | Promise<void>
  /** Once an anonymous instance is found to be new. */
  creating(tenantId: string): void | Promise<void>
}

const byRoute: Record<ClientRoute, LimitName> = {
  validate: 'clientValidate',
  activate: 'clientActivate',
  deactivate: 'clientDeactivate',
  'free-tier': 'clientFreeTier',
  keyless: 'clientKeyless',
  config: 'clientConfig',
}

/** What a refusal names: whose calls are too many, and how many of them are admitted steadily in a minute or an hour. */
export const scopes = ['ip', 'tenant', 'instance', 'new_instances'] as const
type Scope = (typeof scopes)[number]
const minutesOf: Record<Scope, number> = { ip: 1, tenant: 1, instance: 1, new_instances: 60 }

export function createClientLimits(limits: Limits, hits: LimitHits): ClientLimits {
  const spendOf = (tenantId: string, name: TenantLimit, scope: Scope, key = tenantId) =>
    spend(limits[name], scope, key, () => hits.count(tenantId, name))
  return {
    arriving: (route, request) => spend(limits[byRoute[route]], 'ip', callerOf(request.ip)),
    admitted: (tenantId) => spendOf(tenantId, 'clientTenant', 'tenant'),
    asking: ({ tenantId }, { keyHash, instanceId }) => {
      // Cut, since anybody may send any length: those that are made here are shorter.
      const key = `${tenantId}.${keyHash}.${instanceId.slice(0, 64)}`
      return spendOf(tenantId, 'clientInstance', 'instance', key)
    },
    creating: (tenantId) => spendOf(tenantId, 'clientNewInstances', 'new_instances'),
  }
}

function spend(
  limiter: Limiter | undefined,
  scope: Scope,
  key: string,
  onHit: () => void = () => undefined,
): void | Promise<void> {
  const taken = limiter?.take(key)
  if (!limiter || !taken) return
  const refuse = (waitMs: number): void => {
    if (waitMs <= 0) return
    onHit()
    throw tooMany(scope, limiter, waitMs)
  }
  return typeof taken === 'object' ? taken.then(refuse) : refuse(taken)
}

function tooMany(scope: Scope, { rate }: Limiter, waitMs: number): Problem {
  const { status, code, message, headers } = rateLimited(waitMs)
  return new Problem(status, code, message, {
    ...headers,
    'x-service-limit-scope': scope,
    'x-service-limit': String(Math.round(rate.perMinute * minutesOf[scope])),
    // Whoever has a unit left is not refused.
    'x-service-remaining': '0',
  })
}
