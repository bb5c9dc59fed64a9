import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findProviderOfMembers } from '../../../projections/sign-in-providers.ts'
import { findTenant } from '../../../projections/tenants.ts'
import type { Verified } from '../../access/openid/openid.ts'
import { type BegunSignIn, providerSignInMs } from '../../access/provider-sign-ins.ts'
import { identityOf, signInWithProvider } from '../../commands/members/provider-sign-in.ts'
import { sha256 } from '../../credentials/sha256.ts'
import {
  type AtProvider,
  type BrowserCookie,
  beginSignIn,
  failureOfProvider,
  finishSignIn,
} from '../../http/pages/provider-sign-in.ts'
import { notFound } from '../../http/problem.ts'
import { redirectPath } from '../../http/sign-in-paths.ts'
import { boxes } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { returnPath } from '../session/redirect-with.ts'
import { cookieNameOf, cookieOptions, sessionHashOf } from '../session/session.ts'
import { keepForSignOut } from './provider-session.ts'
import {
  notAdmittedPage,
  notConfirmedPage,
  notProvenPage,
  notRecordedPage,
  stalePage,
  unreachablePage,
  workspaceView,
} from './provider-view.ts'
import { admit, limitChallenges, retryAfterOf } from './route.ts'

const BeginQuery = z.object({ return: boxes, confirm: z.literal('yes').optional() })
const ReturnQuery = z.object({ return: boxes })

type ProviderRequest = FastifyRequest<{ Params: { workspace: string; provider: string } }>

/** The clocks of a provider and of this server differ by less (milliseconds). */
const clocksDifferMs = 60_000

/** Sign-in at a provider of OpenID Connect: to the provider, and back. */
export function providerSignInRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const cookie = browserCookie(context)
  const open = pageRoute({ page: 'open', query: ReturnQuery, foreignQuery: 'in links' })

  app.get('/sign-in/workspace', open, async (request, reply) => {
    const returnTo = returnPath(ReturnQuery.safeParse(request.query).data?.return[0])
    return show(reply, { title: 'Single sign-on', content: () => workspaceView(returnTo) })
  })

  const begin = pageRoute({ page: 'open', query: BeginQuery, foreignQuery: 'in links' })
  app.get('/sign-in/:workspace/:provider', begin, async (request: ProviderRequest, reply) => {
    const at = await providerOf(context, request)
    const { data } = BeginQuery.safeParse(request.query)
    const again = data?.confirm === 'yes' && request.principal !== undefined
    await limitChallenges(ports, request, context.browsers)
    const sessionHash = again ? sessionHashOf(request) : null
    try {
      const begun = { sessionHash, returnTo: returnPath(data?.return[0]) }
      const page = await beginSignIn(ports, reply, cookie, at, begun)
      return await reply.redirect(page, 303)
    } catch (error) {
      return failed(context, request, reply, at, error)
    }
  })

  // The provider adds parameters of its own.
  const back = pageRoute({ page: 'open', foreignQuery: 'in links' })
  app.get('/sign-in/:workspace/:provider/callback', back, async (request: ProviderRequest, reply) => {
    const at = await providerOf(context, request)
    try {
      const finished = await finishSignIn(ports, request, reply, cookie, at)
      if (!finished) return await show(reply, stalePage, 400)
      const { begun, verified } = finished
      return begun.sessionHash === null
        ? await signIn(context, request, reply, at, begun, verified)
        : await confirm(context, request, reply, at, begun, verified)
    } catch (error) {
      return failed(context, request, reply, at, error)
    }
  })
}

/** @throws Problem 404 for a provider that is unknown or of another workspace, and in a closed workspace */
async function providerOf(
  { ports: { db }, baseUrl }: PageContext,
  { params }: ProviderRequest,
): Promise<AtProvider> {
  const { workspace: tenantId, provider: providerId } = params
  const tenant = await findTenant(db, tenantId)
  const provider = await findProviderOfMembers(db, tenantId, providerId)
  if (!provider || tenant?.status === 'closed') throw notFound('sign-in provider')
  return { tenantId, provider, redirectUri: `${baseUrl}${redirectPath(tenantId, provider)}` }
}

function browserCookie({ baseUrl }: Pick<PageContext, 'baseUrl'>): BrowserCookie {
  const isHttps = baseUrl.startsWith('https:')
  const name = cookieNameOf('provider-sign-in', isHttps)
  const options = cookieOptions(isHttps)
  return {
    set(reply, secret) {
      reply.setCookie(name, secret, { ...options, signed: true, maxAge: providerSignInMs / 1000 })
    },
    read(request) {
      const { valid, value } = request.unsignCookie(request.cookies[name] ?? '')
      return valid ? value : undefined
    },
    clear(reply) {
      reply.clearCookie(name, options)
    },
  }
}

/** @throws the error itself when neither the provider nor a store failed */
function failed(
  { show }: Pick<PageContext, 'show'>,
  request: FastifyRequest,
  reply: FastifyReply,
  at: AtProvider,
  error: unknown,
): FastifyReply {
  const { name } = at.provider
  const failure = failureOfProvider(request, at, error)
  if (failure === 'unreachable') return show(reply.header('retry-after', '60'), unreachablePage(name), 503)
  if (failure === 'not_proven') return show(reply, notProvenPage(name), 401)
  return show(reply.header('retry-after', retryAfterOf(error)), notRecordedPage, 503)
}

/** A provider that does not say when a person proved who they are has not proved it now. */
const longAgo = new Date(0)

async function signIn(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  at: AtProvider,
  { returnTo }: BegunSignIn,
  verified: Verified,
): Promise<FastifyReply> {
  const { ports, show } = context
  const { tenantId, provider } = at
  const { providerId, name, createdAt: addedAt, clientId } = provider
  const outcome = await signInWithProvider(ports, at, verified, request.id)
  if (outcome.outcome === 'refused') {
    const { reason } = outcome
    request.log.info(
      { request_id: request.id, tenant: tenantId, provider: providerId, reason },
      'sign_in.not_admitted',
    )
    return show(reply, notAdmittedPage(name), 403)
  }
  const sidHash = verified.sid === undefined ? undefined : sha256(verified.sid)
  const provedAt = Math.min((verified.authenticatedAt ?? longAgo).getTime(), ports.now().getTime())
  await admit(context, request, reply, outcome.known, 'provider', {
    provider: { providerId, addedAt, identity: outcome.identity, sidHash },
    authenticatedAt: new Date(provedAt).toISOString(),
  })
  await keepForSignOut(ports, request, tenantId, verified, clientId)
  return reply.redirect(returnTo, 303)
}

/** Notes that the member of the session has just proved who they are, if it is the same person. */
async function confirm(
  { ports, show }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  at: AtProvider,
  { sessionHash, returnTo, begunAt }: BegunSignIn,
  { subject, authenticatedAt }: Verified,
): Promise<FastifyReply> {
  const { session } = request
  const isSame =
    request.principal?.sessionHash === sessionHash &&
    session.member?.provider?.providerId === at.provider.providerId &&
    session.member.provider.identity === identityOf(ports, at, subject)
  const isNew =
    authenticatedAt !== undefined && authenticatedAt.getTime() >= begunAt.getTime() - clocksDifferMs
  if (!isSame || !isNew || !session.member) return show(reply, notConfirmedPage(at.provider.name), 401)
  const provedAt = Math.min(authenticatedAt.getTime(), ports.now().getTime())
  session.member = { ...session.member, authenticatedAt: new Date(provedAt).toISOString() }
  return reply.redirect(returnTo, 303)
}
