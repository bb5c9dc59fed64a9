import type { FastifyReply } from 'fastify'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import type { Telemetry } from '../../domain/telemetry.ts'
import { type Limited, rateLimited, spend } from '../../http/limits/rate-limit.ts'
import { Problem } from '../../http/problem.ts'
import { callerOf } from '../../limits/address.ts'
import type { LimitName, Limits } from '../../limits/limits.ts'
import type { Ports } from '../../ports.ts'
import type { LimitHits, TenantLimit } from '../../usage/limit-hits.ts'
import type { CallName } from '../../usage/refusals.ts'
import { type RefusedReason, reasonOfRefusal } from '../../verdicts/answer.ts'
import type { Client, ClientRoute } from './client.ts'

/** The responses to refused activations. The client contract has its own statuses. */
const refusals: Partial<Record<RefusalCode, [status: number, message: string]>> = {
  license_revoked: [422, 'license revoked'],
  license_suspended: [422, 'license suspended'],
  license_expired: [422, 'license expired'],
  license_reminted: [422, 'this license was reminted; ask the vendor for its new key'],
  seat_limit_reached: [422, 'activation limit reached; deactivate another device first'],
  plan_limit: [402, "the vendor's plan allows no more active devices"],
}

export function clientProblemOf(code: RefusalCode): Problem | undefined {
  const answer = refusals[code]
  const reason = reasonOfRefusal(code)
  return answer && new Problem(answer[0], 'invalid_request', answer[1], {}, reason ? { reason } : {}, code)
}

/** The answer to a key that no license of the product has. */
export const noSuchLicense = (): Problem =>
  new Problem(404, 'invalid_request', 'license not found', {}, { reason: 'not_found' }, 'license_not_found')

/** @throws Problem for a refusal in the client contract; rethrows every other error */
export function refuse(error: unknown): never {
  throw (error instanceof Refusal && clientProblemOf(error.code)) || error
}

/** A call of an app: its license key, its device and what it reports about itself. */
export type AppCall = {
  client: Pick<Client, 'tenantId' | 'productId'>
  call: CallName
  key: string
  device: { id: string; name: string | null }
  telemetry: Telemetry
}

/** Records that a license refused an app's call. */
export function recordRefused(
  { refusals }: Ports<'refusals'>,
  { client: { tenantId, productId }, call, device, telemetry }: AppCall,
  licenseId: string,
  reason: RefusedReason,
): void {
  const { appVersion, sdkVersion, platform } = telemetry
  const refused = { tenantId, productId, call, interface: 'client' } as const
  refusals.record(refused, licenseId, reason, { ...device, appVersion, sdkVersion, platform })
}

/** Records that no license has the key of an app's call. */
export function recordUnknownKey(
  { refusals }: Ports<'refusals'>,
  { client: { tenantId, productId }, call, key }: AppCall,
): void {
  refusals.recordUnknownKey({ tenantId, productId, call, interface: 'client' }, key)
}

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
  /** After an anonymous instance was found to be new. */
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
    asking: ({ tenantId }, { keyHash, instanceId }, reply) => {
      // Truncated, because callers may send ids of any length; genuine ids are shorter.
      const key = `${tenantId}.${keyHash}.${instanceId.slice(0, 64)}`
      return spendOf(tenantId, 'clientInstance', 'instance', key, reply)
    },
    creating: (tenantId) => spendOf(tenantId, 'clientNewInstances', 'new_instances'),
  }
}

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
