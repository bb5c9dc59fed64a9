import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findProviderOfCustomers } from '../../../projections/sign-in-providers.ts'
import { beginSessionAtProvider, endCustomerSession } from '../../access/customer-sessions.ts'
import type { Verified } from '../../access/openid/openid.ts'
import { signInCustomer } from '../../commands/customers/provider-sign-in.ts'
import { newSecret } from '../../credentials/secret.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { PortalTextKey } from '../../domain/portal/texts.ts'
import type { ProviderOfCustomers } from '../../domain/sign-in-providers/provider.ts'
import { html } from '../../html.ts'
import { addressOf } from '../../http/listening.ts'
import {
  type AtProvider,
  type BrowserCookie,
  beginSignIn,
  failureOfProvider,
  finishSignIn,
} from '../../http/pages/provider-sign-in.ts'
import { notFound } from '../../http/problem.ts'
import { redirectPath } from '../../http/sign-in-paths.ts'
import { callerOf } from '../../limits/address.ts'
import { type PortalContext, page } from '../context.ts'
import type { Cookies } from '../cookies.ts'
import { message, showPage } from '../page.ts'
import { scannedIn } from '../scanned.ts'
import { type Visit, visitOf } from '../visit.ts'
import { tooMany } from './too-many.ts'

/** Each sign-in is a row in the database, so they are limited for each network. */
const allowance = { burst: 60, intervalMs: 5000 }

type ProviderRequest = FastifyRequest<{ Params: { tenantId: string; provider: string } }>

type AtProviderOfCustomers = AtProvider & { provider: ProviderOfCustomers }

/** Sign-in at a provider of OpenID Connect: to the provider, and back. Neither is there for a member who sees the portal as a customer. */
export function providerRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports, cookies } = context
  const ofPerson = { ...page, config: { ...page.config, inNoViewing: true } } as const

  app.get('/:tenantId/sign-in/:provider', ofPerson, async (request: ProviderRequest, reply) => {
    const visit = visitOf(request)
    const at = await providerOf(context, request)
    const bucket = `portal ${visit.tenantId} provider ${callerOf(addressOf(request))}`
    const attempt = await ports.attempts.take([{ bucket, allowance }])
    if (!attempt.allowed) return tooMany(reply, visit, attempt.retryAfterSeconds)
    try {
      const begun = { sessionHash: null, returnTo: visit.home }
      const target = await beginSignIn(ports, reply, browserCookie(cookies, visit), at, begun)
      return await reply.redirect(target, 303)
    } catch (error) {
      return failed(request, reply, at, error)
    }
  })

  app.get('/:tenantId/sign-in/:provider/callback', ofPerson, async (request: ProviderRequest, reply) => {
    const visit = visitOf(request)
    const at = await providerOf(context, request)
    try {
      const finished = await finishSignIn(ports, request, reply, browserCookie(cookies, visit), at)
      if (!finished) return told(reply, visit, ['signInNotDoneTitle', 'signInStale'], at, 400)
      return await signIn(context, request, reply, at, finished.verified)
    } catch (error) {
      return failed(request, reply, at, error)
    }
  })
}

/** @throws Problem 404 for a provider that is unknown, of another tenant, or of members, just as for no provider */
async function providerOf(
  { ports: { db }, baseUrl }: PortalContext,
  request: ProviderRequest,
): Promise<AtProviderOfCustomers> {
  const { tenantId } = visitOf(request)
  const provider = await findProviderOfCustomers(db, tenantId, request.params.provider)
  if (!provider) throw notFound('page')
  return { tenantId, provider, redirectUri: `${baseUrl}${redirectPath(tenantId, provider)}` }
}

/** It is sent to this portal alone, so a sign-in that was begun for the dashboard is none here. */
const browserCookie = (cookies: Cookies, { tenantId }: Visit): BrowserCookie => ({
  set: (reply, secret) => cookies.set(reply, tenantId, 'provider', secret),
  read: (request) => cookies.get(request, 'provider'),
  clear: (reply) => cookies.clear(reply, tenantId, 'provider'),
})

async function signIn(
  { ports, cookies }: PortalContext,
  request: FastifyRequest,
  reply: FastifyReply,
  at: AtProviderOfCustomers,
  verified: Verified,
): Promise<FastifyReply> {
  const visit = visitOf(request)
  const { tenantId, provider } = at
  const { providerId, createdAt: addedAt } = provider
  const outcome = await signInCustomer(ports, at, verified, request.id)
  const session = newSecret(ports.randomBytes)
  const isIn =
    outcome.outcome === 'signed_in' &&
    (await beginSessionAtProvider(
      ports.db,
      {
        tenantId,
        subjectId: outcome.subjectId,
        session,
        provider: {
          providerId,
          addedAt,
          identity: outcome.identity,
          sidHash: verified.sid === undefined ? undefined : sha256(verified.sid),
        },
      },
      ports.now(),
    ))
  if (!isIn) {
    const reason = outcome.outcome === 'refused' ? outcome.reason : 'erased'
    const line = { request_id: request.id, tenant: tenantId, provider: providerId, reason }
    request.log.info(line, 'sign_in.not_admitted')
    return told(reply, visit, ['signInNotAllowedTitle', 'signInNotAllowed'], at, 403)
  }
  if (visit.session !== undefined) await endCustomerSession(ports.db, visit.session, ports.now())
  cookies.set(reply, tenantId, 'session', session)
  return reply.redirect(scannedIn(cookies).pathAfterSignIn(request, reply, visit), 303)
}

/** @throws the error itself when it is not the provider that failed */
function failed(request: FastifyRequest, reply: FastifyReply, at: AtProvider, error: unknown): FastifyReply {
  const visit = visitOf(request)
  const failure = failureOfProvider(request, at, error)
  if (failure === 'unreachable')
    return told(reply.header('retry-after', '60'), visit, ['signInAwayTitle', 'signInAway'], at, 503)
  if (failure === 'not_proven') return told(reply, visit, ['signInNotDoneTitle', 'signInNotProven'], at, 401)
  throw error
}

/** A page that says how the sign-in ended: the same for every reason, so that it does not reveal who is known. */
function told(
  reply: FastifyReply,
  visit: Visit,
  [title, text]: readonly [title: PortalTextKey, text: PortalTextKey],
  { provider }: AtProvider,
  status: number,
): FastifyReply {
  const { say, home } = visit
  const back = html`<p><a href=${`${home}/sign-in`}>${say('signInAgain')}</a></p>`
  const content = message(say(title), say(text, { provider: provider.name }), back)
  return showPage(reply, visit, { title: say(title), content }, status)
}
