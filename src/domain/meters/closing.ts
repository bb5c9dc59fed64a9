import { amountText } from './amount.ts'
import type { MeterEvent } from './events.ts'
import type { Allowance } from './free.ts'
import { hasEnded, type Meter } from './meter.ts'
import { openUntil, type Period, periodAt } from './period.ts'
import { sharesText, totalOf } from './shares.ts'

/** Whether nothing more counts in a period, since it is closed or one that ended later is. */
export function isClosed({ periods, closed }: Meter, { startsAt, endsAt }: Period): boolean {
  // Days and weeks may begin at one moment, and are one period where the key type changed between them.
  if (periods.some((each) => each.startsAt === startsAt && each.isClosed)) return true
  return endsAt === null
    ? closed.endless !== null && startsAt <= closed.endless.startsAt
    : closed.through !== null && endsAt <= closed.through
}

/**
 * The period that counts at a moment. Where that is closed, it is the one that follows: for a process whose clock is late, or that does
 * not know of a renewal yet, and for a key type that counts in the life of the license after it counted by purchases.
 */
export function presentPeriod(meter: Meter, { terms, moments }: Allowance, at: string): Period {
  const period = periodAt(terms.period, at, moments)
  if (!isClosed(meter, period)) return period
  const { through, endless } = meter.closed
  return period.endsAt === null
    ? { startsAt: endless?.endedAt ?? period.startsAt, endsAt: null }
    : periodAt(terms.period, through ?? at, moments)
}

/** From when on a period of the calendar can be closed; null while none was used that is not. */
export function closesAt({ periods, holds }: Meter): string | null {
  const ends = periods.flatMap((period) => {
    const until = period.isClosed ? null : openUntil(period)
    const held = [...holds.values()].filter((hold) => hold.period.startsAt === period.startsAt)
    return until === null ? [] : [[until, ...held.map(({ endsAt }) => endsAt)].toSorted().at(-1) ?? until]
  })
  return ends.toSorted()[0] ?? null
}

/** The start of the first used period that is not closed and has no end of its own: a purchase after it may end it. */
export const endlessSince = ({ periods }: Meter): string | null =>
  periods.find(({ endsAt, isClosed: isAlready }) => endsAt === null && !isAlready)?.startsAt ?? null

/**
 * Closes the periods in which nothing more can count: those of the calendar a week after their end, and those by purchase once the next
 * one has begun; each once the holds in it have ended. The life of a license is never closed.
 * @param allowance undefined where the key type has no such meter any more
 */
export function closed(meter: Meter, allowance: Allowance | undefined, at: string): MeterEvent[] {
  const holds = [...meter.holds.values()].filter((hold) => !hasEnded(hold, at))
  return meter.periods
    .flatMap(({ startsAt, endsAt, used, isClosed: isAlready, lastToUse }) => {
      const period = { startsAt, endsAt }
      const endedAt = endOf(meter, period, allowance, at)
      const isHeld = holds.some((hold) => hold.period.startsAt === startsAt)
      return isAlready || isHeld || endedAt === undefined ? [] : [{ period, endedAt, used, lastToUse }]
    })
    .toSorted((one, other) => (one.endedAt < other.endedAt ? -1 : 1))
    .map(({ used, lastToUse, ...ended }) => ({
      type: 'PeriodClosed',
      data: {
        ...{ ...ended, used: amountText(totalOf(used)), from: sharesText(used) },
        ...(lastToUse !== undefined && { licenseId: lastToUse }),
        at,
      },
    }))
}

/** When a period ended that is over for good; undefined for one that is not. */
function endOf(
  meter: Meter,
  period: Period,
  allowance: Allowance | undefined,
  at: string,
): string | undefined {
  const until = openUntil(period)
  if (until !== null) return at < until ? undefined : (period.endsAt ?? undefined)
  if (allowance?.terms.period !== 'purchase') return undefined
  const next = meter.periods.find((each) => each.endsAt === null && each.startsAt > period.startsAt)
  const { purchasedAt } = allowance.moments
  return next?.startsAt ?? (period.startsAt < purchasedAt ? purchasedAt : undefined)
}
