import type { Facts } from './facts.ts'
import { latest } from './order.ts'
import { type FirstPayment, type Payment, paymentsOf } from './payments.ts'

/** A payment whose money is not there any more. */
type RefundedPayment = {
  payment: string
  because: 'refund' | 'dispute'
  /** This refund, or what was lost in the dispute. */
  amount: number
  /** Everything that went back of the sale, in this currency. */
  totalRefunded: number
  currency: string
}

/** What a license is to be for what has become of its sale. */
export type PaymentStatus = {
  /** The payments whose period is taken back. */
  refunded: readonly RefundedPayment[]
  /** Why it is to be revoked: nothing that was paid is left. */
  unpaid: 'refund' | 'dispute' | null
  /** When it ends, null for never; undefined when nothing says so but the license itself. */
  expiresAt: string | null | undefined
  /** Whether a payment after the first one gives it this end. */
  isRenewed: boolean
  /** Whether its subscription has ended. */
  hasEnded: boolean
}

type Sold = FirstPayment & {
  /** When the license was to end as it was issued. */
  firstExpiresAt: string | null
}

/**
 * What the facts come to. They are a set: neither their order nor their number matters.
 * @param keepRefunded whether the periods of payments that were refunded stay with the license
 */
export function paymentStatusOf(sold: Sold, facts: Facts, keepRefunded = false): PaymentStatus {
  const payments = paymentsOf(sold, facts)
  const refunded = refundedOf(payments)
  const unpaid = unpaidBy(payments, facts)
  // A license that is revoked, or kept, ends as if nothing had been refunded.
  const counts = keepRefunded || unpaid !== null
  const isKept = ({ takenBack }: Payment) => counts || takenBack === null
  const ending = endingOf(sold, facts, {
    kept: payments.filter(isKept),
    takenBack: payments.filter((payment) => !isKept(payment)),
    unattributed: unattributedPeriods(payments, facts),
  })
  // A license that is revoked is not renewed, wherever its end moves.
  const isRenewed = ending.isRenewed && (keepRefunded || unpaid === null)
  return { refunded, unpaid, ...ending, isRenewed }
}

function refundedOf(payments: readonly Payment[]): RefundedPayment[] {
  const totalIn = (currency: string): number =>
    payments
      .filter((payment) => payment.currency === currency)
      .reduce((sum, { refunded, takenBack }) => sum + Math.max(refunded, takenBack?.amount ?? 0), 0)
  return payments.flatMap(({ id, currency, takenBack }) =>
    takenBack === null ? [] : [{ payment: id, ...takenBack, totalRefunded: totalIn(currency), currency }],
  )
}

/** What cost nothing cannot be refunded, and pays for nothing once all that was paid went back. */
function unpaidBy(payments: readonly Payment[], facts: Facts): PaymentStatus['unpaid'] {
  const takenBack = payments.flatMap((payment) => payment.takenBack ?? [])
  const isPaid = payments.some((payment) => payment.takenBack === null && payment.amount > 0)
  if (takenBack.length === 0 || isPaid || unattributedPeriods(payments, facts).length > 0) return null
  return takenBack.some(({ because }) => because === 'refund') ? 'refund' : 'dispute'
}

/** Periods of which no payment is known: somebody paid them. */
function unattributedPeriods(payments: readonly Payment[], { periods }: Facts): string[] {
  return periods.filter((end) => !payments.some(({ paidUntil }) => paidUntil === end))
}

type Paid = {
  kept: readonly Payment[]
  takenBack: readonly Payment[]
  unattributed: readonly string[]
}

function endingOf(sold: Sold, facts: Facts, paid: Paid): Omit<PaymentStatus, 'refunded' | 'unpaid'> {
  const expiresAt = expiryOf(sold, facts, paid)
  const isRenewed = expiresAt !== undefined && expiresAt !== null && renewedUntil(paid) === expiresAt
  return { expiresAt, isRenewed, hasEnded: facts.ends.length > 0 }
}

const renewedUntil = ({ kept, unattributed }: Paid): string | null =>
  latest([...kept.filter(({ isFirst }) => !isFirst).map(({ paidUntil }) => paidUntil), ...unattributed])

function expiryOf(sold: Sold, facts: Facts, paid: Paid): PaymentStatus['expiresAt'] {
  if (!saysEnd(facts)) return undefined
  const { firstExpiresAt } = sold
  const isFirstPaid = paid.kept.some(({ isFirst }) => isFirst)
  const reach = latest([...paid.kept.map(({ paidUntil }) => paidUntil), ...paid.unattributed])
  const [end] = facts.ends
  if (end) {
    const reported = facts.ends.map(({ paidUntil }) =>
      isTakenBack(paidUntil, reach, paid) ? null : paidUntil,
    )
    return latest([reach, ...reported]) ?? (isFirstPaid ? firstExpiresAt : null) ?? end.occurredAt
  }
  if (firstExpiresAt !== null) return latest([reach, isFirstPaid ? firstExpiresAt : null]) ?? firstExpiresAt
  return isUnpaidNow(reach, paid) || (facts.pause?.paused ?? false) ? reach : null
}

/** Whether anything tells more of the end than the license itself. */
function saysEnd({ renewals, ends, periods, firstPaidUntil, pause }: Facts): boolean {
  return (
    renewals.length > 0 || ends.length > 0 || periods.length > 0 || firstPaidUntil !== null || pause !== null
  )
}

/** Whether the end that a subscription reported of was paid by a payment that went back. */
const isTakenBack = (end: string | null, reach: string | null, { takenBack }: Paid): boolean =>
  end !== null &&
  (reach === null || end > reach) &&
  takenBack.some(({ paidUntil }) => paidUntil !== null && paidUntil >= end)

/** Of a license without an end of its own: whether the latest period was taken back. */
const isUnpaidNow = (reach: string | null, { takenBack }: Paid): boolean =>
  reach !== null && takenBack.some(({ paidUntil }) => paidUntil !== null && paidUntil > reach)
