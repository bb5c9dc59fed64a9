import type { FastifyContextConfig, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { KnownToken } from '../../projections/tokens/queries.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import type { ResellerRef } from '../commands/resellers/licenses.ts'
import { sameDigest } from '../credentials/sha256.ts'
import { tokenHashOf } from '../credentials/token.ts'
import { grantableOf } from '../domain/logins/login.ts'
import type { Scope } from '../domain/tokens/events.ts'
import type { Limits } from '../limits/limits.ts'
import type { Ports } from '../ports.ts'
import { spend } from './limits/rate-limit.ts'
import { addressOf } from './listening.ts'
import { Problem, unavailable } from './problem.ts'

/** The token that authenticated a request. */
export type Caller = KnownToken['token'] &
  Pick<KnownToken, 'plan' | 'tenantStatus'> & {
    /** Scopes of the token that the role of its member no longer allows. */
    lostScopes: readonly Scope[]
  }

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** The scope, or all the scopes, that a token needs here; `any` accepts every valid token. */
    scope?: Scope | readonly Scope[] | 'any'
    /** A reseller's token reaches the route too, which then shows and changes only what is theirs. */
    resellers?: true
    /** The route issues or activates: it is refused while the tenant is suspended. */
    refusedWhileSuspended?: boolean
    /** The route looks its token up in the same query as its data, and calls {@link admitAs} itself. */
    admitsItself?: boolean
  }
}

/**
 * Checks the bearer token and its rate limit before the body is read, so that 401, 429 and 403 come before every
 * other refusal. A route with {@link FastifyContextConfig.admitsItself} is skipped.
 */
export function authenticate(authority: Authority): onRequestHookHandler {
  return (request, reply, done) => {
    const { scope, admitsItself } = request.routeOptions.config
    if (scope === undefined || admitsItself) done()
    else admit(authority, reply).then(() => done(), done)
  }
}

/** What authentication and rate limits need. */
export type Authority = Ports<'findToken' | 'tokenUse' | 'limitHits' | 'now'> & { limits: Limits }

/** Authenticates the request of a reply by its bearer token. @throws Problem 401, 429, 403 */
export async function admit(authority: Authority, reply: FastifyReply): Promise<void> {
  const tokenHash = tokenHashIn(reply.request)
  await admitAs(authority, reply, tokenHash, await authority.findToken(tokenHash), momentOf(authority))
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
 * Makes the token the caller of a reply's request, if it may call this route now.
 * @param known the result of the lookup by hash
 * @throws Problem 401, 429, 403
 */
export async function admitAs(
  authority: Authority,
  reply: FastifyReply,
  tokenHash: string,
  known: KnownToken | undefined,
  now: string,
): Promise<Caller> {
  const caller = callerFrom(tokenHash, known, now)
  const { request } = reply
  const { scope, refusedWhileSuspended } = request.routeOptions.config
  const [limit, key] =
    scope === 'licenses:runtime'
      ? (['runtime', caller.tenantId] as const)
      : (['management', caller.tokenId] as const)
  const onHit = () => authority.limitHits.count(caller.tenantId, limit)
  const spent = spend(authority.limits[limit], key, { reply, onHit })
  if (spent) await spent
  if (caller.tenantStatus === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
  requireScope(caller, scope)
  if (caller.resellerId !== undefined && !request.routeOptions.config.resellers) throw lacks(scope)
  if (refusedWhileSuspended && caller.tenantStatus === 'suspended') {
    throw new Problem(403, 'forbidden', 'the tenant is suspended; it cannot issue or activate licenses')
  }
  authority.tokenUse.record(caller.tokenId)
  request.caller = caller
  return caller
}

/** @throws Problem 403 when the token lacks a scope */
export function requireScope(caller: Caller, needed: FastifyContextConfig['scope']): void {
  const lacking = lackingScope(caller, needed)
  if (lacking === undefined) return
  if (!caller.lostScopes.includes(lacking)) throw lacks(lacking)
  const why = `the role of the member who created the token no longer allows the scope ${lacking}`
  throw new Problem(403, 'forbidden', why)
}

/** A token of a reseller lacks every scope of a route that is not for resellers. */
const lacks = (scope: FastifyContextConfig['scope']): Problem =>
  new Problem(
    403,
    'forbidden',
    `the token lacks the scope ${[scope].flat().at(0) ?? 'any'}; create one that has it`,
  )

function lackingScope({ scopes }: Caller, needed: FastifyContextConfig['scope']): Scope | undefined {
  if (needed === undefined || needed === 'any') return undefined
  if (typeof needed === 'string') return scopes.includes(needed) ? undefined : needed
  return needed.find((scope) => !scopes.includes(scope))
}

function callerFrom(tokenHash: string, known: KnownToken | undefined, now: string): Caller {
  // The lookup is by hash already; the second comparison takes constant time.
  if (!known || !sameDigest(known.token.tokenHash, tokenHash)) throw unauthorized('the token is not valid')
  if (known.uncertain) throw unavailable('the state of this token cannot be read right now; try again')
  const { token, tenantStatus, plan, memberRole, resellerStatus } = known
  if (token.status === 'revoked') throw unauthorized('the token is revoked')
  if (token.memberId !== null && memberRole === null)
    throw unauthorized(
      'the member who created the token was removed or deactivated; use a token of another member',
    )
  if (token.expiresAt !== null && token.expiresAt <= now) throw unauthorized('the token has expired')
  if (token.resellerId !== undefined && resellerStatus !== 'open')
    throw unauthorized('the reseller of the token is closed')
  if (memberRole === null) return { ...token, tenantStatus, plan, lostScopes: [] }
  const scopes = grantableOf(token.scopes, memberRole)
  const lostScopes = token.scopes.filter((scope) => !scopes.includes(scope))
  return { ...token, scopes, tenantStatus, plan, lostScopes }
}

const unauthorized = (message: string): Problem =>
  new Problem(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' })

/** The caller of a route that requires a scope. @throws Problem 401 without one */
export function callerIn(request: FastifyRequest): Caller {
  if (!request.caller) throw new Problem(401, 'unauthorized', 'this route requires a token')
  return request.caller
}

/** The reseller whom the caller works for; undefined for a caller of the vendor, who sees everything. */
export function resellerOf(request: FastifyRequest): ResellerRef | undefined {
  const { tenantId, resellerId } = callerIn(request)
  return resellerId === undefined ? undefined : { tenantId, resellerId }
}

/** The origin in the metadata of every event that the request causes. */
export function originOf(request: FastifyRequest): Origin {
  const { tokenId, tenantId, memberId } = callerIn(request)
  const source = () => ({ tenantId, memberId, address: addressOf(request) })
  return { requestId: request.id, actor: `token:${tokenId}`, source }
}
