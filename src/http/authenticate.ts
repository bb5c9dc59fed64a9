import type { FastifyContextConfig, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { KnownToken } from '../../projections/tokens/queries.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { sameDigest } from '../credentials/sha256.ts'
import { tokenHashOf } from '../credentials/token.ts'
import { grantableOf } from '../domain/logins/login.ts'
import type { Scope } from '../domain/tokens/scopes.ts'
import type { Limits } from '../limits/limits.ts'
import type { Ports } from '../ports.ts'
import { Problem, rateLimited, unavailable } from './problem.ts'

/** Who is asking: a token that was live when the request came in. */
export type Caller = KnownToken['token'] &
  Pick<KnownToken, 'plan' | 'tenantStatus'> & {
    /** What the token was made with, which its member may no longer give. */
    lostScopes: readonly Scope[]
  }

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** The scope, or all the scopes, that a token needs here; `any` for whichever valid token. */
    scope?: Scope | readonly Scope[] | 'any'
    /** Refused while the tenant is suspended: it issues or activates. */
    issues?: boolean
    /** The route looks its token up together with what it is asked for, and calls {@link admitAs} itself. */
    admitsItself?: boolean
  }
}

/**
 * Checks the bearer token, and how often it is used, before the body is even read, so that 401, 429 and 403 come
 * before every other refusal. A route that {@link FastifyContextConfig.admitsItself} is passed over.
 */
export function authenticate(authority: Authority): onRequestHookHandler {
  return (request, _reply, done) => {
    const { scope, admitsItself } = request.routeOptions.config
    if (scope === undefined || admitsItself) done()
    else admit(authority, request).then(() => done(), done)
  }
}

/** What decides over who may ask, and how often. */
export type Authority = Ports<'findToken' | 'tokenUse' | 'limitHits' | 'now'> & { limits: Limits }

/** Finds the token and lets it in. @throws Problem 401, 429, 403 */
export async function admit(authority: Authority, request: FastifyRequest): Promise<void> {
  const tokenHash = tokenHashIn(request)
  await admitAs(authority, request, tokenHash, await authority.findToken(tokenHash), momentOf(authority))
}

/** @returns the hash of the bearer token. @throws Problem 401 when there is none or its form is wrong */
export function tokenHashIn(request: FastifyRequest): string {
  const { authorization } = request.headers
  if (authorization === undefined) throw unauthorized('send a token: Authorization: Bearer <token>')
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  const tokenHash = token && tokenHashOf(token, 'pat')
  if (!tokenHash) throw unauthorized('the token is not valid')
  return tokenHash
}

/**
 * Makes the owner of the token the request's caller, if this token may ask this route now.
 * @param known what a look-up by the hash has found
 * @throws Problem 401, 429, 403
 */
export async function admitAs(
  authority: Authority,
  request: FastifyRequest,
  tokenHash: string,
  known: KnownToken | undefined,
  now: string,
): Promise<Caller> {
  const caller = callerFrom(tokenHash, known, now)
  const { scope, issues } = request.routeOptions.config
  const { runtime, management } = authority.limits
  const taken =
    scope === 'licenses:runtime' ? runtime?.take(caller.tenantId) : management?.take(caller.tokenId)
  // Nearly always the answer is there at once, and one turn of the loop less matters here.
  const waitMs = typeof taken === 'object' ? await taken : taken
  if (waitMs) {
    authority.limitHits.count(caller.tenantId, scope === 'licenses:runtime' ? 'runtime' : 'management')
    throw rateLimited(waitMs)
  }
  if (caller.tenantStatus === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
  const lacking = lackingScope(caller, scope)
  if (lacking !== undefined) {
    const why = caller.lostScopes.includes(lacking)
      ? `the role of the member who created the token no longer allows the scope ${lacking}`
      : `the token lacks the scope ${lacking}; create one that has it`
    throw new Problem(403, 'forbidden', why)
  }
  if (issues && caller.tenantStatus === 'suspended') {
    throw new Problem(403, 'forbidden', 'the tenant is suspended; it cannot issue or activate licenses')
  }
  authority.tokenUse.record(caller.tokenId)
  request.caller = caller
  return caller
}

function lackingScope({ scopes }: Caller, needed: FastifyContextConfig['scope']): Scope | undefined {
  if (needed === undefined || needed === 'any') return undefined
  if (typeof needed === 'string') return scopes.includes(needed) ? undefined : needed
  return needed.find((scope) => !scopes.includes(scope))
}

function callerFrom(tokenHash: string, known: KnownToken | undefined, now: string): Caller {
  // The look-up goes by hash already; comparing once more in constant time costs nothing and leaves no doubt.
  if (!known || !sameDigest(known.token.tokenHash, tokenHash)) throw unauthorized('the token is not valid')
  if (known.uncertain) throw unavailable('the state of this token cannot be read right now; try again')
  const { token, tenantStatus, plan, memberRole } = known
  if (token.status === 'revoked') throw unauthorized('the token is revoked')
  if (token.memberId !== null && memberRole === null)
    throw unauthorized('the member who created the token was removed; create another token')
  if (token.expiresAt !== null && token.expiresAt <= now) throw unauthorized('the token has expired')
  if (memberRole === null) return { ...token, tenantStatus, plan, lostScopes: [] }
  const scopes = grantableOf(token.scopes, memberRole)
  const lostScopes = token.scopes.filter((scope) => !scopes.includes(scope))
  return { ...token, scopes, tenantStatus, plan, lostScopes }
}

const unauthorized = (message: string): Problem =>
  new Problem(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' })

/** The caller of a route that asked for a scope. */
export function callerIn(request: FastifyRequest): Caller {
  if (!request.caller) throw new Problem(401, 'unauthorized', 'this route requires a token')
  return request.caller
}

/** Stands in the metadata of every event that the request causes. */
export const originOf = (request: FastifyRequest): Origin => ({
  requestId: request.id,
  actor: `token:${callerIn(request).tokenId}`,
})
