import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { checkNewPasskey, registrationOptions } from '../../access/passkey-ceremony.ts'
import { endSessionOf, endSessionsOf, listSessionsOf } from '../../access/sessions.ts'
import { totpUri } from '../../access/totp.ts'
import {
  beginTotp,
  removePasskey,
  type SettingUp,
  type SetUp,
  setUpPasskey,
  setUpPassword,
  signInMethods,
} from '../../commands/members/set-up.ts'
import { Problem } from '../../http/problem.ts'
import { qrCode } from '../../qr-code.ts'
import { formOf, line } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { challengeIn, giveChallenge } from '../sign-in/proof.ts'
import { notProven, PasswordSetUpForm } from '../welcome/route.ts'
import { accountView, newPasskeyView, newPasswordView } from './view.ts'

const NewPasskeyForm = z.object({ credential: z.string().max(20_000), name: line(60) })
const OnePasskey = z.object({
  passkey: z
    .string()
    .max(2000)
    .regex(/^[A-Za-z0-9_-]+$/),
})
const OneSession = z.object({ session: z.string().regex(/^[0-9a-f]{64}$/) })

const member = pageRoute({ page: 'anyone' })
/** These pages show a new secret, or take one. */
const proven = pageRoute({ page: 'anyone', proof: 'open' })

const path = '/dashboard/account'

/** The member who changes a sign-in method. @throws Problem for a member whose data was erased */
function settingUpOf(request: FastifyRequest): SettingUp {
  const { memberId, tenantId, email, sessionHash } = principalOf(request)
  if (email === null) throw new Problem(409, 'invalid_request', 'Your email address has been erased.')
  return { memberId, tenantId, email, sessionHash }
}

/** Redirects to the account page with a message. */
/** A member's own page: their sign-in methods and sessions. */
export function accountRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, party, show, browsers } = context

  app.get('/account', member, async (request, reply) => {
    const principal = principalOf(request)
    const ways = await signInMethods(ports, principal.memberId)
    const sessions = await listSessionsOf(ports.db, principal.memberId, ports.now())
    return show(reply, {
      title: 'Your account',
      nav: 'account',
      content: (view) =>
        accountView(view, { principal, ways, sessions, passkeysPossible: party !== undefined }),
    })
  })

  app.post('/account/sessions/end', member, async (request, reply) => {
    const { session } = formOf(OneSession, request)
    await endSessionOf(ports.db, principalOf(request).memberId, session, ports.now())
    return redirectWith(reply, path, 'Session ended.')
  })

  app.post('/account/sessions/end-others', member, async (request, reply) => {
    const { memberId, sessionHash } = principalOf(request)
    await endSessionsOf(ports.db, memberId, ports.now(), sessionHash)
    await browsers.remember(request, reply, memberId)
    return redirectWith(reply, path, 'All other sessions have ended.')
  })

  passwordRoutes(app, context)
  passkeyRoutes(app, context)
}

function passwordRoutes(app: FastifyInstance, { ports, show, browsers }: PageContext): void {
  const page = async (
    request: FastifyRequest,
    reply: FastifyReply,
    setUp?: Extract<SetUp, { done: false }>,
  ) => {
    const who = settingUpOf(request)
    const { session } = request
    session.enrolment ??= Buffer.from(ports.randomBytes(12)).toString('hex')
    const secret = await beginTotp(ports, who, session.enrolment)
    const qr = qrCode(totpUri(secret, who.email, who.tenantId), 'QR code for your authenticator app')
    return show(reply, {
      title: 'New password',
      nav: 'account',
      content: ({ token }) => newPasswordView({ token, email: who.email, secret, qr, setUp }),
      problem: setUp,
    })
  }

  app.get('/account/password', proven, (request, reply) => page(request, reply))

  app.post('/account/password', proven, async (request, reply) => {
    const { enrolment } = request.session
    if (enrolment === undefined) return page(request, reply)
    const chosen = formOf(PasswordSetUpForm, request)
    const setUp = await setUpPassword(ports, settingUpOf(request), { ...chosen, enrolment })
    if (!setUp.done) return page(request, reply, setUp)
    request.session.enrolment = undefined
    await browsers.remember(request, reply, principalOf(request).memberId)
    return redirectWith(reply, path, 'Password and authenticator app saved. All other sessions have ended.')
  })
}

function passkeyRoutes(app: FastifyInstance, { ports, party, show }: PageContext): void {
  app.post(
    '/account/passkeys/remove',
    pageRoute({ page: 'anyone', proof: 'send' }),
    async (request, reply) => {
      const { passkey } = formOf(OnePasskey, request)
      if (await removePasskey(ports, principalOf(request).memberId, passkey))
        return redirectWith(reply, path, 'Passkey removed.')
      return redirectWith(reply, path, {
        kind: 'wrong',
        text: 'You cannot remove your only sign-in method. Add another one first.',
      })
    },
  )

  if (!party) return
  const page = (reply: FastifyReply, problem?: string) =>
    show(reply, {
      title: 'New passkey',
      nav: 'account',
      content: ({ token }) => newPasskeyView(token, problem),
      problem,
    })

  app.get('/account/passkeys/new', proven, async (_request, reply) => page(reply))

  app.post('/account/passkeys/challenge', proven, async (request, reply) => {
    const { memberId, email } = settingUpOf(request)
    const { tenantName } = principalOf(request)
    const { passkeys } = await signInMethods(ports, memberId)
    const options = await registrationOptions(
      party,
      { memberId, email, label: `${email} (${tenantName})` },
      passkeys,
    )
    await giveChallenge(request, ports, 'new passkey', options.challenge)
    return reply.send(options)
  })

  app.post('/account/passkeys', proven, async (request, reply) => {
    const { credential, name } = formOf(NewPasskeyForm, request)
    const challenge = await challengeIn(request, ports, 'new passkey')
    const passkey = challenge && (await checkNewPasskey(party, credential, challenge))
    if (!passkey) return page(reply, notProven.message)
    const setUp = await setUpPasskey(ports, settingUpOf(request), passkey, name || 'Passkey')
    return setUp.done ? redirectWith(reply, path, 'Passkey added.') : page(reply, setUp.message)
  })
}
