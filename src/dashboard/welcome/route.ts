import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { checkNewPasskey, type RelyingParty, registrationOptions } from '../../access/passkey-ceremony.ts'
import { totpUri } from '../../access/totp.ts'
import { findLinkHolder, type LinkHolder } from '../../commands/members/members.ts'
import {
  beginTotp,
  type SettingUp,
  type SetUp,
  setUpPasskey,
  setUpPassword,
  signInMethods,
} from '../../commands/members/set-up.ts'
import { type Html, html } from '../../html.ts'
import { qrCode } from '../../qr-code.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { home, redirectWith } from '../session/redirect-with.ts'
import { challengeIn, giveChallenge } from '../sign-in/proof.ts'
import { admit, retryAfterOf } from '../sign-in/route.ts'
import { messageView, passkeyForm, passwordSetUp, welcomeView } from '../sign-in/view.ts'

export const PasswordSetUpForm = z.object({ password: z.string().max(1000), code: z.string().max(20) })
const PasskeyForm = z.object({ credential: z.string().max(20_000) })

type Unfinished = Extract<SetUp, { done: false }>
type LinkRequest = FastifyRequest<{ Params: { secret: string } }>

export const notProven: Unfinished = {
  done: false,
  problem: 'passkey',
  message: 'The passkey could not be verified. Try again.',
}

const settingUp = ({ link, member: { memberId, tenantId }, email }: LinkHolder): SettingUp => ({
  memberId,
  tenantId,
  email,
  linkHash: link.linkHash,
})

/** The same for each opening of a link, so that an authenticator app that was connected once stays valid. */
const enrolmentOf = ({ link }: LinkHolder): string => link.linkHash.slice(0, 24)

const open = pageRoute({ page: 'open', foreignQuery: 'in links' })

/** One-time links: a member chooses a sign-in method and is signed in. Opening a link does not use it up. */
export function welcomeRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, party, show } = context
  const notFound = (reply: FastifyReply) => show(reply, gonePage, 404)

  const page = async (reply: FastifyReply, secret: string, holder: LinkHolder, problem?: Unfinished) => {
    const totp = await beginTotp(ports, holder.member, enrolmentOf(holder))
    const { password, passkeys } = await signInMethods(ports, holder.member.memberId)
    const replaces = password || passkeys.length > 0
    const content = ({ token }: { token: string }) =>
      welcomeContent({ token, action: welcomePath(secret), holder, replaces, totp, party, problem })
    return show(reply, { title: `Welcome to ${holder.tenantName}`, content, problem })
  }

  /** Finds the member of the link before anything else. */
  const holding =
    (work: (request: LinkRequest, reply: FastifyReply, holder: LinkHolder) => Promise<FastifyReply>) =>
    async (request: LinkRequest, reply: FastifyReply) => {
      const holder = await findLinkHolder(ports, request.params.secret)
      return holder ? work(request, reply, holder) : notFound(reply)
    }

  const finish = async (request: LinkRequest, reply: FastifyReply, holder: LinkHolder, setUp: SetUp) => {
    if (!setUp.done)
      return setUp.problem === 'link' ? notFound(reply) : page(reply, request.params.secret, holder, setUp)
    try {
      await admit(context, request, reply, holder, 'link')
    } catch (error) {
      return show(reply.header('retry-after', retryAfterOf(error)), setUpPage, 503)
    }
    return redirectWith(reply, home, 'Sign-in is set up, and you are signed in.')
  }

  app.get(
    '/welcome/:secret',
    open,
    holding((request, reply, holder) => page(reply, request.params.secret, holder)),
  )

  app.post(
    '/welcome/:secret',
    open,
    holding(async (request, reply, holder) => {
      const chosen = { ...formOf(PasswordSetUpForm, request), enrolment: enrolmentOf(holder) }
      return finish(request, reply, holder, await setUpPassword(ports, settingUp(holder), chosen))
    }),
  )

  if (!party) return
  app.post(
    '/welcome/:secret/challenge',
    open,
    holding(async (request, reply, { email, tenantName, member: { memberId }, link }) => {
      const options = await registrationOptions(
        party,
        { memberId, email, label: `${email} (${tenantName})` },
        [],
      )
      await giveChallenge(request, ports, `welcome ${link.linkHash}`, options.challenge)
      return reply.send(options)
    }),
  )

  app.post(
    '/welcome/:secret/passkey',
    open,
    holding(async (request, reply, holder) => {
      const { credential } = formOf(PasskeyForm, request)
      const challenge = await challengeIn(request, ports, `welcome ${holder.link.linkHash}`)
      const passkey = challenge && (await checkNewPasskey(party, credential, challenge))
      const setUp = passkey
        ? await setUpPasskey(ports, settingUp(holder), passkey, 'First passkey')
        : notProven
      return finish(request, reply, holder, setUp)
    }),
  )
}

/** The link is used up, but what it was for is done. */
const setUpPage = {
  title: 'Sign-in is set up',
  content: () =>
    messageView(
      'Sign-in is set up',
      'Sign-ins cannot be recorded at the moment. Try to sign in again in a minute, with a new code.',
      html`<p><a href="/dashboard/sign-in">Sign in</a></p>`,
    ),
}

const gonePage = {
  title: 'Link not valid',
  content: () =>
    messageView(
      'Link not valid',
      'The link has been used, has expired or was replaced by a newer one. Ask for a new link.',
      html`<p><a href="/dashboard/sign-in">Sign in</a></p>`,
    ),
}

type WelcomeContent = {
  token: string
  action: string
  holder: LinkHolder
  replaces: boolean
  totp: string
  party: RelyingParty | undefined
  problem: Unfinished | undefined
}

function welcomeContent(shown: WelcomeContent): Html {
  const { token, action, holder, replaces, totp, party, problem } = shown
  const { email, tenantName, member } = holder
  const atField = problem?.problem === 'password' || problem?.problem === 'code' ? problem.problem : undefined
  return welcomeView({
    email,
    tenantName,
    role: member.role,
    replaces,
    problem: atField ? null : problem?.message,
    passkey: party
      ? passkeyForm({
          token,
          action: `${action}/passkey`,
          challenge: `${action}/challenge`,
          label: 'Create passkey',
          makes: true,
          or: 'or use a password and an authenticator app',
        })
      : null,
    setUp: passwordSetUp({
      token,
      action,
      email,
      secret: totp,
      qr: qrCode(totpUri(totp, email, member.tenantId), 'QR code for your authenticator app'),
      problem: problem && atField ? { field: atField, message: problem.message } : undefined,
      button: 'Set up password',
    }),
  })
}

/** The path of a one-time link; the caller puts the base URL before it. */
export const welcomePath = (secret: string): string => `/dashboard/welcome/${secret}`
