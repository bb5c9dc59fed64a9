import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { isId } from '../../credentials/id.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { type HeldRole, may } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { GatedOperation } from '../../gate/operation.ts'
import { revokeLicense } from '../../gate/operations/revoke-license.ts'
import { reinstateLicense, reseatDevice, takeBackImport } from '../../gate/operations/undo.ts'
import { notFound, problemOfRefusal } from '../../http/problem.ts'
import { askApproval } from '../forms/ask-approval.ts'
import { formOf, line } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { actionView } from './actions-view.ts'

/** What a member fills in, or the page that they come from does. */
type Filled = { reason: string; device: string }

/** Something that a member can ask to be done with a license: a gated operation, as programs ask for it. */
type Action = {
  name: string
  label: string
  operation: GatedOperation<unknown>
  /** The action concerns one device, not the whole license. */
  ofDevice: boolean
  /** Whether the action applies to the license, and to the selected device. */
  fits: (license: IssuedLicense, device: Pick<Seat, 'status'> | undefined) => boolean
  body: (filled: Filled) => unknown
}

const withReason = ({ reason }: Filled): unknown => (reason === '' ? null : { reason })

const actions: readonly Action[] = [
  {
    name: 'revoke',
    label: 'Revoke',
    operation: revokeLicense,
    ofDevice: false,
    fits: ({ revokedAt }) => revokedAt === null,
    body: withReason,
  },
  {
    name: 'reinstate',
    label: 'Reinstate',
    operation: reinstateLicense,
    ofDevice: false,
    fits: ({ revokedAt, takenBackAt, refundedAt }) =>
      revokedAt !== null && takenBackAt === null && refundedAt === null,
    body: withReason,
  },
  {
    name: 'take-back-import',
    label: 'Take back import',
    operation: takeBackImport,
    ofDevice: false,
    fits: ({ source, takenBackAt, revokedAt }) =>
      source === 'import' && takenBackAt === null && revokedAt === null,
    body: withReason,
  },
  {
    name: 'reseat',
    label: 'Reseat device',
    operation: reseatDevice,
    ofDevice: true,
    fits: ({ revokedAt }, device) => revokedAt === null && device?.status === 'deactivated',
    body: ({ device }) => ({ deviceId: device }),
  },
]

/** The actions that a role may request for a license in its state, and for the selected device. */
export const actionsFor = (
  role: HeldRole,
  license: IssuedLicense,
  device: Pick<Seat, 'status'> | undefined,
): readonly Action[] =>
  may(role, 'ask_for_changes') ? actions.filter(({ fits }) => fits(license, device)) : []

const ask = pageRoute({ page: 'ask_for_changes' })

const device = z.string().max(256).optional().default('')
const RequestForm = z.object({ reason: line(500).optional().default(''), device })
const DeviceQuery = z.object({ device: device.catch('') })

const requestPage = pageRoute({ page: 'ask_for_changes', auditedView: 'license', query: DeviceQuery })

type ActionRequest = FastifyRequest<{ Params: { id: string; action: string } }>

/**
 * Requests an action on a license. Nothing is executed yet: as with the API, the request is pending until a member
 * who may approve has read its effect and has proved who they are.
 */
export function licenseActions(app: FastifyInstance, { ports, show }: PageContext): void {
  const found = async (request: ActionRequest) => {
    const { id, action: name } = request.params
    const entry = isId('lic', id) ? await findLicense(ports.db, principalOf(request).tenantId, id) : undefined
    const action = actions.find((one) => one.name === name)
    if (!entry || !action) throw notFound('license')
    return { license: entry.license, action }
  }
  const page = async (request: ActionRequest, reply: FastifyReply, deviceId: string, problem?: string) => {
    const { license, action } = await found(request)
    return show(
      reply,
      {
        title: action.operation.title,
        nav: 'licenses',
        content: ({ token }) => actionView({ token, license, action, deviceId, problem }),
      },
      problem === undefined ? 200 : 409,
    )
  }
  app.get('/licenses/:id/do/:action', requestPage, (request: ActionRequest, reply) =>
    page(request, reply, DeviceQuery.parse(request.query).device),
  )

  app.post('/licenses/:id/do/:action', ask, async (request: ActionRequest, reply) => {
    const { license, action } = await found(request)
    const filled = formOf(RequestForm, request)
    const input = { parameters: { id: license.licenseId }, query: {}, body: action.body(filled) }
    try {
      return reply.redirect(
        `/dashboard/approvals/${await askApproval(ports, request, action.operation, input)}`,
        303,
      )
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return page(request, reply, filled.device, `${problemOfRefusal(error.code).message}.`)
    }
  })
}
