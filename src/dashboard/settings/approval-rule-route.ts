import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findTenant } from '../../../projections/tenants/queries.ts'
import { changeApprovalRule } from '../../commands/tenants.ts'
import { membersWhoMayApprove } from '../../gate/approval-rule.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { freshFormMs, freshMs, originOfMember, principalOf } from '../session/principal.ts'
import { approvalRuleView } from './approval-rule-view.ts'

const manage = pageRoute({ page: 'manage_settings', freshMs })
const manageForm = pageRoute({ page: 'manage_settings', freshMs: freshFormMs })

const Form = z.object({ rule: z.enum(['anyone', 'another']) })

const path = '/settings/approvals'

/** Where owners choose whether a member other than the requester has to approve. */
export function approvalRulePages(app: FastifyInstance, { services, show }: PageContext): void {
  app.get(path, manage, async (request: FastifyRequest, reply: FastifyReply) => {
    const { tenantId } = principalOf(request)
    const tenant = await findTenant(services.db, tenantId)
    const everybody = { anotherMember: false, askedBy: null }
    const able = await membersWhoMayApprove(services, tenantId, everybody)
    return show(reply, {
      title: 'Approvals',
      nav: 'settings',
      content: ({ token }) =>
        approvalRuleView({
          token,
          anotherMember: tenant?.anotherMemberApproves ?? false,
          able: able.length,
        }),
    })
  })

  app.post(path, manageForm, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { rule } = formOf(Form, request)
    await changeApprovalRule(services, tenantId, rule === 'another', originOfMember(request))
    request.session.notice = {
      kind: 'done',
      text:
        rule === 'another'
          ? 'Requests must now be approved by a member other than the requester.'
          : 'Owners and approvers can now approve their own requests.',
    }
    return reply.redirect('/dashboard/settings', 303)
  })
}
