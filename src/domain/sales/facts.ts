import { sameJson } from '../equality.ts'
import { type Dispute, withDispute } from './disputes.ts'
import { type FailedRenewal, withFailure } from './failures.ts'
import type { SaleFact, SaleLine, SoldItem } from './notifications.ts'
import { compare, earlier, greater, larger, latest, merged, nameOf } from './order.ts'

type Data<Type extends SaleFact['type']> = Extract<SaleFact, { type: Type }>['data']

/** `at` is the provider's time. */
export type Refund = Pick<
  Data<'SaleRefunded'>,
  'refundId' | 'payment' | 'amount' | 'cumulative' | 'currency' | 'full'
> & { lines: readonly SaleLine[]; at: string }
type Renewal = Pick<Data<'SaleRenewed'>, 'paymentId' | 'paidUntil' | 'amount' | 'currency'> & {
  links: readonly string[]
  paidAt: string
}
type End = { paidUntil: string | null; occurredAt: string; paidInFull: boolean }
/** A plan that the subscription was changed to, and the last time at which it was known to have it. */
type Plan = { sold: SoldItem; at: string }

/**
 * What happened to a sale, independent of how often and in which order notifications arrived. Each fact is
 * merged with what is known of the same refund, dispute, payment or property of the subscription, and of two
 * contradicting facts always the same one wins.
 *
 * | of the same | wins |
 * |---|---|
 * | refund | the larger amount; full, if it was ever full |
 * | renewal | the later end |
 * | failed renewal | the last attempt |
 * | dispute | lost, if there are more losses than wins; won, before open |
 * | names of a payment | all of them |
 * | plan, quantity, pause | the latest, by the provider's time |
 */
export type Facts = {
  refunds: readonly Refund[]
  renewals: readonly Renewal[]
  failures: readonly FailedRenewal[]
  disputes: readonly Dispute[]
  ends: readonly End[]
  /** Each entry holds all known names of one payment. No name is in two entries. */
  names: readonly (readonly string[])[]
  /** The end of the period that the first payment covers, if it was reported after the sale. */
  firstPaidUntil: string | null
  /** Ends of paid periods whose payment is not known. */
  periods: readonly string[]
  /** Every plan that the subscription had, each with the last time it was reported; the latest last. */
  plans: readonly Plan[]
  quantity: { quantity: number; at: string } | null
  /** All items that the subscription has now. */
  items: { items: readonly { sold: SoldItem; quantity: number }[]; at: string } | null
  pause: { paused: boolean; at: string } | null
}

export const noFacts: Facts = {
  refunds: [],
  renewals: [],
  failures: [],
  disputes: [],
  ends: [],
  names: [],
  firstPaidUntil: null,
  periods: [],
  plans: [],
  quantity: null,
  items: null,
  pause: null,
}

/** Among the names of a payment, marks the one by which the sale was made. No link has this form. */
export const firstPayment = 'first'

export function withFact(facts: Facts, fact: SaleFact): Facts {
  switch (fact.type) {
    case 'SaleRefunded':
      return { ...facts, refunds: withRefund(facts.refunds, fact.data) }
    case 'SaleRenewed':
      return { ...facts, renewals: withRenewal(facts.renewals, fact.data) }
    case 'RenewalFailed':
      return { ...facts, failures: withFailure(facts.failures, fact.data) }
    case 'SaleEnded': {
      const { paidUntil, occurredAt, paidInFull = false } = fact.data
      const end = { paidUntil, occurredAt, paidInFull }
      const others = facts.ends.filter((known) => !sameJson(known, end))
      return { ...facts, ends: [...others, end].sort((a, b) => compare(endOrder(a), endOrder(b))) }
    }
    case 'PaymentNamed': {
      const { names, isFirst, paidUntil } = fact.data
      return {
        ...facts,
        names: withNames(facts.names, isFirst ? [firstPayment, ...names] : names),
        firstPaidUntil: isFirst ? latest([facts.firstPaidUntil, paidUntil]) : facts.firstPaidUntil,
      }
    }
    case 'SubscriptionTold':
      return withSubscription(facts, fact.data)
    default:
      return { ...facts, disputes: withDispute(facts.disputes, fact) }
  }
}

