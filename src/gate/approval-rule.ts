import { listMembers } from '../../projections/members.ts'
import { emailOf } from '../commands/members/members.ts'
import { loadTenant } from '../commands/tenants.ts'
import { type ApprovalRule, mayApprove } from '../domain/confirmations/confirmation.ts'
import { may } from '../domain/members/roles.ts'
import { tokenStream } from '../domain/streams.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Ports } from '../ports.ts'
import { isMember } from './request.ts'

type TokenOfTenant = { tenantId: string; tokenId: string }

/**
 * The rule for approving a request, read from the log. Decisions by it and changes of it take the same lock,
 * so that it still holds when the approval is appended.
 */
export async function approvalRuleFor(
  ports: Ports<'ledger'>,
  { tenantId, tokenId }: TokenOfTenant,
): Promise<ApprovalRule> {
  const [tenant, requestedBy] = await Promise.all([loadTenant(ports, tenantId), memberBehind(ports, tokenId)])
  return { anotherMember: tenant.status !== 'absent' && tenant.anotherMemberApproves, requestedBy }
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
  rule: ApprovalRule,
): Promise<{ memberId: string; email: string | null }[]> {
  const members = await listMembers(ports.db, tenantId)
  const able = members.filter(
    ({ memberId, role }) => may(role, 'decide_confirmations') && mayApprove(rule, `member:${memberId}`),
  )
  return Promise.all(
    able.map(async (member) => ({ memberId: member.memberId, email: await emailOf(ports, member) })),
  )
}
