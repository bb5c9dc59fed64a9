import { z } from 'zod'
import { changeApprovalRule, loadTenant } from '../../commands/tenants.ts'
import { gatedOperation } from '../operation.ts'

/**
 * Ends the rule that a member other than the requester approves. The rule is still on when this is approved, so one member
 * cannot switch it off, approve their own request, and switch it on again.
 */
export const loosenApprovals = gatedOperation({
  name: 'approval-rule.loosen',
  title: 'Let members approve their own requests',
  method: 'POST',
  path: '/dashboard/settings/approvals',
  scope: 'danger',
  input: z.object({}),
  async check() {
    // A rule that is off already stays off.
  },
  async describe() {
    return { summary: 'Let owners and approvers approve their own requests', state: {} }
  },
  async run(ports, tenantId, _, { origin }): Promise<{ anotherMember: boolean }> {
    await changeApprovalRule(ports, tenantId, false, origin)
    const tenant = await loadTenant(ports, tenantId)
    return { anotherMember: tenant.status !== 'absent' && tenant.anotherMemberApproves }
  },
})
