import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findProviderOfMembers } from '../../../projections/sign-in-providers.ts'
import { type ChallengePurpose, keepChallenge, takeChallenge } from '../../access/passkey-ceremony.ts'
import { signInMethods } from '../../commands/members/set-up.ts'
import { proveWithPasskey, proveWithPassword, type SignIn } from '../../commands/members/sign-in.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Content } from '../../html.ts'
import { beginPath } from '../../http/sign-in-paths.ts'
import type { Ports } from '../../ports.ts'
import { formOf } from '../forms/forms.ts'
import type { PageContext } from '../page-context.ts'
import { isFresh, pathOfReferer, principalOf } from '../session/principal.ts'
import { returnPath } from '../session/redirect-with.ts'
import { sessionHashOf } from '../session/session.ts'
import { failureRecorder, waitProblem } from './failures.ts'
import { confirmView, type HeldFields } from './view.ts'

const PasswordProof = z.object({
  'identity-password': z.string().max(1000),
  'identity-code': z.string().max(20),
})
const PasskeyProof = z.object({ 'identity-credential': z.string().max(20_000) })

const noMatch = 'Confirmation failed. Check the password and the code; each code works once.'

/**
 * Asks members who they are before a form whose route has `proof: 'send'` takes effect, unless they proved it a short time ago. The
 * form is not lost: the page that asks holds its fields, and sends them again with the proof. Register it after what refuses a form
 * from another site or session: the held fields must be the member's own.
 */
export function askForProof(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  const recordFailure = failureRecorder(app, ports)
  app.addHook('preHandler', async (request, reply) => {
    const { proof, proofIf } = request.routeOptions.config
    if (proof !== 'send' || request.method !== 'POST') return
    const { identity, held, back } = parted(request)
    request.body = held
    if (identity === undefined) {
      if (isFresh(ports, principalOf(request)) || proofIf?.(held) === false) return
      return ask(context, request, reply, { held, back, problem: null, status: 401 })
    }
    const outcome = await proved(context, request, identity)
    if (outcome === 'proven') return
    if (outcome.outcome === 'wait') {
      const problem = waitProblem(reply, outcome.retryAfterSeconds)
      return ask(context, request, reply, { held, back, problem, status: 429 })
    }
    if (outcome.tried)
      recordFailure(request, outcome.tried, 'identity-credential' in identity ? 'passkey' : 'password')
    return ask(context, request, reply, { held, back, problem: noMatch, status: 401 })
  })
}

type Identity = z.infer<typeof PasswordProof> | z.infer<typeof PasskeyProof>

/** Parts a form into the proof, if it has one, and what else was sent. @throws Problem 400 */
function parted(request: FastifyRequest): { identity: Identity | undefined; held: HeldFields; back: string } {
  const sent = (request.body ?? {}) as HeldFields
  const isOwn = ([name]: [string, unknown]) => !name.startsWith('identity-')
  const held = Object.fromEntries(Object.entries(sent).filter(isOwn))
  const { 'identity-back': back } = sent
  return {
    held,
    back: returnPath(typeof back === 'string' ? back : pathOfReferer(request)),
    identity:
      'identity-credential' in sent
        ? formOf(PasskeyProof, request)
        : 'identity-password' in sent
          ? formOf(PasswordProof, request)
          : undefined,
  }
}

/** Verifies that it is still the member of the session, and notes the time. */
async function proved(
  { ports, party }: PageContext,
  request: FastifyRequest,
  identity: Identity,
): Promise<'proven' | Exclude<SignIn, { outcome: 'signed_in' }>> {
  const { session } = request
  const principal = principalOf(request)
  const proof = await ('identity-credential' in identity
    ? provedWithPasskey({ ports, party }, request, identity['identity-credential'])
    : proveWithPassword(
        ports,
        { ...principal, signedInWith: session.member?.codeStep },
        { password: identity['identity-password'], code: identity['identity-code'] },
      ))
  if (proof.outcome !== 'signed_in') return proof
  const authenticatedAt = momentOf(ports)
  if (session.member) session.member = { ...session.member, authenticatedAt, codeStep: undefined }
  request.principal = { ...principal, authenticatedAt }
  return 'proven'
}

async function provedWithPasskey(
  { ports, party }: Pick<PageContext, 'ports' | 'party'>,
  request: FastifyRequest,
  credential: string,
): Promise<SignIn> {
  const challenge = await challengeIn(request, ports, 'confirm')
  if (!party) return { outcome: 'no_match' }
  return proveWithPasskey(ports, party, principalOf(request), { credential, challenge })
}

/** Shows the page that asks. It sends the held fields to the same address, together with the proof. */
export async function ask(
  { ports, party, show }: Pick<PageContext, 'ports' | 'party' | 'show'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { held, back, problem, status }: { held: HeldFields; back: string; problem: Content; status: number },
): Promise<FastifyReply> {
  const { memberId, tenantId, email } = principalOf(request)
  const { password, passkeys } = await signInMethods(ports, memberId)
  const [action = ''] = request.url.split('?')
  const at = request.session.member?.provider
  const provider = at && (await findProviderOfMembers(ports.db, tenantId, at.providerId))
  const again = provider && {
    name: provider.name,
    href: `${beginPath(tenantId, provider.providerId)}?confirm=yes&return=${encodeURIComponent(back)}`,
  }
  const usable = party !== undefined && passkeys.length > 0
  return show(
    reply,
    {
      title: 'Confirm your identity',
      content: ({ token }) =>
        confirmView({
          token,
          action,
          held,
          back,
          problem,
          email,
          password,
          passkeys: usable,
          provider: again,
        }),
    },
    status,
  )
}

/** Stores the challenge that a passkey must sign in the request's session; starts a session when there is none. */
export async function giveChallenge(
  request: FastifyRequest,
  ports: Ports<'db' | 'now'>,
  purpose: ChallengePurpose,
  challenge: string,
): Promise<void> {
  request.session.challengedAt = momentOf(ports)
  await keepChallenge(ports.db, { sessionHash: sessionHashOf(request), purpose }, challenge, ports.now())
}

/** Takes the challenge out of the request's session, so that it can be used only once, successfully or not. */
export function challengeIn(
  request: FastifyRequest,
  { db, now }: Ports<'db' | 'now'>,
  purpose: ChallengePurpose,
): Promise<string | undefined> {
  return takeChallenge(db, { sessionHash: sessionHashOf(request), purpose }, now())
}
