import { type Amount, amountOf } from './amount.ts'
import type { MeterEvent } from './events.ts'
import type { Period } from './period.ts'
import { minus, noShares, plus, type Shares, sharesOf, totalOf } from './shares.ts'

/** A period in which something was counted. */
type UsedPeriod = Period & {
  used: Shares
  /** How much it included when something was last counted in it. */
  included: Amount
  /** The thresholds that it has reached, in percent. */
  reached: readonly number[]
  /** The last full amount beyond what there is that it has reached, in percent; 0 for none. */
  reachedFurther: number
  /** Whether nothing more counts in it. */
  isClosed: boolean
  /** Of a shared meter: the license that used it last. */
  lastToUse?: string | undefined
}

export type Credit = { left: Amount; endsAt: string | null }

/** An amount that is kept for one use, or for a device, until its end, and then free for every other. */
export type Hold = {
  amount: Amount
  from: Shares
  period: Period
  included: Amount
  endsAt: string
  /** Of a shared meter: the license that it is for. */
  licenseId?: string | undefined
  /** Of an allowance: who may spend it, and until when; what is left of it is kept longer, for reports. */
  device?: { instanceId: string; endsAt: string }
}

type ClosedPeriods = {
  /** Every period that ended by then is closed; null before the first. */
  through: string | null
  /** Of the last closed period without an end of its own: every such period that began no later is closed. */
  endless: { startsAt: string; endedAt: string } | null
}

/** Whose meter it is, as it was first used: a license's, or that of a customer whose licenses share it. */
export type MeterOwner = { tenantId: string; meter: string; unit: string } & (
  | { productId: string; licenseId: string }
  | { customerId: string }
)

/** The id of the license or the customer. */
export const ownerIdOf = (owner: MeterOwner): string =>
  'customerId' in owner ? owner.customerId : owner.licenseId

/** What one license, or all licenses of a customer, have used under one meter. */
export type Meter = {
  /** null before anything was counted. */
  owner: MeterOwner | null
  /** Those that are not closed, and the one before the last: what it leaves over rolls on. The oldest first. */
  periods: readonly UsedPeriod[]
  /** What is closed. */
  closed: ClosedPeriods
  /** By id; those that have ended or are spent are left out. */
  credits: ReadonlyMap<string, Credit>
  /** By id; one that has ended holds nothing, and is left out with the next event. */
  holds: ReadonlyMap<string, Hold>
}

export const unusedMeter: Meter = {
  owner: null,
  periods: [],
  closed: { through: null, endless: null },
  credits: new Map(),
  holds: new Map(),
}

/** Never refuses: what is recorded has happened. */
export function evolveMeter(meter: Meter, event: MeterEvent): Meter {
  const kept = withoutEnded(meter, event.data.at)
  switch (event.type) {
    case 'MeterOpened':
    case 'SharedMeterOpened': {
      const { at: _, ...owner } = event.data
      return { ...kept, owner }
    }
    case 'UsesRecorded':
      return event.data.uses.reduce((after, { period, from, included, allowance, licenseId }) => {
        const shares = sharesOf(from)
        const paid = allowance === undefined ? after : spentOf(after, allowance, shares)
        return counted(paid, period, shares, amountOf(included), licenseId)
      }, kept)
    case 'UseCorrected':
      return givenBack(kept, event.data.period, sharesOf(event.data.to))
    case 'HoldPlaced': {
      const { holdId, amount, from, period, included, endsAt, licenseId } = event.data
      const hold = {
        ...{ amount: amountOf(amount), from: sharesOf(from), period, included: amountOf(included), endsAt },
        ...(licenseId !== undefined && { licenseId }),
      }
      return { ...kept, holds: new Map(kept.holds).set(holdId, hold) }
    }
    case 'AllowanceGranted': {
      const { allowanceId, instanceId, amount, from, period, included, licenseId } = event.data
      const { endsAt, keptUntil } = event.data
      const hold = {
        ...{ amount: amountOf(amount), from: sharesOf(from), period, included: amountOf(included) },
        ...{ endsAt: keptUntil, device: { instanceId, endsAt } },
        ...(licenseId !== undefined && { licenseId }),
      }
      return { ...kept, holds: new Map(kept.holds).set(allowanceId, hold) }
    }
    case 'AllowanceReturned':
      return withoutHold(kept, event.data.allowanceId)
    case 'HoldCommitted': {
      const hold = meter.holds.get(event.data.holdId)
      const without = withoutHold(kept, event.data.holdId)
      const { from, licenseId } = event.data
      return hold ? counted(without, hold.period, sharesOf(from), hold.included, licenseId) : without
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
    case 'ThresholdReached': {
      const { percent, further } = event.data
      return changed(kept, event.data.period, ({ reached, reachedFurther }) =>
        further ? { reachedFurther: percent } : { reached: [...reached, percent], reachedFurther },
      )
    }
    case 'ThresholdsRearmed': {
      const { percent } = event.data
      const full = percent - (percent % 100)
      return changed(kept, event.data.period, ({ reached, reachedFurther }) => ({
        reached: reached.filter((each) => each <= percent),
        reachedFurther: full < 200 ? 0 : Math.min(reachedFurther, full),
      }))
    }
    case 'PeriodClosed': {
      const { period, endedAt } = event.data
      return {
        ...changed(kept, period, () => ({ isClosed: true })),
        closed: withClosed(kept, period, endedAt),
      }
    }
  }
}

function changed(
  meter: Meter,
  { startsAt }: Period,
  change: (before: UsedPeriod) => Partial<UsedPeriod>,
): Meter {
  const before = meter.periods.find((period) => period.startsAt === startsAt)
  return before ? withPeriod(meter, { ...before, ...change(before) }) : meter
}

function withClosed({ closed }: Meter, { startsAt, endsAt }: Period, endedAt: string): ClosedPeriods {
  const { through, endless } = closed
  if (endsAt === null)
    return endless && endless.startsAt > startsAt ? closed : { through, endless: { startsAt, endedAt } }
  return { through: through !== null && through > endsAt ? through : endsAt, endless }
}

/** An amount is counted in a period; what it takes from credits is gone from them. */
function counted(
  meter: Meter,
  { startsAt, endsAt }: Period,
  from: Shares,
  included: Amount,
  licenseId: string | undefined,
): Meter {
  const before = meter.periods.find((period) => period.startsAt === startsAt)
  const used = plus(before?.used ?? noShares, from)
  const kept = before ?? { reached: [], reachedFurther: 0, isClosed: false }
  const of = licenseId === undefined ? {} : { lastToUse: licenseId }
  return withCredits(
    withPeriod(meter, { ...kept, ...of, startsAt, endsAt, used, included }),
    from.credits,
    -1n,
  )
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

/** What a device has spent is not kept any more. */
function spentOf(meter: Meter, allowanceId: string, from: Shares): Meter {
  const hold = meter.holds.get(allowanceId)
  if (!hold) return meter
  const amount = hold.amount - totalOf(from)
  if (amount <= 0n) return withoutHold(meter, allowanceId)
  return {
    ...meter,
    holds: new Map(meter.holds).set(allowanceId, { ...hold, amount, from: minus(hold.from, from) }),
  }
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
  const isKept = ({ isClosed }: UsedPeriod, index: number) => index >= periods.length - 2 || !isClosed
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