/** Whether the fact adds anything to the known ones. */
export const isNew = (facts: Facts, fact: SaleFact): boolean => !sameJson(withFact(facts, fact), facts)

function withRefund(refunds: readonly Refund[], data: Data<'SaleRefunded'>): readonly Refund[] {
  const { refundId, payment, amount, cumulative, currency, full, lines = [], occurredAt: at } = data
  const reported = {
    refundId,
    payment,
    amount,
    cumulative,
    currency,
    full,
    lines: lines.reduce(withLine, []),
    at,
  }
  return merged(refunds, reported, 'refundId', (before) => ({
    ...larger(before, reported),
    payment: nameOf(before, reported),
    cumulative: before.cumulative || reported.cumulative,
    full: before.full || reported.full,
    lines: lines.reduce(withLine, before.lines),
    at: earlier(before.at, reported.at),
  }))
}

const withLine = (lines: readonly SaleLine[], line: SaleLine): readonly SaleLine[] =>
  merged(lines, line, 'lineId', (before) => (before.amount >= line.amount ? before : line))

function withRenewal(renewals: readonly Renewal[], data: Data<'SaleRenewed'>): readonly Renewal[] {
  const { paymentId, links, paidUntil, amount, currency, occurredAt: paidAt } = data
  const reported = { paymentId, links: sorted(links), paidUntil, amount, currency, paidAt }
  return merged(renewals, reported, 'paymentId', (before) => ({
    ...greater(before, reported, ({ paidUntil, ...rest }) => [paidUntil, rest.amount, rest.currency]),
    links: sorted([...before.links, ...reported.links]),
    paidAt: earlier(before.paidAt, reported.paidAt),
  }))
}

/** Merges all entries that share a name with the given one: they are names of the same payment. */
function withNames(
  known: readonly (readonly string[])[],
  reported: readonly string[],
): readonly (readonly string[])[] {
  const same = known.filter((names) => names.some((name) => reported.includes(name)))
  const others = known.filter((names) => !same.includes(names))
  return [...others, sorted([...reported, ...same.flat()])].sort(compare)
}

function withSubscription(facts: Facts, data: Data<'SubscriptionTold'>): Facts {
  const { sold, quantity, items, paused, paidUntil, occurredAt: at } = data
  return {
    ...facts,
    plans: sold === null ? facts.plans : withPlan(facts.plans, { sold, at }),
    quantity: newer(facts.quantity, quantity === null ? null : { quantity, at }, (reported) => [
      reported.at,
      reported.quantity,
    ]),
    items: newer(facts.items, items ? { items, at } : null, (reported) => [
      reported.at,
      JSON.stringify(reported.items),
    ]),
    pause: newer(facts.pause, paused === null ? null : { paused, at }, (reported) => [
      reported.at,
      reported.paused,
    ]),
    periods: paidUntil === null ? facts.periods : sorted([...facts.periods, paidUntil]),
  }
}

function withPlan(plans: readonly Plan[], reported: Plan): readonly Plan[] {
  const before = plans.find(({ sold }) => sameJson(sold, reported.sold))
  const others = plans.filter((plan) => plan !== before)
  const plan = before && before.at > reported.at ? before : reported
  return [...others, plan].sort((a, b) => compare(planOrder(a), planOrder(b)))
}

/**
 * Providers' times are whole seconds. Of two plans of the same second always the same one wins, so that the
 * order of arrival does not matter.
 */
const planOrder = ({ at, sold }: Plan) =>
  [at, 'productId' in sold ? `${sold.productId} ${sold.keyTypeId}` : sold.providerProduct] as const

const endOrder = ({ occurredAt, paidUntil, paidInFull }: End) => [occurredAt, paidUntil, paidInFull] as const

function newer<T>(
  one: T | null,
  other: T | null,
  order: (value: T) => readonly (string | number | boolean)[],
): T | null {
  if (one === null || other === null) return one ?? other
  return greater(one, other, order)
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()
