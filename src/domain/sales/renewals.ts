import type { Facts } from './facts.ts'
import type { FailedRenewal } from './failures.ts'
import { compare } from './order.ts'
import { type FirstPayment, paymentsOf } from './payments.ts'

/**
 * When a sale was paid for again, oldest first: the payments after the first that were not returned. One for a period that an
 * earlier payment covers is none of them, such as the difference for a larger plan.
 */
export function renewalsOf(sold: FirstPayment, facts: Facts): string[] {
  const payments = paymentsOf(sold, facts).toSorted(
    (a, b) =>
      Number(b.isFirst) - Number(a.isFirst) ||
      compare([a.paidAt, a.paidUntil, a.id], [b.paidAt, b.paidUntil, b.id]),
  )
  const renewals: string[] = []
  let coveredUntil: string | null = null
  for (const { isFirst, paidAt, paidUntil, reversal } of payments) {
    const isCovered: boolean = paidUntil !== null && coveredUntil !== null && paidUntil <= coveredUntil
    if (isCovered || (reversal !== null && !isFirst)) continue
    if (!isFirst) renewals.push(paidAt)
    coveredUntil = paidUntil ?? coveredUntil
  }
  return renewals
}

/** The failed renewals that are still to be paid: none of a subscription that has ended. */
export function unpaidRenewals(sold: FirstPayment, facts: Facts): readonly FailedRenewal[] {
  if (facts.failures.length === 0 || facts.ends.length > 0) return []
  const payments = paymentsOf(sold, facts)
  return facts.failures.filter(
    ({ paymentId, periodEnd, failedAt }) =>
      !payments.some(
        ({ id, paidAt, paidUntil }) =>
          id === paymentId ||
          (periodEnd === null ? paidAt > failedAt : paidUntil !== null && paidUntil >= periodEnd),
      ),
  )
}
