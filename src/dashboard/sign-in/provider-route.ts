import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findSignInProvider } from '../../../projections/sign-in-providers.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { NotProven, ProviderUnreachable } from '../../access/openid/errors.ts'
import type { Bound, Verified } from '../../access/openid/openid.ts'
import {
  type BegunSignIn,
  boundTo,
  keepSignIn,
  providerSignInMs,
  takeSignIn,
} from '../../access/provider-sign-ins.ts'
import { identityOf, signInWithProvider } from '../../commands/members/provider-sign-in.ts'
import { clientOf } from '../../commands/sign-in-providers.ts'
import { newSecret } from '../../credentials/secret.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import { notFound } from '../../http/problem.ts'
import { redirectPath } from '../../http/sign-in-paths.ts'
import type { Ports } from '../../ports.ts'
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
type At = { tenantId: string; provider: SignInProvider }

/** The clocks of a provider and of this server differ by less (milliseconds). */
const clocksDifferMs = 60_000

/** Sign-in at a provider of OpenID Connect: to the provider, and back. */
export function providerSignInRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const cookies = browserCookies(context)
  const open = pageRoute({ page: 'open', query: ReturnQuery, foreignQuery: 'in links' })

  app.get('/sign-in/workspace', open, async (request, reply) => {
    const returnTo = returnPath(ReturnQuery.safeParse(request.query).data?.return[0])
    return show(reply, { title: 'Single sign-on', content: () => workspaceView(returnTo) })
  })

  const begin = pageRoute({ page: 'open', query: BeginQuery, foreignQuery: 'in links' })
  app.get('/sign-in/:workspace/:provider', begin, async (request: ProviderRequest, reply) => {
    const at = await providerOf(ports, request)
    const { data } = BeginQuery.safeParse(request.query)
    const again = data?.confirm === 'yes' && request.principal !== undefined
    await limitChallenges(ports, request, context.browsers)
    const random = () => newSecret(ports.randomBytes)
    const [state, browserSecret] = [random(), random()]
    const begun: BegunSignIn = {
      tenantId: at.tenantId,
      providerId: at.provider.providerId,
      sessionHash: again ? sessionHashOf(request) : null,
      returnTo: returnPath(data?.return[0]),
      begunAt: ports.now(),
    }
    try {
      const client = await clientOf(ports, at.tenantId, at.provider)
      const bound = boundIn(context, at, { state, browserSecret })
      const { roleClaim } = at.provider
      const page = await ports.openId.begin(client, bound, { roleClaim, again })
      await keepSignIn(ports.db, { state, browserSecret }, begun)
      cookies.set(reply, browserSecret)
      return await reply.redirect(page.href, 303)
    } catch (error) {
      return failed(context, request, reply, at, error)
    }
  })

  // The provider adds parameters of its own.
  const back = pageRoute({ page: 'open', foreignQuery: 'in links' })
  app.get('/sign-in/:workspace/:provider/callback', back, async (request: ProviderRequest, reply) => {
    const at = await providerOf(ports, request)
    const state = z.object({ state: z.string() }).safeParse(request.query).data?.state
    const browserSecret = cookies.read(request)
    if (state === undefined || browserSecret === undefined) return show(reply, stalePage, 400)
    const named = { tenantId: at.tenantId, providerId: at.provider.providerId }
    const begun = await takeSignIn(ports.db, { state, browserSecret }, named, ports.now())
    if (!begun) return show(reply, stalePage, 400)
    cookies.clear(reply)
    try {
      const client = await clientOf(ports, at.tenantId, at.provider)
      const query = request.url.slice(request.url.indexOf('?'))
      const bound = boundIn(context, at, { state, browserSecret })
      const verified = await ports.openId.finish(client, bound, query)
      return begun.sessionHash === null
        ? await signIn(context, request, reply, at, begun, verified)
        : await confirm(context, request, reply, at, begun, verified)
    } catch (error) {
      return failed(context, request, reply, at, error)
    }
  })
}

/** @throws Problem 404 for a provider that is unknown or of another workspace, and in a closed workspace */
async function providerOf({ db }: Ports<'db'>, { params }: ProviderRequest): Promise<At> {
  const { workspace: tenantId, provider: providerId } = params
  const tenant = await findTenant(db, tenantId)
  const provider = await findSignInProvider(db, tenantId, providerId)
  if (!provider || tenant?.status === 'closed') throw notFound('sign-in provider')
  return { tenantId, provider }
}

const boundIn = (
  { baseUrl }: Pick<PageContext, 'baseUrl'>,
  { tenantId, provider: { providerId } }: At,
  { state, browserSecret }: { state: string; browserSecret: string },
): Bound => ({
  redirectUri: `${baseUrl}${redirectPath(tenantId, providerId)}`,
  state,
  ...boundTo(browserSecret, state),
})

/** The cookie that binds a sign-in to the browser in which it was begun. A new one replaces it. */
function browserCookies({ baseUrl }: Pick<PageContext, 'baseUrl'>) {
  const isHttps = baseUrl.startsWith('https:')
  const name = cookieNameOf('provider-sign-in', isHttps)
  const options = cookieOptions(isHttps)
  return {
    set: (reply: FastifyReply, secret: string) =>
      reply.setCookie(name, secret, { ...options, signed: true, maxAge: providerSignInMs / 1000 }),
    read(request: FastifyRequest): string | undefined {
      const { valid, value } = request.unsignCookie(request.cookies[name] ?? '')
      return valid ? value : undefined
    },
    clear: (reply: FastifyReply) => reply.clearCookie(name, options),
  }
}

/** @throws the error itself when neither the provider nor a store failed */
function failed(
  { show }: Pick<PageContext, 'show'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { tenantId, provider: { providerId, name } }: At,
  error: unknown,
): FastifyReply {
  const line = { request_id: request.id, tenant: tenantId, provider: providerId }
  if (error instanceof ProviderUnreachable) {
    request.log.warn({ ...line, reason: error.message }, 'sign_in.provider_unreachable')
    return show(reply.header('retry-after', '60'), unreachablePage(name), 503)
  }
  if (error instanceof NotProven) {
    request.log.info({ ...line, reason: error.message }, 'sign_in.not_proven')
    return show(reply, notProvenPage(name), 401)
  }
  return show(reply.header('retry-after', retryAfterOf(error)), notRecordedPage, 503)
}

/** A provider that does not say when a person proved who they are has not proved it now. */
const longAgo = new Date(0)

async function signIn(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  at: At,
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
  at: At,
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
