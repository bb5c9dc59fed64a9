import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { countPendingConfirmations } from '../../../projections/confirmations.ts'
import { momentOf } from '../../commands/origin.ts'
import { sameDigest } from '../../credentials/sha256.ts'
import { may } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import {
  approve,
  deny,
  listApprovals,
  type ShownApproval,
  showApproval,
  withdraw,
} from '../../gate/approvals.ts'
import { exportLicenses } from '../../gate/operations/export-licenses.ts'
import { hashOf } from '../../gate/request.ts'
import { runApproved, runForMember } from '../../gate/run-approved.ts'
import { actorNames } from '../../history/actors.ts'
import { sendExport } from '../../http/licenses/license-export.ts'
import { Problem } from '../../http/problem.ts'
import { formOf } from '../forms/forms.ts'
import { sentenceOf } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { approvalPart, approvalsPart, approvalsView, approvalView } from './view.ts'

/** Mails, and agents, name the address of an approval. */
const linked = pageRoute({ page: 'see_requests', foreignQuery: 'in links' })
const member = pageRoute({ page: 'see_requests' })
const decide = pageRoute({ page: 'decide_confirmations' })
const countWaiting = pageRoute({ page: 'decide_confirmations', background: true })
/** A download has no time limit. */
const download = pageRoute({ page: 'manage_settings', noRequestTimeout: true })
const decideFresh = pageRoute({ page: 'decide_confirmations', proof: 'send' })

/** `seen` is a hash of what the member has read, so that they approve exactly that. */
const ApproveForm = z.object({ seen: z.string().regex(/^[0-9a-f]{64}$/) })

type OneRequest = FastifyRequest<{ Params: { id: string } }>

const seenHashOf = ({ description, changedSinceRequest, impossible, effect }: ShownApproval): string =>
  hashOf({
    description: description ?? null,
    changedSinceRequest,
    impossible: impossible ?? null,
    effect: effect?.steady ?? null,
  })

export function approvalPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show, showPart } = context
  listPages(app, context)
  const page = async (request: OneRequest, reply: FastifyReply, problem?: string, status = 200) => {
    const principal = principalOf(request)
    const approval = await showApproval(ports, principal.tenantId, request.params.id)
    const { decidedBy, withdrawnBy, approvers } = approval
    const requestedBy = approvers?.requestedBy ? `member:${approvers.requestedBy}` : null
    const nameOf = await actorNames(ports, principal.tenantId, [decidedBy, withdrawnBy, requestedBy])
    const shown = {
      approval,
      seen: seenHashOf(approval),
      mayDecide: may(principal.role, 'decide_confirmations'),
      mayApprove: approvers?.members.some(({ memberId }) => memberId === principal.memberId) ?? false,
      mayDownload: approval.token.id === principal.memberId && may(principal.role, 'manage_settings'),
      decidedBy: decidedBy && nameOf(decidedBy),
      withdrawnBy: withdrawnBy && nameOf(withdrawnBy),
      requestedBy: requestedBy && nameOf(requestedBy),
      problem,
    }
    if (isPart(request)) return showPart(reply, (view) => approvalPart(view, shown))
    return show(
      reply,
      { title: approval.title, nav: 'approvals', content: (view) => approvalView(view, shown) },
      status,
    )
  }

  app.get('/approvals/:id', linked, (request: OneRequest, reply) => page(request, reply))

  /** A refusal is shown on the page, together with the current state. */
  const settle = async (request: OneRequest, reply: FastifyReply, work: () => Promise<string>) => {
    try {
      return redirectWith(reply, `/dashboard/approvals/${request.params.id}`, await work())
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'confirmation_not_found') throw error
      return page(request, reply, sentenceOf(error.code), 409)
    }
  }

  app.post('/approvals/:id/approve', decideFresh, async (request: OneRequest, reply) => {
    const { tenantId } = principalOf(request)
    const { id } = request.params
    const { seen } = formOf(ApproveForm, request)
    const shown = await showApproval(ports, tenantId, id)
    if (!sameDigest(seen, seenHashOf(shown))) {
      return page(request, reply, 'This request has changed since you opened the page. Review it again.', 409)
    }
    const work = async () => {
      await approve(ports, tenantId, id, originOfMember(request))
      const ran = await runApproved(ports, id, originOfMember(request))
      if (ran) return 'Approved and executed.'
      return shown.downloads
        ? 'Approved. The member who requested it can download the file once, within 60 minutes.'
        : 'Approved. It runs once, when the API client repeats the request within 60 minutes.'
    }
    return settle(request, reply, work)
  })

  downloadForm(app, context, page)

  app.post('/approvals/:id/withdraw', decide, async (request: OneRequest, reply) => {
    const { tenantId } = principalOf(request)
    return settle(request, reply, async () => {
      await withdraw(ports, tenantId, request.params.id, originOfMember(request))
      return 'Approval withdrawn. The request will not run.'
    })
  })

  app.post('/approvals/:id/deny', decide, async (request: OneRequest, reply) => {
    const { tenantId } = principalOf(request)
    return settle(request, reply, async () => {
      await deny(ports, tenantId, request.params.id, originOfMember(request))
      return 'Denied. The request will not run.'
    })
  })
}

type ShowProblem = (
  request: OneRequest,
  reply: FastifyReply,
  problem: string,
  status: number,
) => Promise<FastifyReply>

/** Where the member who requested a file downloads it, once. */
function downloadForm(app: FastifyInstance, { ports }: PageContext, page: ShowProblem): void {
  app.post('/approvals/:id/download', download, async (request: OneRequest, reply) => {
    const { tenantId, memberId } = principalOf(request)
    const { id } = request.params
    try {
      const call = { tenantId, memberId, confirmationId: id }
      return sendExport(reply, await runForMember(ports, exportLicenses, call, originOfMember(request)))
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'confirmation_not_found') throw error
      if (error.code === 'confirmation_unknown')
        throw new Problem(403, 'forbidden', 'Only the member who requested this file can download it.')
      return page(request, reply, sentenceOf(error.code), 409)
    }
  })
}

function listPages(app: FastifyInstance, { ports, show, showPart }: PageContext): void {
  app.get('/approvals', member, async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const approvals = await listApprovals(ports, tenantId)
    const mayDecide = may(role, 'decide_confirmations')
    if (isPart(request)) return showPart(reply, (view) => approvalsPart(view, approvals, mayDecide))
    return show(reply, {
      title: 'Approvals',
      nav: 'approvals',
      content: (view) => approvalsView(view, approvals, mayDecide),
    })
  })

  app.get('/approvals/waiting', countWaiting, async (request, reply) => {
    const { tenantId } = principalOf(request)
    return reply.send({ waiting: await countPendingConfirmations(ports.db, tenantId, momentOf(ports)) })
  })
}

/** Whether htmx requests an update of a page that is already open. */
const isPart = ({ headers }: FastifyRequest): boolean =>
  headers['hx-request'] === 'true' && headers['hx-boosted'] === undefined
