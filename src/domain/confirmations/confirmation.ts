import type { Decider } from '../decider.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import type { ConfirmationEvent, GatedRequest, Outcome } from './events.ts'

export type ConfirmationStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'consumed' | 'executed'

export type RequestedConfirmation = GatedRequest & {
  status: ConfirmationStatus
  createdAt: string
  decidedBy: string | null
  decidedAt: string | null
  /** Who withdrew the approval, which denies the confirmation. */
  withdrawnBy: string | null
  withdrawnAt: string | null
  /** The ids of the members who were notified by mail. */
  mailed: readonly string[]
  consumedAt: string | null
  executedAt: string | null
  outcome: Outcome | null
  /** The refusal's code when the outcome is `refused`. */
  reason: string | null
}

export type Confirmation = { status: 'absent' } | RequestedConfirmation

export type ConfirmationCommand =
  | { type: 'RequestConfirmation'; request: GatedRequest; at: string }
  | { type: 'Approve'; by: string; rule: ApprovalRule; at: string }
  | { type: 'Withdraw'; by: string; at: string }
  | { type: 'Deny'; by: string; at: string }
  | { type: 'Expire'; at: string }
  | { type: 'RecordMail'; memberId: string; at: string }
  /** @param refusal why the operation can no longer run; the confirmation is then consumed without a run */
  | { type: 'Consume'; tokenId: string; requestHash: string; refusal?: RefusalCode; at: string }
  | { type: 'RecordExecution'; outcome: Outcome; reason: string | null; at: string }

/** Who may approve, in addition to what a role allows. */
export type ApprovalRule = {
  /** The tenant requires that a member other than the requester approves. */
  anotherMember: boolean
  /** The member who made the request, directly or with a token that they created; null when there is none. */
  requestedBy: string | null
}

/** How long an approval can be used. */
export const approvalLifetimeSeconds = 3600

export const absentConfirmation: Confirmation = { status: 'absent' }

type StatusFields = Pick<RequestedConfirmation, 'status' | 'expiresAt' | 'decidedAt'>

/**
 * When the confirmation expires: a pending one if it is not decided by then, an approved one if it is not
 * used by then. Null when it can no longer expire.
 */
function expiryOf({ status, expiresAt, decidedAt }: StatusFields): string | null {
  if (status === 'pending') return expiresAt
  if (status !== 'approved' || decidedAt === null) return null
  return new Date(Date.parse(decidedAt) + approvalLifetimeSeconds * 1000).toISOString()
}

/**
 * The status at a moment. A confirmation past its expiry is expired, whether or not that has been recorded.
 */
export function confirmationStatusAt(confirmation: StatusFields, now: string): ConfirmationStatus {
  const expiry = expiryOf(confirmation)
  return expiry !== null && now >= expiry ? 'expired' : confirmation.status
}

/** Whole seconds in which it can still be approved or denied; 0 once it is decided. */
export function secondsLeft(confirmation: StatusFields, now: string): number {
  return confirmation.status === 'pending' ? secondsUntil(confirmation.expiresAt, now) : 0
}

/** Whole seconds in which an approval can still be used; 0 for anything else. */
export function secondsToUse(confirmation: StatusFields, now: string): number {
  const expiry = confirmation.status === 'approved' ? expiryOf(confirmation) : null
  return expiry === null ? 0 : secondsUntil(expiry, now)
}

const secondsUntil = (moment: string, now: string): number =>
  Math.max(0, Math.ceil((Date.parse(moment) - Date.parse(now)) / 1000))

/** Whether the rule lets this person approve, given as the actor `member:<id>` or `operator:<name>`. */
export const mayApprove = ({ anotherMember, requestedBy }: ApprovalRule, by: string): boolean =>
  !anotherMember || requestedBy === null || by !== `member:${requestedBy}`

/** The refusal of a command that needs another status. */
export const refusalOf = {
  pending: 'confirmation_pending',
  approved: 'confirmation_approved',
  denied: 'confirmation_denied',
  expired: 'confirmation_expired',
  consumed: 'confirmation_consumed',
  executed: 'confirmation_consumed',
} as const satisfies Record<ConfirmationStatus, RefusalCode>

/**
 * Returning no events means that the request was already true, so a retry is harmless. `Consume` is the
 * exception: the second call is refused, so that the operation does not run twice.
 * @throws Refusal `confirmation_exists`, `confirmation_not_found`, `confirmation_unknown`,
 *   `confirmation_mismatch`, `confirmation_pending`, `confirmation_approved`, `confirmation_denied`,
 *   `confirmation_expired`, `confirmation_consumed`, `approval_by_another`
 */
