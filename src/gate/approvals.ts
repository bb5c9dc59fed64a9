import {
  type ConfirmationEntry,
  findConfirmation,
  listPendingConfirmations,
} from '../../projections/confirmations.ts'
import { findCurrentAndFormerMembers, findMembers } from '../../projections/members.ts'
import { changeConfirmation } from '../commands/confirmations.ts'
import { withTenantLock } from '../commands/cross-stream/tenant-lock.ts'
import { emailOf } from '../commands/members/members.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { isId } from '../credentials/id.ts'
import {
  type ConfirmationStatus,
  confirmationStatusAt,
  type RequestedConfirmation,
  secondsLeft,
  secondsToUse,
} from '../domain/confirmations/confirmation.ts'
import { may, type Permission } from '../domain/members/roles.ts'
import { plainText } from '../domain/plain-text.ts'
import { Refusal, type RefusalCode } from '../domain/refusal.ts'
import type { Ports } from '../ports.ts'
import { approvalRuleFor, membersWhoMayApprove } from './approval-rule.ts'
import { effectFor, type ShownEffect } from './effects/shown.ts'
import type { Description } from './operation.ts'
import type { ApprovalPorts, RequestPorts } from './ports.ts'
import { findOperation } from './registry.ts'
import { destroyRequest, hashOf, isMember, openRequest } from './request.ts'

/** Everything that is shown to a person before a decision. */
export type Approval = {
  id: string
  tenantId: string
  status: ConfirmationStatus
  /** The kind of operation, in plain words. */
  title: string
  /** What is requested; undefined once the request is destroyed because it is over. */
  description: Pick<Description, 'summary' | 'details' | 'target'> | undefined
  /** Whether the subject of the operation has changed since the request. */
  changedSinceRequest: boolean
  /** Why it could not run now, whether or not it is approved. */
  impossible: RefusalCode | undefined
  method: string
  path: string
  parameters: Record<string, string>
  /** The requester: an API client with its token, or a member. */
  token: { id: string; name: string | null }
  byMember: boolean
  /** A member requested a file: they download it once, after the approval. */
  downloads: boolean
  /** The address is null where none is recorded, and once the person behind the request was erased. */
  client: { address: string | null; userAgent: string | null }
  requestedAt: string
  expiresAt: string
  expiresInSeconds: number
  /** How long an approval can still be used. */
  usableForSeconds: number
  decidedBy: string | null
  decidedAt: string | null
  withdrawnBy: string | null
  withdrawnAt: string | null
  consumedAt: string | null
  executedAt: string | null
  outcome: RequestedConfirmation['outcome']
  reason: string | null
}

/**
 * The pending confirmations, the one that expires first at the top.
 * @param tenantId null for an operator on the host, who may see all tenants; the same in the other functions
 *   here
 */
export async function listApprovals(ports: RequestPorts, tenantId: string | null): Promise<Approval[]> {
  const entries = await listPendingConfirmations(ports.db, tenantId, momentOf(ports))
  return Promise.all(entries.map((entry) => approvalOf(ports, entry)))
}

/** One approval for its page, with details that take longer to read. */
export type ShownApproval = Approval & {
  /** What would change now; undefined once the request is destroyed because it is over. */
  effect: ShownEffect | undefined
  /** Who may approve it; undefined once it is decided. */
  approvers: Approvers | undefined
}

export type Approvers = {
  /** The tenant requires that a member other than the requester approves. */
  anotherMember: boolean
  /** The member who made the request, directly or with a token that they created. */
  requestedBy: string | null
  /** The permission that an approver needs. */
  permission: Permission
  members: { memberId: string; email: string | null }[]
}

/** @throws Refusal `confirmation_not_found` */
export async function showApproval(
  ports: ApprovalPorts,
  tenantId: string | null,
  id: string,
): Promise<ShownApproval> {
  const entry = await requireConfirmation(ports, tenantId, id)
  const approval = await approvalOf(ports, entry)
  const waits = approval.status === 'pending'
  const effect = await effectFor(ports, entry.confirmation, approval.status)
  return {
    ...approval,
    impossible: approval.impossible ?? effect?.refusal ?? undefined,
    effect,
    approvers: waits ? await approversOf(ports, entry.confirmation) : undefined,
  }
}

async function approversOf(
  ports: Ports<'db' | 'ledger' | 'subjects'>,
  confirmation: RequestedConfirmation,
): Promise<Approvers> {
  const rule = await approvalRuleFor(ports, confirmation)
  return { ...rule, members: await membersWhoMayApprove(ports, confirmation.tenantId, rule) }
}

/**
 * Approves a confirmation. The tenant's rule is in another stream than the approval, so changes of both take
 * the same lock over all processes: the rule still holds when the approval is appended.
 * @param by `member:<id>` or `operator:<name>` as the actor
 * @throws Refusal `confirmation_not_found`, `confirmation_denied`, `confirmation_expired`,
 *   `approval_by_another`, `approval_by_owner`
 */
export async function approve(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  tenantId: string | null,
  id: string,
  by: Origin,
): Promise<void> {
  const { confirmation } = await requireConfirmation(ports, tenantId, id)
  await withTenantLock(ports.db, confirmation.tenantId, 'approvals', async (prove) => {
    const { permission, ...rule } = await approvalRuleFor(ports, confirmation)
    await requirePermission(ports, by.actor, permission)
    await prove()
    const command = { type: 'Approve', by: by.actor, rule, at: momentOf(ports) } as const
    await changeConfirmation(ports, id, command, by)
  })
}

