import type { SaleFact } from './notifications.ts'
import { earlier, greater, latest, merged } from './order.ts'

type Failed = Extract<SaleFact, { type: 'RenewalFailed' }>['data']

/** A payment for a renewal that failed: all that was reported of its attempts. */
export type FailedRenewal = Pick<Failed, 'paymentId' | 'periodEnd' | 'attempt' | 'nextAttemptAt'> & {
  /** The provider's time of the earliest report. */
  failedAt: string
}

/** Adds what was reported; of several attempts the last one says when the next one is. */
export function withFailure(known: readonly FailedRenewal[], data: Failed): readonly FailedRenewal[] {
  const { paymentId, periodEnd, attempt, nextAttemptAt, occurredAt: failedAt } = data
  const reported = { paymentId, periodEnd, attempt, nextAttemptAt, failedAt }
  return merged(known, reported, 'paymentId', (before) => ({
    ...greater(before, reported, (one) => [one.attempt, one.nextAttemptAt]),
    periodEnd: latest([before.periodEnd, periodEnd]),
    failedAt: earlier(before.failedAt, failedAt),
  }))
}

/** By payment, the number of the fact by which its failure became known. */
export type FailedSince = Readonly<Record<string, number>>

export const withFailedSince = (known: FailedSince, fact: SaleFact, number: number): FailedSince =>
  fact.type === 'RenewalFailed' ? { [fact.data.paymentId]: number, ...known } : known
