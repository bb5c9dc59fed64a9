import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { authenticationOptions } from '../../access/passkey-ceremony.ts'
import { signInMethods } from '../../commands/members/set-up.ts'
import { proveWithPasskey, proveWithPassword, type SignIn } from '../../commands/members/sign-in.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Content } from '../../html.ts'
import { boxes, formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { returnPath } from '../session/return-path.ts'
import { challengeIn, giveChallenge } from './challenges.ts'
import { failureRecorder } from './failures.ts'
import { waitProblem } from './route.ts'
import { confirmView } from './view.ts'

const PasswordForm = z.object({
  password: z.string().max(1000),
  code: z.string().max(20),
  return: z.string().max(600).optional(),
})
const PasskeyForm = z.object({ credential: z.string().max(20_000), return: z.string().max(600).optional() })

const noMatch = 'Confirmation failed. Check the password and the code; each code works once.'

const Query = z.object({ return: boxes })

/** Before a dangerous action, a member signs in again within their session. */
export function confirmRoutes(app: FastifyInstance, context: PageContext): void {
  const { services, party, show } = context
  const member = pageRoute({ page: 'member' })
  const form = pageRoute({ page: 'member', query: Query })
  const recordFailure = failureRecorder(app, services)

  const page = async (
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
    problem: Content,
    status = 200,
  ) => {
    const { memberId, email } = principalOf(request)
    const { password, passkeys } = await signInMethods(services, memberId)
    const usable = party !== undefined && passkeys.length > 0
    return show(
      reply,
      {
        title: 'Confirm your identity',
        content: ({ token }) => confirmView({ token, returnTo, problem, email, password, passkeys: usable }),
      },
      status,
    )
  }

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    proof: SignIn,
    method: 'password' | 'passkey',
    returnTo: string,
  ) => {
    const { session } = request
    if (proof.outcome === 'no_match' && proof.tried) recordFailure(request, proof.tried, method)
    if (proof.outcome === 'no_match') return page(request, reply, returnTo, noMatch, 401)
    if (proof.outcome === 'wait')
      return page(request, reply, returnTo, waitProblem(reply, proof.retryAfterSeconds), 429)
    if (session.member) session.member = { ...session.member, authenticatedAt: momentOf(services) }
    return reply.redirect(returnTo, 303)
  }

  app.get('/confirm', form, async (request, reply) => {
    const query = Query.safeParse(request.query).data
    return page(request, reply, returnPath(query?.return[0]), null)
  })

  app.post('/confirm', member, async (request, reply) => {
    const { return: path, ...proof } = formOf(PasswordForm, request)
    const proven = await proveWithPassword(services, principalOf(request), proof)
    return answer(request, reply, proven, 'password', returnPath(path))
  })

  if (!party) return
  app.post('/confirm/challenge', member, async (request, reply) => {
    const { passkeys } = await signInMethods(services, principalOf(request).memberId)
    const options = await authenticationOptions(party, passkeys)
    await giveChallenge(request, services, 'confirm', options.challenge)
    return reply.send(options)
  })

  app.post('/confirm/passkey', member, async (request, reply) => {
    const { credential, return: path } = formOf(PasskeyForm, request)
    const challenge = await challengeIn(request, services, 'confirm')
    const proven = await proveWithPasskey(services, party, principalOf(request), { credential, challenge })
    return answer(request, reply, proven, 'passkey', returnPath(path))
  })
}
