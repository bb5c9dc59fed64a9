import { type Amount, amountOf, notNegative, sumOf } from './amount.ts'
import { hasEnded, type Meter } from './meter.ts'
import type { LicenseMoments, Period } from './period.ts'
import { noShares, plus, type Shares } from './shares.ts'
import type { MeterTerms } from './terms.ts'

/** How much a period has of each; `overage` undefined for any amount. */
export type Free = Omit<Shares, 'overage'> & { overage: Amount | undefined }

/** What a meter allows, by the license as it is now. */
export type Allowance = { terms: MeterTerms; moments: LicenseMoments }

/** What is free in a period at a moment: neither used nor held. */
export function freeIn(meter: Meter, period: Period, { terms, moments }: Allowance, at: string): Free {
  const { startsAt } = period
  const used = plus(usedIn(meter, startsAt), heldIn(meter, startsAt, at))
  const included = amountOf(terms.included)
  // What the next period has already taken of the rest of this one is gone.
  const next = meter.periods.find((each) => each.startsAt > startsAt)?.startsAt
  const taken = next === undefined ? 0n : plus(usedIn(meter, next), heldIn(meter, next, at)).rolledOver
  return {
    rolledOver: terms.rollover ? restBefore(meter, period, { terms, moments }, at) - used.rolledOver : 0n,
    included: included - used.included - taken,
    credits: creditsLeft(meter, at),
    overage: overageLeft(terms, used.overage),
  }
}

/** All that is free, without what would be beyond it. */
export const remainingOf = ({ rolledOver, included, credits }: Free): Amount =>
  notNegative(rolledOver) + notNegative(included) + sumOf(Array.from(credits.values(), notNegative))

export const usedIn = ({ periods }: Meter, startsAt: string): Shares =>
  periods.find((period) => period.startsAt === startsAt)?.used ?? noShares

function heldIn({ holds }: Meter, startsAt: string, at: string): Shares {
  let held = noShares
  for (const hold of holds.values())
    if (hold.period.startsAt === startsAt && !hasEnded(hold, at)) held = plus(held, hold.from)
  return held
}

/** What the period before this one included and left over. One without any use leaves over all, if the license was there. */
function restBefore(meter: Meter, { startsAt }: Period, { terms, moments }: Allowance, at: string): Amount {
  if (moments.issuedAt >= startsAt) return 0n
  const before = meter.periods.findLast((each) => each.startsAt < startsAt)
  if (before === undefined || (before.endsAt !== null && before.endsAt < startsAt))
    return amountOf(terms.included)
  const used = plus(before.used, heldIn(meter, before.startsAt, at))
  return notNegative(before.included - used.included)
}

/** The credits of all periods, that which ends first before the others; what is held in any period is not free. */
export function creditsLeft(meter: Meter, at: string): Map<string, Amount> {
  const living = [...meter.credits].filter(([, credit]) => !hasEnded(credit, at))
  const ordered = living.toSorted(([oneId, one], [otherId, other]) => {
    const [first, second] = [one.endsAt ?? '~', other.endsAt ?? '~']
    return first === second ? (oneId < otherId ? -1 : 1) : first < second ? -1 : 1
  })
  const held = [...meter.holds.values()].filter((hold) => !hasEnded(hold, at)).map(({ from }) => from.credits)
  return new Map(
    ordered.map(([creditId, { left }]) => [
      creditId,
      left - sumOf(held.map((credits) => credits.get(creditId) ?? 0n)),
    ]),
  )
}

function overageLeft({ overage, overageLimit }: MeterTerms, used: Amount): Amount | undefined {
  if (overage === 'block') return 0n
  return overageLimit === null ? undefined : notNegative(amountOf(overageLimit) - used)
}
