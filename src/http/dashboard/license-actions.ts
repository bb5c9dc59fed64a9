import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { isId } from '../../credentials/id.ts'
import type { IssuedLicense } from '../../domain/license/license.ts'
import { may, type Role } from '../../domain/member/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { GatedOperation, RequestInput } from '../../gate/operation.ts'
import { revokeLicense } from '../../gate/operations/revoke-license.ts'
import { passGate } from '../../gate/pass.ts'
import { notFound, problemOfRefusal } from '../problem.ts'
import { formOf, line } from './forms.ts'
import type { Rooms } from './rooms.ts'
import { originOfMember, signedOf } from './signed.ts'
import { actionView } from './views/license-actions.ts'

/** Something that a member can ask to be done with a license: a gated operation, as programs ask for it. */
type Action = {
  name: string
  label: string
  operation: GatedOperation<unknown>
  fits: (license: IssuedLicense) => boolean
  /** What is asked for, with what was filled in. */
  body: (form: { reason: string }) => unknown
}

const actions: readonly Action[] = [
  {
    name: 'revoke',
    label: 'Revoke',
    operation: revokeLicense,
    fits: ({ revokedAt }) => revokedAt === null,
    body: ({ reason }) => (reason === '' ? null : { reason }),
  },
]

/** What somebody of a role may ask to be done with a license as it is. */
export const actionsFor = (role: Role, license: IssuedLicense): readonly Action[] =>
  may(role, 'ask_for_changes') ? actions.filter(({ fits }) => fits(license)) : []

const ask = { config: { page: 'ask_for_changes' }, schema: { hide: true } } as const
const lookAndAsk = { config: { page: 'ask_for_changes', look: 'license' }, schema: { hide: true } } as const

const ReasonForm = z.object({ reason: line(500).optional().default('') })

type ActionRequest = FastifyRequest<{ Params: { id: string; action: string } }>

/**
 * Asks for what a button of a license says. Nothing happens by it: the request waits as a program's does, and whoever
 * may approve it reads what will happen and proves who they are.
 */
export function licenseActions(app: FastifyInstance, { services, show }: Rooms): void {
  const found = async (request: ActionRequest) => {
    const { id, action: name } = request.params
    const entry = isId('lic', id) ? await findLicense(services.db, signedOf(request).tenantId, id) : undefined
    const action = actions.find((one) => one.name === name)
    if (!entry || !action) throw notFound('license')
    return { license: entry.license, action }
  }
  const page = async (request: ActionRequest, reply: FastifyReply, problem?: string) => {
    const { license, action } = await found(request)
    return show(
      reply,
      {
        title: action.operation.title,
        nav: 'licenses',
        content: ({ token }) => actionView({ token, license, action, problem }),
      },
      problem === undefined ? 200 : 409,
    )
  }
  app.get('/licenses/:id/do/:action', lookAndAsk, (request: ActionRequest, reply) => page(request, reply))

  app.post('/licenses/:id/do/:action', ask, async (request: ActionRequest, reply) => {
    const { license, action } = await found(request)
    const input = {
      parameters: { id: license.licenseId },
      query: {},
      body: action.body(formOf(ReasonForm, request)),
    }
    try {
      return reply.redirect(`/dashboard/approvals/${await confirmationOf(request, action, input)}`, 303)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return page(request, reply, `${problemOfRefusal(error.code).message}.`)
    }
  })

  const confirmationOf = async (request: ActionRequest, { operation }: Action, input: RequestInput) => {
    const { tenantId, memberId } = signedOf(request)
    const outcome = await passGate(services, operation, {
      tenantId,
      tokenId: memberId,
      client: { address: request.ip, userAgent: request.headers['user-agent']?.slice(0, 256) ?? null },
      request: input,
      origin: originOfMember(request),
      confirmationId: undefined,
    })
    if (outcome.passed) throw new Error('a request passed the gate that nobody had approved')
    return outcome.confirmation.confirmationId
  }
}
