import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { KnownToken } from '../../projections/tokens/queries.ts'
import type { Origin, Services } from '../commands/services.ts'
import { sameDigest } from '../credentials/sha256.ts'
import { tokenHashOf } from '../credentials/token.ts'
import type { Scope } from '../domain/token/scopes.ts'
import type { Limits } from '../limits/limits.ts'
import { Problem, rateLimited, unavailable } from './problem.ts'

/** Who is asking: a token that was live when the request came in. */
export type Caller = KnownToken['token'] & Pick<KnownToken, 'plan' | 'tenantStatus'>

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** The scope, or all the scopes, that a token needs here; `any` for whichever valid token. */
    scope?: Scope | readonly Scope[] | 'any'
    /** Refused while the tenant is suspended: it issues or activates. */
    issues?: boolean
  }
}

/**
 * Checks the bearer token, and how often it is used, before the body is even read, so that 401, 429 and 403 come
 * before every other refusal.
 */
export function authenticate(
  services: Pick<Services, 'findToken' | 'tokenUse' | 'now'>,
  limits: Limits,
): onRequestAsyncHookHandler {
  return async (request) => {
    const { scope, issues } = request.routeOptions.config
    if (scope === undefined) return
    const caller = await callerOf(services, request)
    const taken =
      scope === 'licenses:runtime'
        ? limits.runtime?.take(caller.tenantId)
        : limits.management?.take(caller.tokenId)
    // Nearly always the answer is there at once, and one turn of the loop less matters here.
    const waitMs = typeof taken === 'object' ? await taken : taken
    if (waitMs) throw rateLimited(waitMs)
    if (caller.tenantStatus === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
    const lacking = lackingScope(caller, scope)
    if (lacking !== undefined) {
      throw new Problem(403, 'forbidden', `the token lacks the scope ${lacking}; make one that has it`)
    }
    if (issues && caller.tenantStatus === 'suspended') {
      throw new Problem(
        403,
        'forbidden',
        'the tenant is suspended: licenses are neither issued nor activated',
      )
    }
    request.caller = caller
  }
}

function lackingScope({ scopes }: Caller, needed: Scope | readonly Scope[] | 'any'): Scope | undefined {
  if (needed === 'any') return undefined
  if (typeof needed === 'string') return scopes.includes(needed) ? undefined : needed
  return needed.find((scope) => !scopes.includes(scope))
}

async function callerOf(
  services: Pick<Services, 'findToken' | 'tokenUse' | 'now'>,
  request: FastifyRequest,
): Promise<Caller> {
  const { authorization } = request.headers
  if (authorization === undefined) throw unauthorized('send a token: Authorization: Bearer <token>')
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  const hash = token && tokenHashOf(token, 'pat')
  const known = hash ? await services.findToken(hash) : undefined
  // The look-up goes by hash already; comparing once more in constant time costs nothing and leaves no doubt.
  if (!hash || !known || !sameDigest(known.token.tokenHash, hash))
    throw unauthorized('the token is not valid')
  if (known.uncertain) throw unavailable('the state of this token cannot be read at the moment')
  const { token: found, tenantStatus, plan } = known
  if (found.status === 'revoked') throw unauthorized('the token is revoked')
  if (found.expiresAt !== null && found.expiresAt <= services.now().toISOString()) {
    throw unauthorized('the token has expired')
  }
  services.tokenUse.note(found.tokenId)
  return { ...found, tenantStatus, plan }
}

const unauthorized = (message: string): Problem =>
  new Problem(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' })

/** The caller of a route that asked for a scope. */
export function callerIn(request: FastifyRequest): Caller {
  if (!request.caller) throw new Problem(401, 'unauthorized', 'this route needs a token')
  return request.caller
}

/** Stands in the metadata of every event that the request causes. */
export const originOf = (request: FastifyRequest): Origin => ({
  requestId: request.id,
  actor: `token:${callerIn(request).tokenId}`,
})