export function decideConfirmation(
  confirmation: Confirmation,
  command: ConfirmationCommand,
): ConfirmationEvent[] {
  const { at } = command
  if (command.type === 'RequestConfirmation') {
    if (confirmation.status !== 'absent') throw new Refusal('confirmation_exists')
    return [{ type: 'ConfirmationRequested', data: { ...command.request, at } }]
  }
  if (confirmation.status === 'absent') {
    throw new Refusal(command.type === 'Consume' ? 'confirmation_unknown' : 'confirmation_not_found')
  }
  const status = confirmationStatusAt(confirmation, at)
  switch (command.type) {
    case 'Approve':
      if (status === 'denied' || status === 'expired') throw new Refusal(refusalOf[status])
      if (status !== 'pending') return []
      if (!mayApprove(command.rule, command.by)) throw new Refusal('approval_by_another')
      return [{ type: 'ConfirmationApproved', data: { by: command.by, at } }]
    case 'Withdraw':
      if (status === 'approved') return [{ type: 'ConfirmationWithdrawn', data: { by: command.by, at } }]
      if (status === 'denied') return []
      throw new Refusal(refusalOf[status])
    case 'Deny':
      if (status === 'pending') return [{ type: 'ConfirmationDenied', data: { by: command.by, at } }]
      if (status === 'denied') return []
      throw new Refusal(refusalOf[status])
    case 'Expire':
      return status === 'expired' && confirmation.status !== 'expired'
        ? [{ type: 'ConfirmationExpired', data: { at } }]
        : []
    case 'RecordMail': {
      const { memberId } = command
      return confirmation.mailed.includes(memberId)
        ? []
        : [{ type: 'ApproverMailed', data: { memberId, at } }]
    }
    case 'Consume':
      if (command.tokenId !== confirmation.tokenId) throw new Refusal('confirmation_unknown')
      if (command.requestHash !== confirmation.requestHash) throw new Refusal('confirmation_mismatch')
      if (status !== 'approved') throw new Refusal(refusalOf[status])
      return consumed(command.refusal, at)
    case 'RecordExecution': {
      if (status === 'executed') return []
      if (status !== 'consumed') throw new Refusal(refusalOf[status])
      const { outcome, reason } = command
      return [{ type: 'ConfirmationExecuted', data: { outcome, reason, at } }]
    }
  }
}

/**
 * A refusal is recorded in the same append as the use, so a crash between the two cannot leave an operation
 * to run.
 */
function consumed(refusal: RefusalCode | undefined, at: string): ConfirmationEvent[] {
  const use: ConfirmationEvent = { type: 'ConfirmationConsumed', data: { at } }
  if (refusal === undefined) return [use]
  return [use, { type: 'ConfirmationExecuted', data: { outcome: 'refused', reason: refusal, at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveConfirmation(confirmation: Confirmation, event: ConfirmationEvent): Confirmation {
  if (event.type === 'ConfirmationRequested') {
    const { at, ...request } = event.data
    return {
      ...request,
      status: 'pending',
      createdAt: at,
      decidedBy: null,
      decidedAt: null,
      withdrawnBy: null,
      withdrawnAt: null,
      mailed: [],
      consumedAt: null,
      executedAt: null,
      outcome: null,
      reason: null,
    }
  }
  if (confirmation.status === 'absent') return confirmation
  switch (event.type) {
    case 'ConfirmationApproved':
      return { ...confirmation, status: 'approved', decidedBy: event.data.by, decidedAt: event.data.at }
    case 'ConfirmationDenied':
      return { ...confirmation, status: 'denied', decidedBy: event.data.by, decidedAt: event.data.at }
    case 'ConfirmationWithdrawn': {
      const { by, at } = event.data
      return { ...confirmation, status: 'denied', withdrawnBy: by, withdrawnAt: at }
    }
    case 'ApproverMailed':
      return { ...confirmation, mailed: [...confirmation.mailed, event.data.memberId] }
    case 'ConfirmationExpired':
      return { ...confirmation, status: 'expired' }
    case 'ConfirmationConsumed':
      return { ...confirmation, status: 'consumed', consumedAt: event.data.at }
    case 'ConfirmationExecuted': {
      const { outcome, reason, at } = event.data
      return { ...confirmation, status: 'executed', executedAt: at, outcome, reason }
    }
  }
}

/** The rules of confirmation streams. */
export const confirmations: Decider<Confirmation, ConfirmationCommand, 'confirmation'> = {
  category: 'confirmation',
  initial: absentConfirmation,
  decide: decideConfirmation,
  evolve: evolveConfirmation,
}
