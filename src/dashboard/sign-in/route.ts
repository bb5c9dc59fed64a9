import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { KnownMember } from '../../../projections/members.ts'
import { offeredProviders } from '../../../projections/sign-in-providers.ts'
import { isKnownDevice } from '../../access/known-devices.ts'
import { maySignInHere, type SessionMember } from '../../access/member-sessions.ts'
import { authenticationOptions } from '../../access/passkey-ceremony.ts'
import { signInMethods } from '../../commands/members/set-up.ts'
import {
  type Caller,
  type SignIn,
  signInWithPasskey,
  signInWithPassword,
} from '../../commands/members/sign-in.ts'
import { recordSignIn } from '../../commands/members/sign-in-audit.ts'
import { momentOf } from '../../commands/origin.ts'
import type { SignInMethod } from '../../domain/audit/events.ts'
import { Slug } from '../../domain/values.ts'
import type { Content } from '../../html.ts'
import { problemOf } from '../../http/errors.ts'
import { addressOf } from '../../http/listening.ts'
import { Problem } from '../../http/problem.ts'
import { callerOf } from '../../limits/address.ts'
import type { Ports } from '../../ports.ts'
import { boxes, formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { home, returnPath } from '../session/redirect-with.ts'
import { beginSession } from '../session/session.ts'
import { failureRecorder, type KnownBrowsers, waitProblem } from './failures.ts'
import { ask, challengeIn, giveChallenge } from './proof.ts'
import { takeEndSession } from './provider-session.ts'
import { providerLinks, signedOutView } from './provider-view.ts'
import { signInView } from './view.ts'

const SignInForm = z.object({
  email: z.string().max(320),
  password: z.string().max(1000),
  code: z.string().max(20),
  workspace: z.string().max(100).default(''),
  return: z.string().max(600).optional(),
})

const PasskeyForm = z.object({ credential: z.string().max(20_000), return: z.string().max(600).optional() })

/** The same message for every failed sign-in, so that it does not reveal who is a member. */
const noMatch =
  'Sign-in failed. Check the email address, the password and the code; each code works once. If your address ' +
  'belongs to several workspaces, enter the workspace.'

/** Only to a person who has just proved who they are. */
const providersOnly =
  'Your workspace requires single sign-on. Sign in with its provider, or ask an owner of the workspace for a one-time link.'

const notNow = 'Sign-ins cannot be recorded at the moment. Try again in a minute.'

/**
 * When to try again, in seconds, after a sign-in that could not be recorded.
 * @throws the error itself when no store failed
 */
export function retryAfterOf(error: unknown): string {
  const { status, headers } = problemOf(error as FastifyError)
  if (status !== 503) throw error
  return headers['retry-after'] ?? '1'
}

/** Shows the form, again with what was given and what is wrong. */
const formPage =
  ({ ports, party, show }: Pick<PageContext, 'ports' | 'party' | 'show'>) =>
  async (
    reply: FastifyReply,
    given: { returnTo: string; problem?: Content; email?: string; workspace?: string },
    status = 200,
  ) => {
    // Looked up for every answer, so that none differs by its work.
    const offered = await offeredProviders(ports.db, (given.workspace ?? '').toLowerCase())
    return show(
      reply,
      {
        title: 'Sign in',
        content: ({ token }) =>
          signInView({
            token,
            problem: null,
            email: '',
            workspace: '',
            passkeys: party !== undefined,
            providers: providerLinks(offered, given.returnTo),
            ...given,
          }),
      },
      status,
    )
  }

const Query = z.object({ return: boxes, workspace: boxes })

export function signInRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, party, browsers } = context
  const open = pageRoute({ page: 'open' })
  const linked = pageRoute({ page: 'open', query: Query, foreignQuery: 'in links' })
  const recordFailure = failureRecorder(app, ports)

  const page = formPage(context)

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    signIn: SignIn,
    method: 'password' | 'passkey',
    given: { returnTo: string; email?: string; workspace?: string },
  ) => {
    if (signIn.outcome === 'signed_in') {
      if (!maySignInHere(signIn.known)) return page(reply, { ...given, problem: providersOnly }, 403)
      try {
        await admit(context, request, reply, signIn.known, method, { codeStep: signIn.codeStep })
      } catch (error) {
        const retryAfter = retryAfterOf(error)
        await signIn.giveBack?.()
        return page(
          reply.header('retry-after', retryAfter),
          { ...given, problem: signIn.giveBack ? `${notNow} The same code works again.` : notNow },
          503,
        )
      }
      return reply.redirect(given.returnTo, 303)
    }
    if (signIn.outcome === 'wait') {
      return page(reply, { ...given, problem: waitProblem(reply, signIn.retryAfterSeconds) }, 429)
    }
    if (signIn.tried) recordFailure(request, signIn.tried, method)
    return page(reply, { ...given, problem: noMatch }, 401)
  }

  const callerOf = (request: FastifyRequest): Caller => ({
    address: addressOf(request),
    deviceHash: browsers.hashOf(request),
  })

  app.get('/sign-in', linked, async (request, reply) => {
    const query = Query.safeParse(request.query).data
    const returnTo = returnPath(query?.return[0])
    if (request.principal) return reply.redirect(returnTo, 303)
    return page(reply, { returnTo, workspace: query?.workspace[0] ?? '' })
  })

  app.post('/sign-in', open, async (request, reply) => {
    const { email, password, code, workspace, return: path } = formOf(SignInForm, request)
    const named = workspace.trim()
    const tenant = Slug.safeParse(named.toLowerCase())
    // A malformed name is looked up as well, so that every attempt takes the same time.
    const tenantId = named === '' ? undefined : (tenant.data ?? '')
    const signIn = await signInWithPassword(ports, { email, tenantId, password, code }, callerOf(request))
    return answer(request, reply, signIn, 'password', { returnTo: returnPath(path), email, workspace: named })
  })

  if (!party) return
  app.post('/sign-in/challenge', open, async (request, reply) => {
    await limitChallenges(ports, request, browsers)
    const options = await authenticationOptions(party)
    await giveChallenge(request, ports, 'sign in', options.challenge)
    return reply.send(options)
  })

  app.post('/sign-in/passkey', open, async (request, reply) => {
    const { credential, return: path } = formOf(PasskeyForm, request)
    const challenge = await challengeIn(request, ports, 'sign in')
    const signIn = await signInWithPasskey(ports, party, { credential, challenge }, callerOf(request))
    return answer(request, reply, signIn, 'passkey', { returnTo: returnPath(path) })
  })
}

