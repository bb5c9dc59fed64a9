import { type Amount, amountOf } from './amount.ts'
import type { MeterEvent } from './events.ts'
import { openUntil, type Period } from './period.ts'
import { minus, noShares, plus, type Shares, sharesOf } from './shares.ts'

/** A period in which something was counted. */
type UsedPeriod = Period & {
  used: Shares
  /** How much it included when something was last counted in it. */
  included: Amount
}

export type Credit = { left: Amount; endsAt: string | null }

/** An amount that is kept free for one use until its end, and then free for every other. */
export type Hold = { amount: Amount; from: Shares; period: Period; included: Amount; endsAt: string }

/** Whose meter it is, as it was first used. */
export type MeterOwner = {
  tenantId: string
  productId: string
  licenseId: string
  meter: string
  unit: string
}

/** What one license has used under one meter. */
export type Meter = {
  /** null before anything was counted. */
  owner: MeterOwner | null
  /** Those in which uses can still be counted, and the one before the last: what it leaves over rolls on. The oldest first. */
  periods: readonly UsedPeriod[]
  /** By id; those that have ended or are spent are left out. */
  credits: ReadonlyMap<string, Credit>
  /** By id; one that has ended holds nothing, and is left out with the next event. */
  holds: ReadonlyMap<string, Hold>
}

export const unusedMeter: Meter = { owner: null, periods: [], credits: new Map(), holds: new Map() }

/** Never refuses: what is recorded has happened. */
export function evolveMeter(meter: Meter, event: MeterEvent): Meter {
  const kept = withoutEnded(meter, event.data.at)
  switch (event.type) {
    case 'MeterOpened': {
      const { at: _, ...owner } = event.data
      return { ...kept, owner }
    }
    case 'UsesRecorded':
      return event.data.uses.reduce(
        (after, { period, from, included }) => counted(after, period, sharesOf(from), amountOf(included)),
        kept,
      )
    case 'UseCorrected':
      return givenBack(kept, event.data.period, sharesOf(event.data.to))
    case 'HoldPlaced': {
      const { holdId, amount, from, period, included, endsAt } = event.data
      const hold = {
        ...{ amount: amountOf(amount), from: sharesOf(from), period, included: amountOf(included), endsAt },
      }
      return { ...kept, holds: new Map(kept.holds).set(holdId, hold) }
    }
    case 'HoldCommitted': {
      const hold = meter.holds.get(event.data.holdId)
      const without = withoutHold(kept, event.data.holdId)
      return hold ? counted(without, hold.period, sharesOf(event.data.from), hold.included) : without
    }
    case 'HoldReleased':
      return withoutHold(kept, event.data.holdId)
    case 'CreditAdded': {
      const { creditId, amount, endsAt } = event.data
      return { ...kept, credits: new Map(kept.credits).set(creditId, { left: amountOf(amount), endsAt }) }
    }
    case 'CreditWithdrawn': {
      const credits = new Map(kept.credits)
      credits.delete(event.data.creditId)
      return { ...kept, credits }
    }
  }
}

/** An amount is counted in a period; what it takes from credits is gone from them. */
function counted(meter: Meter, { startsAt, endsAt }: Period, from: Shares, included: Amount): Meter {
  const before = meter.periods.find((period) => period.startsAt === startsAt)
  const used = plus(before?.used ?? noShares, from)
  return withCredits(withPeriod(meter, { startsAt, endsAt, used, included }), from.credits, -1n)
}

function givenBack(meter: Meter, { startsAt }: Period, to: Shares): Meter {
  const before = meter.periods.find((period) => period.startsAt === startsAt)
  if (!before) return meter
  return withCredits(withPeriod(meter, { ...before, used: minus(before.used, to) }), to.credits, 1n)
}

const withPeriod = (meter: Meter, period: UsedPeriod): Meter => ({
  ...meter,
  periods: [...meter.periods.filter(({ startsAt }) => startsAt !== period.startsAt), period].toSorted(
    (one, other) => (one.startsAt < other.startsAt ? -1 : 1),
  ),
})

function withCredits(meter: Meter, amounts: ReadonlyMap<string, Amount>, sign: 1n | -1n): Meter {
  if (amounts.size === 0) return meter
  const credits = new Map(meter.credits)
  for (const [creditId, amount] of amounts) {
    const credit = credits.get(creditId)
    if (credit) credits.set(creditId, { ...credit, left: credit.left + sign * amount })
  }
  return { ...meter, credits }
}

function withoutHold(meter: Meter, holdId: string): Meter {
  const holds = new Map(meter.holds)
  holds.delete(holdId)
  return { ...meter, holds }
}

/** Whether a credit or a hold is over. */
export const hasEnded = ({ endsAt }: { endsAt: string | null }, at: string): boolean =>
  endsAt !== null && endsAt <= at

function withoutEnded(meter: Meter, at: string): Meter {
  const { periods, credits, holds } = meter
  const isKept = (period: UsedPeriod, index: number) => {
    const until = openUntil(period)
    return index >= periods.length - 2 || (until !== null && until > at)
  }
  const isOver = (each: { endsAt: string | null }) => hasEnded(each, at)
  return {
    ...meter,
    periods: periods.every(isKept) ? periods : periods.filter(isKept),
    credits: without(credits, isOver),
    holds: without(holds, isOver),
  }
}

const without = <T>(all: ReadonlyMap<string, T>, isOver: (each: T) => boolean): ReadonlyMap<string, T> =>
  [...all.values()].some(isOver) ? new Map([...all].filter(([, each]) => !isOver(each))) : all
