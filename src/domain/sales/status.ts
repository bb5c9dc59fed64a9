import type { ProductSettings } from '../products/events.ts'
import type { Facts } from './facts.ts'
import { latest } from './order.ts'
import { type FirstPayment, type Payment, paymentsOf } from './payments.ts'

/** A payment that was refunded or lost in a dispute. */
type RefundedPayment = {
  payment: string
  because: 'refund' | 'dispute'
  /** The amount of this refund, or the amount lost in the dispute. */
  amount: number
  /** The total returned for the sale, in this currency. */
  totalRefunded: number
  currency: string
}

/** What a sale's payments mean for its license. */
export type PaymentStatus = {
  /** The payments whose period no longer counts. */
  refunded: readonly RefundedPayment[]
  /** Why the license should be revoked: no payment is left. */
  unpaid: 'refund' | 'dispute' | null
  /** When it expires, null for never; undefined if only the license itself determines it. */
  expiresAt: string | null | undefined
  /** Whether this expiry follows from a payment after the first one. */
  isRenewed: boolean
  /** Whether its subscription has ended. */
  hasEnded: boolean
}

type Sold = FirstPayment & {
  /** The expiry of the license as it was issued. */
  firstExpiresAt: string | null
  /** Whether its term was to start at its first activation: only the license itself knows its expiry. */
  waits?: true | undefined
}

/** What a product chooses for its sales. */
export type SaleRules = {
  /** Whether the periods of refunded payments stay with the license. */
  keepRefunded: boolean
  onPaidInFull?: ProductSettings['onPaidInFull']
}

const usualRules: SaleRules = { keepRefunded: false }

/** Derives the status from the facts, independent of their order and number. */
export function paymentStatusOf(sold: Sold, facts: Facts, rules: SaleRules = usualRules): PaymentStatus {
  const { keepRefunded } = rules
  const payments = paymentsOf(sold, facts)
  const refunded = refundedOf(payments)
  const unpaid = unpaidBy(payments, facts)
  // The expiry of a license that is revoked, or kept, ignores refunds.
  const counts = keepRefunded || unpaid !== null
  const isKept = ({ reversal }: Payment) => counts || reversal === null
  const paid = {
    kept: payments.filter(isKept),
    reversal: payments.filter((payment) => !isKept(payment)),
    unattributed: unattributedPeriods(payments, facts),
  }
  const ending = isForGood(sold, facts, paid, rules)
    ? { expiresAt: null, isRenewed: false, hasEnded: false }
    : endingOf(sold, facts, paid)
  // A revoked license is not renewed, even if its expiry moves.
  const isRenewed = ending.isRenewed && (keepRefunded || unpaid === null)
  return { refunded, unpaid, ...ending, isRenewed }
}

function refundedOf(payments: readonly Payment[]): RefundedPayment[] {
  const totalIn = (currency: string): number =>
    payments
      .filter((payment) => payment.currency === currency)
      .reduce((sum, { refunded, reversal }) => sum + Math.max(refunded, reversal?.amount ?? 0), 0)
  return payments.flatMap(({ id, currency, reversal }) =>
    reversal === null ? [] : [{ payment: id, ...reversal, totalRefunded: totalIn(currency), currency }],
  )
}

/** A free payment cannot be refunded, and does not count as paid once every other payment was returned. */
function unpaidBy(payments: readonly Payment[], facts: Facts): PaymentStatus['unpaid'] {
  const reversal = payments.flatMap((payment) => payment.reversal ?? [])
  const isPaid = payments.some((payment) => payment.reversal === null && payment.amount > 0)
  if (reversal.length === 0 || isPaid || unattributedPeriods(payments, facts).length > 0) return null
  return reversal.some(({ because }) => because === 'refund') ? 'refund' : 'dispute'
}

/** Periods without a known payment; they count as paid. */
function unattributedPeriods(payments: readonly Payment[], { periods }: Facts): string[] {
  return periods.filter((end) => !payments.some(({ paidUntil }) => paidUntil === end))
}

/** Whether all payments of a fixed number were made, such as installments, and the license stays for that. */
function isForGood(
  { firstExpiresAt, waits }: Sold,
  { ends }: Facts,
  { reversal }: Paid,
  { onPaidInFull = 'by_key_type' }: SaleRules,
): boolean {
  const isKept =
    onPaidInFull === 'by_key_type' ? firstExpiresAt === null && waits === undefined : onPaidInFull === 'keep'
  return isKept && reversal.length === 0 && (ends.at(-1)?.paidInFull ?? false)
}

type Paid = {
  kept: readonly Payment[]
  reversal: readonly Payment[]
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
  if (!statesEnd(facts)) return undefined
  const { firstExpiresAt, waits } = sold
  const isFirstPaid = paid.kept.some(({ isFirst }) => isFirst)
  const coveredUntil = latest([...paid.kept.map(({ paidUntil }) => paidUntil), ...paid.unattributed])
  const [end] = facts.ends
  if (end) {
    const reported = facts.ends.map(({ paidUntil }) =>
      isTakenBack(paidUntil, coveredUntil, paid) ? null : paidUntil,
    )
    const told = latest([coveredUntil, ...reported])
    if (told === null && isFirstPaid && waits !== undefined) return undefined
    return told ?? (isFirstPaid ? firstExpiresAt : null) ?? end.occurredAt
  }
  if (waits !== undefined) return coveredUntil ?? undefined
  if (firstExpiresAt !== null)
    return latest([coveredUntil, isFirstPaid ? firstExpiresAt : null]) ?? firstExpiresAt
  return isUnpaidNow(coveredUntil, paid) || (facts.pause?.paused ?? false) ? coveredUntil : null
}

/** Whether any fact affects the expiry. */
function statesEnd({ renewals, ends, periods, firstPaidUntil, pause }: Facts): boolean {
  return (
    renewals.length > 0 || ends.length > 0 || periods.length > 0 || firstPaidUntil !== null || pause !== null
  )
}

/** Whether the end that the subscription reported was covered by a payment that was returned. */
const isTakenBack = (end: string | null, coveredUntil: string | null, { reversal }: Paid): boolean =>
  end !== null &&
  (coveredUntil === null || end > coveredUntil) &&
  reversal.some(({ paidUntil }) => paidUntil !== null && paidUntil >= end)

/** For a license without an expiry of its own: whether the payment of the latest period was returned. */
const isUnpaidNow = (coveredUntil: string | null, { reversal }: Paid): boolean =>
  coveredUntil !== null && reversal.some(({ paidUntil }) => paidUntil !== null && paidUntil > coveredUntil)
