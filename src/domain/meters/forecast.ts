import { type Amount, notNegative } from './amount.ts'
import { type Allowance, freeIn } from './free.ts'
import { type Meter, unusedMeter } from './meter.ts'
import { periodAt } from './period.ts'

/** What was used lately, by which a forecast is made. */
export type RecentUse = {
  used: Amount
  /** Since when: the first use, or {@link forecastDays} ago if that is later. */
  since: string
}

/** When a meter is used up if its use goes on as lately. */
export type Forecast = {
  /** The mean use of a day. */
  perDay: Amount
  /** When all that is included and prepaid is used up; null when it lasts until the period ends, or for ten years. */
  usedUpAt: string | null
}

/** How many days are the recent ones. A week has each day of the week once. */
export const forecastDays = 7

const dayMs = 86_400_000
const furthestMs = 3650n * BigInt(dayMs)

/**
 * At this rate: the mean use of the last seven days goes on. What is left is spent in the order in which uses take it, and a credit is lost
 * when it ends before its turn is over.
 *
 * | left                          | of the last 7 days | on 1 December                                      |
 * | ----------------------------- | ------------------ | -------------------------------------------------- |
 * | 2,000                         | 700                | used up on 21 December                             |
 * | 4,000, period ends with 31    | 700                | lasts until the period ends                        |
 * | 500, and a credit to the 3rd  | 700                | used up on 6 December: the credit ends before that |
 * | 0                             | 700                | nothing is left to tell of                         |
 * | 2,000                         | 0                  | too little to tell                                 |
 * | 2,000, first used an hour ago | 100                | too little to tell: a day at least is needed       |
 *
 * The mean of the past as the forecast for every later time is the average method of Hyndman and Athanasopoulos, *Forecasting: Principles
 * and Practice*, here over a moving window.
 * @see https://otexts.com/fpp3/simple-methods.html
 * @param recent undefined where nothing was ever used
 * @returns undefined when there is too little to tell
 */
export function forecastOf(
  of: Meter | undefined,
  allowance: Allowance,
  recent: RecentUse | undefined,
  at: string,
): Forecast | undefined {
  const elapsedMs = recent ? Date.parse(at) - Date.parse(recent.since) : 0
  if (!recent || recent.used <= 0n || elapsedMs < dayMs) return undefined
  const meter = of ?? unusedMeter
  const period = periodAt(allowance.terms.period, at, allowance.moments)
  const free = freeIn(meter, period, allowance, at)
  const lasts = (amount: Amount): bigint => (notNegative(amount) * BigInt(elapsedMs)) / recent.used
  let untilMs = lasts(notNegative(free.rolledOver) + notNegative(free.included))
  for (const [creditId, left] of free.credits) {
    const endsAt = meter.credits.get(creditId)?.endsAt ?? null
    const endMs = endsAt === null ? undefined : BigInt(Date.parse(endsAt) - Date.parse(at))
    if (endMs !== undefined && endMs <= untilMs) continue
    untilMs += lasts(left)
    if (endMs !== undefined && endMs < untilMs) untilMs = endMs
  }
  if (untilMs === 0n) return undefined
  const perDay = (recent.used * BigInt(dayMs)) / BigInt(elapsedMs)
  const usedUpAt = untilMs > furthestMs ? null : new Date(Date.parse(at) + Number(untilMs)).toISOString()
  const isInTime = usedUpAt !== null && (period.endsAt === null || usedUpAt < period.endsAt)
  return { perDay, usedUpAt: isInTime ? usedUpAt : null }
}
