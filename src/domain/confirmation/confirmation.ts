import { Refusal, type RefusalCode } from '../refusal.ts'
import type { ConfirmationEvent, GatedRequest, Outcome } from './events.ts'

export type ConfirmationStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'consumed' | 'executed'

export type RequestedConfirmation = GatedRequest & {
  status: ConfirmationStatus
  createdAt: string
  decidedBy: string | null
  decidedAt: string | null
  consumedAt: string | null
  executedAt: string | null
  outcome: Outcome | null
  /** The refusal's code when the outcome is `refused`. */
  reason: string | null
}

export type Confirmation = { status: 'absent' } | RequestedConfirmation

export type ConfirmationCommand =
  | { type: 'RequestConfirmation'; request: GatedRequest; at: string }
  | { type: 'Approve'; by: string; at: string }
  | { type: 'Deny'; by: string; at: string }
  | { type: 'Expire'; at: string }
  | { type: 'Consume'; tokenId: string; requestHash: string; at: string }
  | { type: 'RecordExecution'; outcome: Outcome; reason: string | null; at: string }

/** How long a confirmation can be decided on. */
export const lifetimeSeconds = 600

export const absentConfirmation: Confirmation = { status: 'absent' }

/**
 * The status at a moment: an overdue pending one is expired whether or not that has been recorded. Only deciding
 * is limited in time; an approved one waits for its token until it is used.
 */
export function confirmationStatusAt(
  { status, expiresAt }: Pick<RequestedConfirmation, 'status' | 'expiresAt'>,
  now: string,
): ConfirmationStatus {
  return status === 'pending' && now >= expiresAt ? 'expired' : status
}

/** Whole seconds in which it can still be decided on; 0 as soon as it is settled. */
export function secondsLeft(
  confirmation: Pick<RequestedConfirmation, 'status' | 'expiresAt'>,
  now: string,
): number {
  if (confirmationStatusAt(confirmation, now) !== 'pending') return 0
  return Math.ceil((Date.parse(confirmation.expiresAt) - Date.parse(now)) / 1000)
}

/** What somebody is told for whom the confirmation is not, or no longer, what they need. */
const refusalOf = {
  pending: 'confirmation_pending',
  approved: 'confirmation_approved',
  denied: 'confirmation_denied',
  expired: 'confirmation_expired',
  consumed: 'confirmation_consumed',
  executed: 'confirmation_consumed',
} as const satisfies Record<ConfirmationStatus, RefusalCode>

/**
 * Returning no events means that the request was already true, so a retry is harmless. Consuming alone is never
 * already true: whoever comes second must not run.
 * @throws Refusal `confirmation_exists`, `confirmation_not_found`, `confirmation_unknown`, `confirmation_mismatch`,
 *   `confirmation_pending`, `confirmation_approved`, `confirmation_denied`, `confirmation_expired`,
 *   `confirmation_consumed`
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
      if (status === 'pending') return [{ type: 'ConfirmationApproved', data: { by: command.by, at } }]
      if (status === 'denied' || status === 'expired') throw new Refusal(refusalOf[status])
      return []
    case 'Deny':
      if (status === 'pending') return [{ type: 'ConfirmationDenied', data: { by: command.by, at } }]
      if (status === 'denied') return []
      throw new Refusal(refusalOf[status])
    case 'Expire':
      return status === 'expired' && confirmation.status === 'pending'
        ? [{ type: 'ConfirmationExpired', data: { at } }]
        : []
    case 'Consume':
      if (command.tokenId !== confirmation.tokenId) throw new Refusal('confirmation_unknown')
      if (command.requestHash !== confirmation.requestHash) throw new Refusal('confirmation_mismatch')
      if (status !== 'approved') throw new Refusal(refusalOf[status])
      return [{ type: 'ConfirmationConsumed', data: { at } }]
    case 'RecordExecution': {
      if (status === 'executed') return []
      if (status !== 'consumed') throw new Refusal(refusalOf[status])
      const { outcome, reason } = command
      return [{ type: 'ConfirmationExecuted', data: { outcome, reason, at } }]
    }
  }
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
