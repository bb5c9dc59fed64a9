import { type Amount, amountOf, amountText } from './amount.ts'
import type { Line } from './lines.ts'

/** A line of a bill at its place in the stream of its meter. */
export type PlacedLine = Pick<Line, 'kind' | 'amount' | 'usedAt' | 'at'> & { revision: number }

/** What is reported at once of the uses of a meter. */
export type Report = {
  /** Everything up to it is in this report, and in those before it. */
  revision: number
  /** A decimal number; null where there is nothing to report. */
  value: string | null
  /** What the next report takes along: corrections of what was reported before, and digits that a number has no room for. */
  carried: Amount
  /** When the last of it was used. */
  at: string
}

/** As many significant digits as the card provider takes. https://docs.stripe.com/changelog/dahlia/2026-04-22/billing-meter-event-values-validation */
const digits = 15

/**
 * What of some lines is reported next: those at their beginning that were used in the same hour, so that a report belongs to one period of a
 * bill. What was corrected is taken off, from a later report where this one is too small.
 * @param lines of the meter, in their order; those of one event are all there
 * @returns undefined without lines
 */
export function nextReport(lines: readonly PlacedLine[], carried: Amount): Report | undefined {
  const [first] = lines
  if (!first) return undefined
  const hour = hourOf(first)
  // Lines of one event are reported together: a place is that of an event.
  const end = lines.find((line) => hourOf(line) !== hour && line.revision > first.revision)?.revision
  const own = lines.filter(({ revision }) => end === undefined || revision < end)
  const last = own.at(-1) ?? first
  const sum = own.reduce((total, line) => total + usedBy(line), carried)
  const value = sum > 0n ? rounded(sum) : 0n
  return {
    revision: last.revision,
    value: value > 0n ? amountText(value) : null,
    carried: sum - value,
    at: momentOf(last),
  }
}

const momentOf = ({ usedAt, at }: PlacedLine): string => usedAt ?? at
const hourOf = (line: PlacedLine): string => momentOf(line).slice(0, 'yyyy-mm-ddThh'.length)

function usedBy({ kind, amount }: PlacedLine): Amount {
  if (kind === 'use' || kind === 'commit') return amountOf(amount ?? '0')
  return kind === 'correction' ? -amountOf(amount ?? '0') : 0n
}

/** Without the last digits of an amount that has too many. */
function rounded(amount: Amount): Amount {
  const unit = 10n ** BigInt(Math.max(0, String(amount).length - digits))
  return amount - (amount % unit)
}
