import type { Dispute } from './disputes.ts'
import { type Facts, firstPayment, type Refund } from './facts.ts'
import type { SaleLine } from './notifications.ts'
import { compare, latest } from './order.ts'

/** The payment by which a sale was made, with its names. */
export type FirstPayment = {
  /** The provider's ids of this payment and of the sale. */
  links: readonly string[]
  amount: number
  currency: string
  /** When it was made. */
  soldAt: string
  paidUntil: string | null
  /** The line of the item that is asked about; undefined for the whole sale. */
  line?: SaleLine | undefined
}

/** One payment of a sale, and whether it was returned. */
export type Payment = {
  id: string
  isFirst: boolean
  amount: number
  currency: string
  paidAt: string
  /** The end of the period that it covers; null when it is not known. */
  paidUntil: string | null
  /** The total refunded of it. */
  refunded: number
  /** Why the payment no longer counts; null while it does. */
  reversal: Reversal | null
}

type Reversal = {
  because: 'refund' | 'dispute'
  /** The refund that completed a full refund, or the disputed amount. */
  amount: number
}

/** Whether the sale is known to be that of a subscription, which is paid by periods. */
export const isSubscription = ({
  links,
  paidUntil,
}: {
  links: readonly string[]
  paidUntil: string | null
}): boolean => paidUntil !== null || !links.every(namesPayment)

/** A link to a whole subscription does not name one of its payments. */
const namesPayment = (link: string): boolean => !link.startsWith('subscription:')

/** Every known payment of a sale, the first one first. */
export function paymentsOf(sold: FirstPayment, facts: Facts): Payment[] {
  const firstNames = allNames(facts, [firstPayment, ...sold.links.filter(namesPayment)])
  const renewals = facts.renewals.map((renewal) => ({
    ...renewal,
    names: allNames(facts, [`renewal:${renewal.paymentId}`, ...renewal.links.filter(namesPayment)]),
  }))
  // Some providers report the first payment again, among those of the subscription.
  const isFirst = ({ names }: { names: ReadonlySet<string> }) =>
    [...names].some((name) => firstNames.has(name))
  const again = renewals.filter(isFirst).map(({ paidUntil }) => paidUntil)
  const others = renewals.filter((renewal) => !isFirst(renewal))
  const { amount, currency, soldAt: paidAt, line } = sold
  const reported = latest([sold.paidUntil, facts.firstPaidUntil, ...again])
  const alone = others.length === 0
  return [
    { id: firstPayment, isFirst: true, amount, currency, paidAt, paidUntil: reported, names: firstNames },
    ...others.map(({ paymentId: id, ...renewal }) => ({ ...renewal, id, isFirst: false })),
  ].map(({ names, ...payment }) => {
    const { id, amount, currency, paidAt } = payment
    const paidUntil = payment.paidUntil ?? periodPaidAt(facts, paidAt)
    const fate = fateOf({ ...payment, names, alone, line: payment.isFirst ? line : undefined }, facts)
    return { id, isFirst: payment.isFirst, amount, currency, paidAt, paidUntil, ...fate }
  })
}

/** The given names and every other known name of the same payment. */
function allNames({ names }: Facts, own: readonly string[]): ReadonlySet<string> {
  return new Set([...own, ...names.filter((group) => group.some((name) => own.includes(name))).flat()])
}

/** A payment may be made a little before the period that it covers begins. */
const maxAheadMs = 12 * 60 * 60 * 1000

/**
 * The end of the period that began with the payment: the first known end after it, unless another payment
 * came before.
 */
function periodPaidAt({ periods, renewals }: Facts, paidAt: string): string | null {
  const next = renewals.map((renewal) => renewal.paidAt).filter((other) => other > paidAt)
  const end = periods.find((reported) => reported > ahead(paidAt))
  return end === undefined || next.some((other) => ahead(other) < end) ? null : end
}

const ahead = (moment: string): string => new Date(Date.parse(moment) + maxAheadMs).toISOString()

type Judged = {
  names: ReadonlySet<string>
  isFirst: boolean
  /** Whether no other payment is known. */
  alone: boolean
  amount: number
  currency: string
  paidAt: string
  line: SaleLine | undefined
}

function fateOf(payment: Judged, facts: Facts): Pick<Payment, 'refunded' | 'reversal'> {
  const refunds = facts.refunds.filter((refund) => isOf(refund, payment, refund.full))
  const lost = facts.disputes.filter((dispute) => dispute.outcome === 'lost' && isOf(dispute, payment, true))
  const refunded = sumOf(refunds.filter(({ currency }) => currency === payment.currency))
  const isFull = refunds.some(({ full }) => full) || (payment.amount > 0 && refunded >= payment.amount)
  if (isFull) {
    return { refunded, reversal: { because: 'refund', amount: lastOf(refunds) || payment.amount } }
  }
  const { line } = payment
  if (line && line.amount > 0 && refundedOf(line, refunds) >= line.amount) {
    return { refunded, reversal: { because: 'refund', amount: line.amount } }
  }
  const [dispute] = lost
  if (!dispute) return { refunded, reversal: null }
  return { refunded, reversal: { because: 'dispute', amount: dispute.amount ?? payment.amount } }
}

/**
 * Whether the refund or dispute belongs to this payment. One from before payments were distinguished belongs
 * to all earlier payments if it was of a whole payment, and otherwise to the only payment.
 */
function isOf({ payment: name, at }: Refund | Dispute, payment: Judged, isWhole: boolean): boolean {
  if (name !== null) return payment.names.has(name)
  return isWhole ? payment.paidAt <= at || payment.isFirst : payment.isFirst && payment.alone
}

/** Providers report the amount of each refund or the total so far; nothing is counted twice. */
function sumOf(refunds: readonly Refund[]): number {
  const inAll = refunds.filter(({ cumulative }) => cumulative).map(({ amount }) => amount)
  const each = refunds.filter(({ cumulative }) => !cumulative).map(({ amount }) => amount)
  return Math.max(
    0,
    ...inAll,
    each.reduce((sum, amount) => sum + amount, 0),
  )
}

/** How much of a line was refunded. */
const refundedOf = ({ lineId }: SaleLine, refunds: readonly Refund[]): number =>
  refunds
    .flatMap(({ lines }) => lines.filter((line) => line.lineId === lineId))
    .reduce((sum, { amount }) => sum + amount, 0)

/** The amount of the latest refund alone. */
function lastOf(refunds: readonly Refund[]): number {
  const [last, ...before] = refunds.toSorted((a, b) => -compare(orderOf(a), orderOf(b)))
  if (!last) return 0
  if (!last.cumulative) return last.amount
  const until = before.filter(({ cumulative, amount }) => cumulative && amount < last.amount)
  return last.amount - Math.max(0, ...until.map(({ amount }) => amount))
}

const orderOf = ({ at, amount, refundId }: Refund) => [at, amount, refundId] as const
