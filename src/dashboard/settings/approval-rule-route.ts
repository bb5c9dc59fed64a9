import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { changeApprovalRule, changeConfirmationLifetime, loadTenant } from '../../commands/tenants.ts'
import { longestLifetimeSeconds, shortestLifetimeSeconds } from '../../domain/confirmations/events.ts'
import { Refusal } from '../../domain/refusal.ts'
import { membersWhoMayApprove } from '../../gate/approval-rule.ts'
import { loosenApprovals } from '../../gate/operations/loosen-approvals.ts'
import { askApproval } from '../forms/ask-approval.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { approvalRuleView } from './approval-rule-view.ts'

const manage = pageRoute({ page: 'manage_members' })
const manageForm = pageRoute({ page: 'manage_members', proof: 'send' })

const Form = z.object({
  rule: z.enum(['anyone', 'another']),
  lifetime: z.coerce.number().int().min(shortestLifetimeSeconds).max(longestLifetimeSeconds),
})

const path = '/settings/approvals'

/** The rule of an ordinary request, where no other member has to approve it. */
const anyone = { anotherMember: false, requestedBy: null, permission: 'decide_confirmations' } as const

/** Where owners choose whether a member other than the requester has to approve. */
export function approvalRulePages(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get(path, manage, async (request: FastifyRequest, reply: FastifyReply) => {
    const { tenantId } = principalOf(request)
    const tenant = await findTenant(ports.db, tenantId)
    const able = await membersWhoMayApprove(ports, tenantId, anyone)
    return show(reply, {
      title: 'Approvals',
      nav: 'settings',
      content: ({ token }) =>
        approvalRuleView({
          token,
          anotherMember: tenant?.anotherMemberApproves ?? false,
          confirmationSeconds: tenant?.confirmationSeconds ?? shortestLifetimeSeconds,
          able: able.length,
        }),
    })
  })

  app.post(path, manageForm, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { rule, lifetime } = formOf(Form, request)
    const tenant = await loadTenant(ports, tenantId)
    const isOn = tenant.status !== 'absent' && tenant.anotherMemberApproves
    if (rule === 'another' && !isOn) {
      const able = await membersWhoMayApprove(ports, tenantId, anyone)
      if (able.length < 2) throw new Refusal('approval_needs_two')
      await changeApprovalRule(ports, tenantId, true, originOfMember(request))
    }
    await changeConfirmationLifetime(ports, tenantId, lifetime, originOfMember(request))
    if (rule === 'anyone' && isOn) {
      const nothing = { parameters: {}, query: {}, body: null }
      const id = await askApproval(ports, request, loosenApprovals, nothing)
      return reply.redirect(`/dashboard/approvals/${id}`, 303)
    }
    const text =
      rule === 'another'
        ? 'Requests must now be approved by a member other than the requester.'
        : 'Owners and approvers can now approve their own requests.'
    return redirectWith(reply, '/dashboard/settings', text)
  })
}
