import { type Amount, amountOf } from './amount.ts'
import type { Line, LineKind } from './lines.ts'

/** What a line adds to what was used, and when. */
export type CountedUse = {
  /** When it was used, within the period that it counts in. */
  at: string
  used: Amount
  /** How much of it is beyond what was included and prepaid. */
  overage: Amount
}

const signs: Partial<Record<LineKind, 1n | -1n>> = { use: 1n, commit: 1n, correction: -1n }

/**
 * What a line of a bill adds to the use over time; undefined for one that uses nothing. The sum over the days of a calendar period is what was
 * counted in it, so a use has a moment in its period:
 *
 * | a use                                             | counts                        |
 * | ------------------------------------------------- | ----------------------------- |
 * | now                                               | now                           |
 * | reported late, in its own period                  | when it was used              |
 * | reported late, in the present period              | when it was reported          |
 * | by a device whose clock is ahead                  | when it was reported          |
 * | of a hold that was committed in the period after  | in the last moment of its own |
 */
export function countedUse({ kind, amount, from, period, usedAt, late, at }: Line): CountedUse | undefined {
  const sign = signs[kind]
  if (sign === undefined || amount === null) return undefined
  const moment = late || usedAt === null || usedAt > at ? at : usedAt
  return {
    at: withinPeriod(moment, period?.endsAt ?? null),
    used: sign * amountOf(amount),
    overage: sign * amountOf(from?.overage ?? '0'),
  }
}

const withinPeriod = (moment: string, endsAt: string | null): string =>
  endsAt === null || moment < endsAt ? moment : new Date(Date.parse(endsAt) - 1).toISOString()
