import { listMembers } from '../../projections/members.ts'
import { emailOf } from '../commands/members/members.ts'
import { loadTenant } from '../commands/tenants.ts'
import { type ApprovalRule, mayApprove } from '../domain/confirmations/confirmation.ts'
import { may, type Permission } from '../domain/members/roles.ts'
import { tokenStream } from '../domain/streams.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Ports } from '../ports.ts'
import { findOperation } from './registry.ts'
import { isMember } from './request.ts'

type RequestOfTenant = { tenantId: string; tokenId: string; operation: string }

/** The approval rule of the workspace, and the permission that an approver of the request needs. */
export type RuleOfRequest = ApprovalRule & { permission: Permission }

/**
 * The rule for approving a request, read from the log. Decisions by it and changes of it take the same lock,
 * so that it still holds when the approval is appended.
 */
export async function approvalRuleFor(
  ports: Ports<'ledger'>,
  { tenantId, tokenId, operation }: RequestOfTenant,
): Promise<RuleOfRequest> {
  const [tenant, requestedBy] = await Promise.all([loadTenant(ports, tenantId), memberBehind(ports, tokenId)])
  const anotherMember = tenant.status !== 'absent' && tenant.anotherMemberApproves
  return {
    anotherMember,
    requestedBy,
    permission: findOperation(operation)?.approvedWith ?? 'decide_confirmations',
  }
}

/**
 * The member behind a request: the requester, or the creator of the token by its first event. A token that an
 * operator created on the host belongs to no member.
 */
async function memberBehind({ ledger }: Ports<'ledger'>, requesterId: string): Promise<string | null> {
  if (isMember(requesterId)) return requesterId
  for await (const entry of ledger.readStream(tokenStream(requesterId))) {
    if (!entry.readable) throw new LedgerUnavailable(`the creator of ${requesterId} cannot be read`)
    const { actor } = entry.metadata
    return actor.startsWith('member:') ? actor.slice('member:'.length) : null
  }
  return null
}

/** The members who may approve by their role and the rule, with their addresses; oldest first. */
export async function membersWhoMayApprove(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  { permission, ...rule }: RuleOfRequest,
): Promise<{ memberId: string; email: string | null }[]> {
  const members = await listMembers(ports.db, tenantId)
  const able = members.filter(
    ({ memberId, role }) => may(role, permission) && mayApprove(rule, `member:${memberId}`),
  )
  return Promise.all(
    able.map(async (member) => ({ memberId: member.memberId, email: await emailOf(ports, member) })),
  )
}
