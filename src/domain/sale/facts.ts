import { sameJson } from '../equality.ts'
import type { SaleFact } from './events.ts'

type Refund = { refundId: string; amount: number; currency: string; full: boolean }
type Renewal = { paymentId: string; paidUntil: string; amount: number; currency: string }
type Dispute = {
  disputeId: string
  outcome: 'open' | 'lost' | 'won'
  amount: number | null
  currency: string | null
}
type End = { paidUntil: string | null; occurredAt: string }

/**
 * What has become of a sale, however often and in whatever order it was told: each fact is merged with what is known
 * of the same refund, dispute or payment, and of two contradicting ones always the same wins.
 *
 * | of the same | wins |
 * |---|---|
 * | refund | the larger amount; full, if it was ever full |
 * | renewal | the later end |
 * | dispute | won, before lost, before open |
 */
export type Facts = {
  refunds: readonly Refund[]
  renewals: readonly Renewal[]
  disputes: readonly Dispute[]
  ends: readonly End[]
}

export const noFacts: Facts = { refunds: [], renewals: [], disputes: [], ends: [] }

export function withFact(facts: Facts, fact: SaleFact): Facts {
  switch (fact.type) {
    case 'SaleRefunded': {
      const { refundId, amount, currency, full } = fact.data
      const told = { refundId, amount, currency, full }
      const refunds = merged(facts.refunds, told, 'refundId', (before) => ({
        ...larger(before, told),
        full: before.full || told.full,
      }))
      return { ...facts, refunds }
    }
    case 'SaleRenewed': {
      const { paymentId, paidUntil, amount, currency } = fact.data
      const told = { paymentId, paidUntil, amount, currency }
      const renewals = merged(facts.renewals, told, 'paymentId', (before) =>
        greater(before, told, ({ paidUntil, ...rest }) => [paidUntil, rest.amount, rest.currency]),
      )
      return { ...facts, renewals }
    }
    case 'SaleEnded': {
      const { paidUntil, occurredAt } = fact.data
      const end = { paidUntil, occurredAt }
      const others = facts.ends.filter((known) => !sameJson(known, end))
      return { ...facts, ends: [...others, end].sort((a, b) => compare(endOrder(a), endOrder(b))) }
    }
    default: {
      const { disputeId, amount, currency } = fact.data
      const told: Dispute = { disputeId, outcome: outcomes[fact.type], amount, currency }
      const disputes = merged(facts.disputes, told, 'disputeId', (before) => ({
        ...larger(before, told),
        outcome: rank[before.outcome] >= rank[told.outcome] ? before.outcome : told.outcome,
      }))
      return { ...facts, disputes }
    }
  }
}

const outcomes = { SaleDisputed: 'open', DisputeLost: 'lost', DisputeWon: 'won' } as const
const rank = { open: 0, lost: 1, won: 2 } as const

const endOrder = ({ occurredAt, paidUntil }: End): Order => [occurredAt, paidUntil]

type Order = readonly (string | number | null)[]

/** Below zero when the first comes before the other; null comes before everything. */
function compare(one: Order, other: Order): number {
  const index = one.findIndex((value, place) => value !== other[place])
  if (index < 0) return 0
  const [left, right] = [one[index] ?? null, other[index] ?? null]
  if (left === null || right === null) return left === null ? -1 : 1
  return left < right ? -1 : 1
}

const greater = <T>(one: T, other: T, order: (value: T) => Order): T =>
  compare(order(one), order(other)) >= 0 ? one : other

/** By the amount; the currency only decides between equal ones, so that neither is preferred for coming first. */
const larger = <Money extends { amount: number | null; currency: string | null }>(
  one: Money,
  other: Money,
): Money => greater(one, other, ({ amount, currency }) => [amount, currency])

/** With what is told in its place, sorted by id, so that the order of telling leaves no trace. */
function merged<Id extends string, Known extends Record<Id, string>>(
  known: readonly Known[],
  told: Known,
  id: Id,
  merge: (before: Known) => Known,
): readonly Known[] {
  const before = known.find((entry) => entry[id] === told[id])
  const others = known.filter((entry) => entry !== before)
  return [...others, before ? merge(before) : told].sort((a, b) => (a[id] < b[id] ? -1 : 1))
}

/** Whether the fact tells something that is not known. */
export const isNews = (facts: Facts, fact: SaleFact): boolean => !sameJson(withFact(facts, fact), facts)

/** What a license is to be for what has become of its sale. */
export type Standing = {
  /** Why it is to be revoked: the money is not there any more. */
  refund: { amount: number; currency: string } | null
  /** When it ends; undefined when nothing says so but the license itself. */
  expiresAt: string | null | undefined
}

type Sold = {
  amount: number
  currency: string
  paidUntil: string | null
  /** When the license was to end as it was issued. */
  firstExpiresAt: string | null
}

/** What the facts come to. They are a set: neither their order nor their number matters. */
export function standingOf(sold: Sold, facts: Facts): Standing {
  return { refund: refundOf(sold, facts), expiresAt: expiryOf(sold, facts) }
}

function refundOf({ amount, currency }: Sold, { refunds, disputes }: Facts): Standing['refund'] {
  const full = refunds.find((refund) => refund.full)
  if (full) return { amount: full.amount, currency: full.currency }
  const lost = disputes.find(({ outcome }) => outcome === 'lost')
  if (!lost) return null
  return { amount: lost.amount ?? amount, currency: lost.currency ?? currency }
}

function expiryOf({ paidUntil, firstExpiresAt }: Sold, { renewals, ends }: Facts): Standing['expiresAt'] {
  const paid = latest([paidUntil, ...[...renewals, ...ends].map((told) => told.paidUntil)])
  const [end] = ends
  if (end) return paid ?? firstExpiresAt ?? end.occurredAt
  if (renewals.length === 0) return undefined
  return firstExpiresAt === null ? null : latest([firstExpiresAt, paid])
}

function latest(moments: readonly (string | null)[]): string | null {
  return moments.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null)
}
