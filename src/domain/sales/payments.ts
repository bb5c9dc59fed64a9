import { type Dispute, type Facts, firstPayment, type Refund } from './facts.ts'
import { compare, latest } from './order.ts'

/** The payment by which a sale was made, and by which names. */
export type FirstPayment = {
  /** What the provider calls this payment and the sale. */
  links: readonly string[]
  amount: number
  currency: string
  /** When it was made. */
  soldAt: string
  paidUntil: string | null
}

/** One payment of a sale, and what became of its money. */
export type Payment = {
  id: string
  isFirst: boolean
  amount: number
  currency: string
  paidAt: string
  /** The end of the period that it pays; null when it is not known. */
  paidUntil: string | null
  /** How much of it was refunded, in all. */
  refunded: number
  /** Why its period is taken back; null while it is paid. */
  takenBack: TakenBack | null
}

type TakenBack = {
  because: 'refund' | 'dispute'
  /** The refund that made it a full one, or what was disputed. */
  amount: number
}

/** What is reported of a whole subscription names none of its payments. */
const namesPayment = (link: string): boolean => !link.startsWith('subscription:')

/** Every payment that is known of a sale, the first one first. */
export function paymentsOf(sold: FirstPayment, facts: Facts): Payment[] {
  const firstNames = allNames(facts, [firstPayment, ...sold.links.filter(namesPayment)])
  const renewals = facts.renewals.map((renewal) => ({
    ...renewal,
    names: allNames(facts, [`renewal:${renewal.paymentId}`, ...renewal.links.filter(namesPayment)]),
  }))
  // Some providers tell the first payment again, among those of the subscription.
  const isFirst = ({ names }: { names: ReadonlySet<string> }) =>
    [...names].some((name) => firstNames.has(name))
  const again = renewals.filter(isFirst).map(({ paidUntil }) => paidUntil)
  const others = renewals.filter((renewal) => !isFirst(renewal))
  const { amount, currency, soldAt: paidAt } = sold
  const reported = latest([sold.paidUntil, facts.firstPaidUntil, ...again])
  const alone = others.length === 0
  return [
    { id: firstPayment, isFirst: true, amount, currency, paidAt, paidUntil: reported, names: firstNames },
    ...others.map(({ paymentId: id, ...renewal }) => ({ ...renewal, id, isFirst: false })),
  ].map(({ names, ...payment }) => {
    const { id, amount, currency, paidAt } = payment
    const paidUntil = payment.paidUntil ?? periodPaidAt(facts, paidAt)
    const fate = fateOf({ ...payment, names, alone }, facts)
    return { id, isFirst: payment.isFirst, amount, currency, paidAt, paidUntil, ...fate }
  })
}

/** With every other name that is known of the same payment. */
function allNames({ names }: Facts, own: readonly string[]): ReadonlySet<string> {
  return new Set([...own, ...names.filter((group) => group.some((name) => own.includes(name))).flat()])
}

/** A payment may be made a little before the period begins that it pays. */
const mostAheadMs = 12 * 60 * 60 * 1000

/** The end of the period that began when it was paid: the first one reported after it, unless another payment came before. */
function periodPaidAt({ periods, renewals }: Facts, paidAt: string): string | null {
  const next = renewals.map((renewal) => renewal.paidAt).filter((other) => other > paidAt)
  const end = periods.find((reported) => reported > ahead(paidAt))
  return end === undefined || next.some((other) => ahead(other) < end) ? null : end
}

const ahead = (moment: string): string => new Date(Date.parse(moment) + mostAheadMs).toISOString()

type Judged = {
  names: ReadonlySet<string>
  isFirst: boolean
  /** Whether no other payment is known. */
  alone: boolean
  amount: number
  currency: string
  paidAt: string
}

function fateOf(payment: Judged, facts: Facts): Pick<Payment, 'refunded' | 'takenBack'> {
  const refunds = facts.refunds.filter((refund) => isOf(refund, payment, refund.full))
  const lost = facts.disputes.filter((dispute) => dispute.outcome === 'lost' && isOf(dispute, payment, true))
  const refunded = sumOf(refunds.filter(({ currency }) => currency === payment.currency))
  const isFull = refunds.some(({ full }) => full) || (payment.amount > 0 && refunded >= payment.amount)
  if (isFull) {
    return { refunded, takenBack: { because: 'refund', amount: lastOf(refunds) || payment.amount } }
  }
  const [dispute] = lost
  if (!dispute) return { refunded, takenBack: null }
  return { refunded, takenBack: { because: 'dispute', amount: dispute.amount ?? payment.amount } }
}

/**
 * Whether the refund or dispute is of this payment. One that was recorded before payments were distinguished took back
 * everything that was paid until then, if it was of a whole payment, and is otherwise of the only payment there is.
 */
function isOf({ payment: name, at }: Refund | Dispute, payment: Judged, isWhole: boolean): boolean {
  if (name !== null) return payment.names.has(name)
  return isWhole ? payment.paidAt <= at || payment.isFirst : payment.isFirst && payment.alone
}

/** Providers tell what was refunded each time, or what was refunded in all: nothing is counted twice. */
function sumOf(refunds: readonly Refund[]): number {
  const inAll = refunds.filter(({ cumulative }) => cumulative).map(({ amount }) => amount)
  const each = refunds.filter(({ cumulative }) => !cumulative).map(({ amount }) => amount)
  return Math.max(
    0,
    ...inAll,
    each.reduce((sum, amount) => sum + amount, 0),
  )
}

/** The amount of the latest refund alone. */
function lastOf(refunds: readonly Refund[]): number {
  const [last, ...before] = refunds.toSorted((a, b) => -compare(orderOf(a), orderOf(b)))
  if (!last) return 0
  if (!last.cumulative) return last.amount
  const until = before.filter(({ cumulative, amount }) => cumulative && amount < last.amount)
  return last.amount - Math.max(0, ...until.map(({ amount }) => amount))
}

const orderOf = ({ at, amount, refundId }: Refund) => [at, amount, refundId] as const