/** Each challenge and each sign-in at a provider is a row in the database, so they are limited, for unknown browsers per address. */
export async function limitChallenges(
  ports: Ports<'attempts' | 'db' | 'now'>,
  request: FastifyRequest,
  browsers: KnownBrowsers,
): Promise<void> {
  const deviceHash = browsers.hashOf(request)
  const known = await isKnownDevice(ports.db, deviceHash, ports.now())
  const bucket = known ? `challenge device ${deviceHash}` : `challenge ${callerOf(addressOf(request))}`
  const attempt = await ports.attempts.take([{ bucket, allowance: { burst: 60, intervalMs: 5000 } }])
  if (attempt.allowed) return
  const headers = { 'retry-after': String(attempt.retryAfterSeconds) }
  throw new Problem(429, 'rate_limited', 'Too many attempts. Wait a minute and try again.', headers)
}

/**
 * Records the sign-in of a member, opens a new session for them, and remembers the browser.
 * @param more `codeStep`: the period of the code that was used; `provider`: where the sign-in was proved, and when
 */
export async function admit(
  { ports, browsers }: Pick<PageContext, 'ports' | 'browsers'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { member }: Pick<KnownMember, 'member'>,
  method: SignInMethod,
  more: Pick<SessionMember, 'codeStep' | 'provider'> & { authenticatedAt?: string } = {},
): Promise<void> {
  const { memberId, tenantId } = member
  await recordSignIn(ports, member, { method, address: addressOf(request) }, request.id)
  await browsers.remember(request, reply, memberId)
  const userAgent = request.headers['user-agent']?.slice(0, 300) ?? null
  const { authenticatedAt = momentOf(ports), codeStep, provider } = more
  const address = addressOf(request)
  const begun = method === 'link' ? 'link' : undefined
  const of = { memberId, tenantId, authenticatedAt, codeStep, begun, provider } as const
  await beginSession(request, { ...of, address, userAgent })
}

export function signOutRoute(app: FastifyInstance, { ports, endSession, baseUrl, show }: PageContext): void {
  // Also for a cookie whose session has ended.
  app.post('/sign-out', pageRoute({ page: 'open' }), async (request, reply) => {
    const atProvider = await takeEndSession(ports, request, baseUrl)
    await endSession(request, reply)
    if (atProvider === undefined) return reply.redirect(`${home}/sign-in`, 303)
    // A redirect would be refused: forms may lead to no other site.
    reply.header('refresh', `0; url=${atProvider}`)
    request.principal = undefined
    return show(reply, { title: 'Signed out', content: () => signedOutView(atProvider) })
  })
}

const ConfirmForm = z.object({ return: z.string().max(600).optional() })

const ConfirmQuery = z.object({ return: boxes })

/** Where members prove who they are before a page that takes or shows a secret, and return to it. */
export function confirmRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, party } = context
  const member = pageRoute({ page: 'anyone' })

  app.get('/confirm', pageRoute({ page: 'anyone', query: ConfirmQuery }), async (request, reply) => {
    const back = returnPath(ConfirmQuery.safeParse(request.query).data?.return[0])
    return ask(context, request, reply, { held: { return: back }, back, problem: null, status: 200 })
  })

  app.post('/confirm', pageRoute({ page: 'anyone', proof: 'send' }), async (request, reply) =>
    reply.redirect(returnPath(formOf(ConfirmForm, request).return), 303),
  )

  if (!party) return
  app.post('/confirm/challenge', member, async (request, reply) => {
    const { passkeys } = await signInMethods(ports, principalOf(request).memberId)
    const options = await authenticationOptions(party, passkeys)
    await giveChallenge(request, ports, 'confirm', options.challenge)
    return reply.send(options)
  })
}
