import { type Amount, amountText } from './amount.ts'
import type { MeterEvent } from './events.ts'
import { type Allowance, freeIn, remainingOf, usedIn } from './free.ts'
import type { Meter } from './meter.ts'
import type { Period } from './period.ts'
import { totalOf } from './shares.ts'

/*
 * How much of what a period has is used, in percent, rounded down:
 *
 *     100 × used ÷ (used − beyond + remaining)
 *
 * `used` is all that was used in the period, and `beyond` the part of it that nothing was left for. `remaining` is what is left of what
 * rolled over, of what is included and of the credits; what is held counts as left. So what is beyond comes on top:
 *
 *     included   credits left   used   beyond   percent
 *     10         0              8      0        80
 *     10         0              25     15       250
 *     10         10             8      0        40
 *     0          500            0      0        0         a prepaid pack
 *     0          100            400    0        80        and later
 *     0          0              3      3        none: there is no full amount
 */

/** The greatest percentage that is announced. */
const greatest = 1_000_000_000n

type Standing = { percent: number; used: Amount; remaining: Amount; overage: Amount }

/** @returns undefined where the period has nothing of which there could be a share */
function standingOf(meter: Meter, period: Period, allowance: Allowance, at: string): Standing | undefined {
  const shares = usedIn(meter, period.startsAt)
  const [used, { overage }] = [totalOf(shares), shares]
  const remaining = remainingOf(freeIn({ ...meter, holds: new Map() }, period, allowance, at))
  const has = used - overage + remaining
  if (has === 0n) return undefined
  const percent = (100n * used) / has
  return { percent: Number(percent > greatest ? greatest : percent), used, remaining, overage }
}

/**
 * The thresholds of the key type that a period has reached and that were not announced before; with the overage `notify`, also the
 * last full amount of 200 % and more: a use that passes several of those announces the last of them.
 */
export function newlyReached(
  meter: Meter,
  { startsAt, endsAt }: Period,
  allowance: Allowance,
  at: string,
): MeterEvent[] {
  const { thresholds, overage } = allowance.terms
  const before = meter.periods.find((each) => each.startsAt === startsAt)
  if (!before || (thresholds.length === 0 && overage !== 'notify')) return []
  const period = { startsAt, endsAt }
  const standing = standingOf(meter, period, allowance, at)
  if (!standing) return []
  const { percent } = standing
  const full = percent - (percent % 100)
  const last = Math.max(before.reachedFurther, ...before.reached)
  const isFurther = overage === 'notify' && full >= 200 && full > last && !thresholds.includes(full)
  const counts = {
    used: amountText(standing.used),
    remaining: amountText(standing.remaining),
    overage: amountText(standing.overage),
    ...(before.lastToUse !== undefined && { licenseId: before.lastToUse }),
  }
  const reached = thresholds
    .filter((each) => each <= percent && !before.reached.includes(each))
    .toSorted((one, other) => one - other)
  return [
    ...reached.map((each) => ({ percent: each })),
    ...(isFurther ? [{ percent: full, further: true as const }] : []),
  ].map((each) => ({ type: 'ThresholdReached', data: { ...each, ...counts, period, at } }))
}

/** What was announced is announced again once a credit, a correction or a change of the key type has brought the share below it. */
export function rearmed(
  meter: Meter,
  { startsAt, endsAt }: Period,
  allowance: Allowance,
  at: string,
): MeterEvent[] {
  const before = meter.periods.find((each) => each.startsAt === startsAt)
  const last = before ? Math.max(before.reachedFurther, ...before.reached) : 0
  if (last === 0) return []
  const period = { startsAt, endsAt }
  const percent = standingOf(meter, period, allowance, at)?.percent ?? 0
  return percent < last ? [{ type: 'ThresholdsRearmed', data: { percent, period, at } }] : []
}
