import { type Amount, amountOf, amountText, sumOf } from './amount.ts'
import { presentPeriod } from './closing.ts'
import { type Allowance, freeIn, remainingOf, usedIn } from './free.ts'
import { hasEnded, type Meter, unusedMeter } from './meter.ts'
import { totalOf } from './shares.ts'

/** How a meter stands in the period of a moment, for people and reports. @param of undefined for one that was never used */
export function meterView(of: Meter | undefined, allowance: Allowance, at: string) {
  const meter = of ?? unusedMeter
  const { terms } = allowance
  const period = presentPeriod(meter, allowance, at)
  const used = usedIn(meter, period.startsAt)
  const free = freeIn(meter, period, allowance, at)
  return {
    meter: terms.meter,
    unit: terms.unit,
    period: terms.period,
    included: terms.included,
    rolledOver: amountText(free.rolledOver + used.rolledOver),
    used: amountText(totalOf(used)),
    remaining: amountText(remainingOf(free)),
    overage: amountText(used.overage),
    startsAt: period.startsAt,
    resetsAt: period.endsAt,
    // In the order in which they are spent.
    credits: [...free.credits.keys()].flatMap((creditId) => {
      const credit = meter.credits.get(creditId)
      return credit ? [{ creditId, left: amountText(credit.left), endsAt: credit.endsAt }] : []
    }),
    holds: [...meter.holds]
      .filter(([, hold]) => !hold.device && !hasEnded(hold, at))
      .map(([holdId, { amount, endsAt }]) => ({ holdId, amount: amountText(amount), endsAt })),
    allowances: [...meter.holds].flatMap(([allowanceId, { amount, device, ...hold }]) =>
      device && !hasEnded(hold, at)
        ? [{ allowanceId, ...device, left: amountText(amount), keptUntil: hold.endsAt }]
        : [],
    ),
  }
}

/** What is kept of a meter, for work that is under way and for devices. */
export const keptIn = ({
  holds,
  allowances,
}: Pick<ReturnType<typeof meterView>, 'holds' | 'allowances'>): Amount =>
  sumOf(holds.map(({ amount }) => amountOf(amount))) + sumOf(allowances.map(({ left }) => amountOf(left)))
