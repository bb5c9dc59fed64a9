import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { authenticationOptions } from '../../access/passkey-ceremony.ts'
import { signInMethods } from '../../commands/members/set-up.ts'
import { boxes, formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { returnPath } from '../session/return-path.ts'
import { giveChallenge } from './challenges.ts'
import { ask } from './proof.ts'

const Form = z.object({ return: z.string().max(600).optional() })

const Query = z.object({ return: boxes })

/** Where members prove who they are before a page that takes or shows a secret, and return to it. */
export function confirmRoutes(app: FastifyInstance, context: PageContext): void {
  const { ports, party } = context
  const member = pageRoute({ page: 'member' })

  app.get('/confirm', pageRoute({ page: 'member', query: Query }), async (request, reply) => {
    const back = returnPath(Query.safeParse(request.query).data?.return[0])
    return ask(context, request, reply, { held: { return: back }, back, problem: null, status: 200 })
  })

  app.post('/confirm', pageRoute({ page: 'member', proof: 'send' }), async (request, reply) =>
    reply.redirect(returnPath(formOf(Form, request).return), 303),
  )

  if (!party) return
  app.post('/confirm/challenge', member, async (request, reply) => {
    const { passkeys } = await signInMethods(ports, principalOf(request).memberId)
    const options = await authenticationOptions(party, passkeys)
    await giveChallenge(request, ports, 'confirm', options.challenge)
    return reply.send(options)
  })
}
