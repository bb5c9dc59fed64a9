import type { SaleFact } from './notifications.ts'
import { compare, earlier, larger, merged, nameOf } from './order.ts'

type Disputed = Extract<SaleFact, { type: 'SaleDisputed' | 'DisputeWon' | 'DisputeLost' }>
type Outcome = 'open' | 'lost' | 'won'

/** What was reported of a dispute. `at` is the provider's time, at Gumroad that of the arrival. */
type Report = { outcome: Outcome; caseId: string | null; at: string }

/** All that was reported of the disputes of one payment under one id. */
export type Dispute = Pick<Disputed['data'], 'disputeId' | 'payment' | 'amount' | 'currency'> & {
  outcome: Outcome
  reports: readonly Report[]
  /** The time of the earliest report. */
  at: string
}

const outcomes = { SaleDisputed: 'open', DisputeLost: 'lost', DisputeWon: 'won' } as const
const rank = { open: 0, lost: 1, won: 2 } as const

/** Adds what was reported; what is known already changes nothing, and neither does the order of the reports. */
export function withDispute(disputes: readonly Dispute[], { type, data }: Disputed): readonly Dispute[] {
  const { disputeId, payment, amount, currency, caseId = null, occurredAt: at } = data
  const report: Report = { outcome: outcomes[type], caseId, at }
  const reported = { disputeId, payment, amount, currency, outcome: report.outcome, reports: [report], at }
  return merged(disputes, reported, 'disputeId', (before) => {
    const reports = withReport(before.reports, report)
    return {
      ...larger(before, reported),
      payment: nameOf(before, reported),
      outcome: outcomeOf(reports),
      reports,
      at: earlier(before.at, at),
    }
  })
}

/**
 * The same outcome of the same case is one report, with its earliest time. Where a provider names no cases, those of one day
 * are one report: a win comes after the loss, and a loss after the opening.
 */
function withReport(reports: readonly Report[], report: Report): readonly Report[] {
  const isSame = ({ outcome, caseId, at }: Report) =>
    caseId === report.caseId &&
    (caseId === null ? at.slice(0, 10) === report.at.slice(0, 10) : outcome === report.outcome)
  const before = reports.find(isSame)
  const others = reports.filter((known) => known !== before)
  const kept = before && compare(weightOf(before), weightOf(report)) < 0 ? before : report
  return [...others, kept].sort((a, b) => compare(orderOf(a), orderOf(b)))
}

const weightOf = ({ outcome, at }: Report) => [-rank[outcome], at] as const
const orderOf = ({ at, outcome, caseId }: Report) => [at, rank[outcome], caseId] as const

/** A payment is lost while it was charged back more often than given back. */
function outcomeOf(reports: readonly Report[]): Outcome {
  const [named, unnamed] = [countNamed(reports), countUnnamed(reports)]
  const [lost, won] = [named.lost + unnamed.lost, named.won + unnamed.won]
  if (lost > won) return 'lost'
  return won > 0 ? 'won' : 'open'
}

/**
 * Paddle gives a chargeback back by marking it, and by another case of its own: the one that it sends more of counts, since
 * each chargeback is given back once.
 */
function countNamed(reports: readonly Report[]): { lost: number; won: number } {
  const idsOf = (wanted: Outcome) =>
    new Set(
      reports.flatMap(({ outcome, caseId, at }) =>
        // An earlier version has recorded the same report without its case.
        outcome === wanted && caseId !== null && !isUnnamedToo(reports, wanted, at) ? [caseId] : [],
      ),
    )
  const [lost, won] = [idsOf('lost'), idsOf('won')]
  const marked = [...won].filter((id) => lost.has(id)).length
  return { lost: lost.size, won: Math.max(marked, won.size - marked) }
}

const isUnnamedToo = (reports: readonly Report[], wanted: Outcome, at: string): boolean =>
  reports.some((other) => other.caseId === null && other.outcome === wanted && other.at === at)

/** No provider repeats a notification for that long, and no bank decides on a second dispute sooner. */
const lateWithinMs = 24 * 60 * 60 * 1000

/**
 * Without cases, the transitions count. A loss that is reported soon after a win is the one that was won, reported late or
 * again; one that is reported later is another.
 */
function countUnnamed(reports: readonly Report[]): { lost: number; won: number } {
  let [lost, won] = [0, 0]
  let wonAt: string | null = null
  for (const { outcome, caseId, at } of reports) {
    if (caseId !== null || outcome === 'open') continue
    const isLost = lost > won
    if (outcome === 'won') {
      if (!isLost && wonAt === null) lost++
      if (lost > won) won++
      wonAt = at
    } else if (!isLost && (wonAt === null || Date.parse(at) - Date.parse(wonAt) > lateWithinMs)) {
      lost++
    }
  }
  return { lost, won }
}