/** The page has checked the ordinary permission. An operator on the host may approve everything. @throws Refusal `approval_by_owner` */
async function requirePermission({ db }: Ports<'db'>, actor: string, permission: Permission): Promise<void> {
  if (permission === 'decide_confirmations' || !actor.startsWith('member:')) return
  const [known] = await findMembers(db, [actor.slice('member:'.length)])
  if (!known || !may(known.member.role, permission)) throw new Refusal('approval_by_owner')
}

/**
 * Withdraws an approval that has not been used. Every member who may decide may do so.
 * @param by `member:<id>` or `operator:<name>` as the actor
 * @throws Refusal `confirmation_not_found`, `confirmation_pending`, `confirmation_expired`,
 *   `confirmation_consumed`
 */
export async function withdraw(
  ports: Ports<'db' | 'execute' | 'now' | 'secrets'>,
  tenantId: string | null,
  id: string,
  by: Origin,
): Promise<void> {
  await requireConfirmation(ports, tenantId, id)
  const command = { type: 'Withdraw', by: by.actor, at: momentOf(ports) } as const
  await destroyRequest(ports, await changeConfirmation(ports, id, command, by))
}

/**
 * @param by `member:<id>` or `operator:<name>` as the actor
 * @throws Refusal `confirmation_not_found`, `confirmation_approved`, `confirmation_expired`, `confirmation_consumed`
 */
export async function deny(
  ports: Ports<'db' | 'execute' | 'now' | 'secrets'>,
  tenantId: string | null,
  id: string,
  by: Origin,
): Promise<void> {
  await requireConfirmation(ports, tenantId, id)
  const command = { type: 'Deny', by: by.actor, at: momentOf(ports) } as const
  await destroyRequest(ports, await changeConfirmation(ports, id, command, by))
}

async function requireConfirmation(
  ports: Ports<'db'>,
  tenantId: string | null,
  id: string,
): Promise<ConfirmationEntry> {
  const entry = isId('cnf', id) ? await findConfirmation(ports.db, tenantId, id) : undefined
  if (!entry) throw new Refusal('confirmation_not_found')
  return entry
}

async function approvalOf(
  ports: RequestPorts,
  { confirmation, tokenName }: ConfirmationEntry,
): Promise<Approval> {
  const now = momentOf(ports)
  const status = confirmationStatusAt(confirmation, now)
  const { confirmationId, tokenId, createdAt, operation, client } = confirmation
  return {
    id: confirmationId,
    tenantId: confirmation.tenantId,
    status,
    title: findOperation(operation)?.title ?? operation,
    ...(over.has(status) ? undescribed : await described(ports, confirmation)),
    method: confirmation.method,
    path: confirmation.path,
    parameters: shownParameters(confirmation.parameters),
    token: { id: tokenId, name: await nameOf(ports, confirmation, tokenName) },
    byMember: isMember(tokenId),
    downloads: isMember(tokenId) && findOperation(operation)?.streams === true,
    client: {
      address: client.address ?? (await openedAddress(ports, confirmation)),
      userAgent: client.userAgent === null ? null : plainText(client.userAgent),
    },
    requestedAt: createdAt,
    expiresAt: confirmation.expiresAt,
    expiresInSeconds: secondsLeft(confirmation, now),
    usableForSeconds: secondsToUse(confirmation, now),
    decidedBy: confirmation.decidedBy,
    decidedAt: confirmation.decidedAt,
    withdrawnBy: confirmation.withdrawnBy,
    withdrawnAt: confirmation.withdrawnAt,
    consumedAt: confirmation.consumedAt,
    executedAt: confirmation.executedAt,
    outcome: confirmation.outcome,
    reason: confirmation.reason,
  }
}

async function openedAddress(
  { subjects }: Ports<'subjects'>,
  { tenantId, client: { from } }: RequestedConfirmation,
): Promise<string | null> {
  const [address = null] = from === null ? [] : await subjects.openAddresses(tenantId, [from])
  return address
}

const shownParameters = (parameters: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, plainText(value)]))

async function nameOf(
  ports: Ports<'db' | 'subjects'>,
  { tenantId, tokenId }: RequestedConfirmation,
  tokenName: string | null,
): Promise<string | null> {
  if (!isMember(tokenId)) return tokenName === null ? null : plainText(tokenName)
  const [member] = await findCurrentAndFormerMembers(ports.db, tenantId, [tokenId])
  return member ? emailOf(ports, member) : null
}

type Described = Pick<Approval, 'description' | 'changedSinceRequest' | 'impossible'>

const over: ReadonlySet<ConfirmationStatus> = new Set(['denied', 'expired', 'executed'])
const undescribed: Described = { description: undefined, changedSinceRequest: false, impossible: undefined }

/** Describes the operation from the stored request and the present state, never from the caller's words. */
async function described(ports: RequestPorts, confirmation: RequestedConfirmation): Promise<Described> {
  const operation = findOperation(confirmation.operation)
  const request = await openRequest(ports, confirmation)
  if (!operation || !request) return undescribed
  const { tenantId, stateHash } = confirmation
  try {
    const { summary, details, target, state } = await operation.describe(ports, tenantId, request)
    const impossible = await refusalIn(operation.check(ports, tenantId, request))
    return {
      description: {
        summary: plainText(summary),
        ...(details && { details: details.map(([label, value]) => [label, plainText(value)] as const) }),
        ...(target && { target: { host: target.host, url: plainText(target.url) } }),
      },
      changedSinceRequest: hashOf(state) !== stateHash,
      impossible,
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { description: undefined, changedSinceRequest: true, impossible: error.code }
  }
}

async function refusalIn(check: Promise<void>): Promise<RefusalCode | undefined> {
  try {
    await check
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}
