import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import { type AllowanceGrant, type AllowanceUse, granted, returned, spent } from './allowances.ts'
import { type Amount, amountOf, amountText, least, notNegative } from './amount.ts'
import { closed, isClosed, presentPeriod } from './closing.ts'
import type { MeterEvent } from './events.ts'
import { type Allowance, creditsLeft, freeIn, remainingOf, usedIn } from './free.ts'
import { evolveMeter, hasEnded, type Meter, type MeterOwner, unusedMeter } from './meter.ts'
import { openUntil, type Period, periodAt } from './period.ts'
import { firstOf, type Shares, sharesText, taken, totalOf } from './shares.ts'
import { newlyReached, rearmed } from './thresholds.ts'

/** A use that is to be counted, under a key that was not counted before. */
type Use = {
  key: string
  amount: Amount
  /** When it was used, for one that is reported late; undefined for now. */
  usedAt?: string | undefined
}

/** @param licenseId of a meter that licenses share: the one that uses it */
type Told = { owner: MeterOwner; allowance: Allowance; licenseId?: string | undefined; at: string }

/** @param allowance undefined where there is no such meter any more */
type AsOfNow = { allowance: Allowance | undefined; at: string }

export type MeterCommand =
  | ({ type: 'Consume'; uses: readonly Use[] } & Told)
  | ({ type: 'PlaceHold'; holdId: string; key: string; amount: Amount; endsAt: string } & Told)
  | ({ type: 'CommitHold'; holdId: string; amount: Amount } & AsOfNow)
  | { type: 'ReleaseHold'; holdId: string; at: string }
  | ({ type: 'GrantAllowance' } & AllowanceGrant & Told)
  | ({ type: 'SpendAllowance' } & AllowanceUse)
  | ({ type: 'ReturnAllowance' } & Pick<AllowanceUse, 'allowanceId' | 'instanceId' | 'at'>)
  | ({
      type: 'AddCredit'
      creditId: string
      key: string
      amount: Amount
      endsAt: string | null
      order: string | null
    } & AsOfNow & { owner: MeterOwner })
  | ({ type: 'WithdrawCredit'; creditId: string; reason: string; key?: string | undefined } & AsOfNow)
  | ({ type: 'CorrectUse'; key: string; amount: Amount; reason: string } & Omit<Told, 'licenseId'>)
  | ({ type: 'ClosePeriods' } & AsOfNow)

/**
 * What is counted under a meter. A use or a hold for which there is not enough is left out; everything else is refused.
 * @throws Refusal `hold_not_found` also for one that has ended, `hold_too_small`, `credit_not_found`, `credit_ends_in_the_past`,
 *   `correction_too_large`, `allowance_limit_reached`, `allowance_over`
 */
export function decideMeter(meter: Meter, command: MeterCommand): MeterEvent[] {
  const { at } = command
  switch (command.type) {
    case 'Consume': {
      const { entries } = judged(meter, command)
      if (entries.length === 0) return []
      const recorded: MeterEvent = { type: 'UsesRecorded', data: { uses: entries, at } }
      const periods = new Map(entries.map(({ period }) => [period.startsAt, period]))
      return [
        ...opened(meter, command),
        ...announced(meter, [recorded], [...periods.values()], command.allowance),
      ]
    }
    case 'PlaceHold': {
      const placed = meter.holds.has(command.holdId) ? undefined : held(meter, command)
      return placed ? [...opened(meter, command), placed] : []
    }
    case 'CommitHold': {
      const hold = meter.holds.get(command.holdId)
      if (!hold || hold.device || hasEnded(hold, at)) throw new Refusal('hold_not_found')
      if (command.amount > hold.amount) throw new Refusal('hold_too_small')
      const { holdId, amount } = command
      const from = sharesText(firstOf(hold.from, amount))
      const { period, licenseId } = hold
      const data = { holdId, amount: amountText(amount), from, period, ...namedBy(licenseId), at }
      return announced(meter, [{ type: 'HoldCommitted', data }], [period], command.allowance)
    }
    case 'ReleaseHold': {
      const { holdId } = command
      const hold = meter.holds.get(holdId)
      return hold && !hold.device ? [{ type: 'HoldReleased', data: { holdId, at } }] : []
    }
    case 'GrantAllowance': {
      const allowance = meter.holds.has(command.allowanceId) ? undefined : granted(meter, command)
      return allowance ? [...opened(meter, command), allowance] : []
    }
    case 'SpendAllowance': {
      const recorded = spent(meter, command)
      return announced(
        meter,
        [recorded],
        recorded.data.uses.map(({ period }) => period),
        command.allowance,
      )
    }
    case 'ReturnAllowance':
      return returned(meter, command)
    case 'AddCredit': {
      const { creditId, key, amount, endsAt, order } = command
      if (meter.credits.has(creditId)) return []
      if (endsAt !== null && endsAt <= at) throw new Refusal('credit_ends_in_the_past')
      const data = { creditId, key, amount: amountText(amount), endsAt, order, at }
      return [...opened(meter, command), ...followed(meter, { type: 'CreditAdded', data }, command, rearmed)]
    }
    case 'WithdrawCredit': {
      const { creditId, reason, key } = command
      const free = meter.credits.has(creditId) ? creditsLeft(meter, at).get(creditId) : undefined
      if (free === undefined) throw new Refusal('credit_not_found')
      const left = amountText(notNegative(free))
      const data = { creditId, reason, ...(key !== undefined && { key }), left, at }
      return followed(meter, { type: 'CreditWithdrawn', data }, command, newlyReached)
    }
    case 'CorrectUse':
      return followed(meter, corrected(meter, command), command, rearmed)
    case 'ClosePeriods':
      return closed(meter, command.allowance, at)
  }
}

/** Events by which something counts in periods, with the thresholds that they reach there. */
function announced(
  meter: Meter,
  events: MeterEvent[],
  periods: readonly Period[],
  allowance: Allowance | undefined,
): MeterEvent[] {
  const at = events[0]?.data.at
  if (!allowance || at === undefined) return events
  // Something else may have changed the share since: the end of a credit, or another key type.
  const before = periods.flatMap((period) => rearmed(meter, period, allowance, at))
  const after = [...before, ...events].reduce(evolveMeter, meter)
  return [...before, ...events, ...periods.flatMap((period) => newlyReached(after, period, allowance, at))]
}

/** An event with what follows from it for the present period. */
function followed(
  meter: Meter,
  event: MeterEvent,
  { allowance, at }: AsOfNow,
  following: typeof rearmed,
): MeterEvent[] {
  if (!allowance) return [event]
  const after = evolveMeter(meter, event)
  return [event, ...following(after, presentPeriod(after, allowance, at), allowance, at)]
}

export const meters: Decider<Meter, MeterCommand, 'meter'> = {
  category: 'meter',
  initial: unusedMeter,
  decide: decideMeter,
  evolve: evolveMeter,
}

function opened(meter: Meter, { owner, at }: Pick<Told, 'owner' | 'at'>): MeterEvent[] {
  if (meter.owner) return []
  return 'customerId' in owner
    ? [{ type: 'SharedMeterOpened', data: { ...owner, at } }]
    : [{ type: 'MeterOpened', data: { ...owner, at } }]
}

const namedBy = (licenseId: string | undefined) => (licenseId === undefined ? {} : { licenseId })

/** What a use is answered. */
export type UseAnswer = {
  allowed: boolean
  /** What is left in the period that it counts in, without what would be beyond it. */
  remaining: Amount
  /** How much of the period's uses is beyond that. */
  overage: Amount
  /** When the period ends; null while nothing is known to end it. */
  resetsAt: string | null
  /** Whether it counts in the present period because its own had no room for it, or was closed. */
  late: boolean
}

/** The answers to the uses of a command, in their order, as {@link decideMeter} decides on them. */
export const answersTo = (meter: Meter, command: Extract<MeterCommand, { type: 'Consume' }>): UseAnswer[] =>
  judged(meter, command).answers

type Entry = Extract<MeterEvent, { type: 'UsesRecorded' }>['data']['uses'][number]

function judged(
  meter: Meter,
  { uses, allowance, licenseId, at }: Extract<MeterCommand, { type: 'Consume' }>,
) {
  const entries: Entry[] = []
  const answers: UseAnswer[] = []
  let after = meter
  for (const use of uses) {
    const place = placeOf(after, use, allowance, at)
    if (place.from) {
      const entry: Entry = {
        key: use.key,
        amount: amountText(use.amount),
        from: sharesText(place.from),
        period: place.period,
        included: includedOf(allowance),
        ...(use.usedAt !== undefined && { usedAt: use.usedAt }),
        ...(place.late && { late: true }),
        ...namedBy(licenseId),
      }
      entries.push(entry)
      after = evolveMeter(after, { type: 'UsesRecorded', data: { uses: [entry], at } })
    }
    answers.push({
      allowed: place.from !== undefined,
      ...standing(after, place.period, allowance, at),
      late: place.late,
    })
  }
  return { entries, answers }
}

/** How a period stands, as answers say it. */
export function standing(meter: Meter, period: Period, allowance: Allowance, at: string) {
  return {
    remaining: remainingOf(freeIn(meter, period, allowance, at)),
    overage: usedIn(meter, period.startsAt).overage,
    resetsAt: period.endsAt,
  }
}

type Place = { period: Period; from: Shares | undefined; late: boolean }

/** A late use counts in its own period while that is open and has room, else in the present one. */
function placeOf(meter: Meter, { amount, usedAt }: Use, allowance: Allowance, at: string): Place {
  const { moments } = allowance
  const present = presentPeriod(meter, allowance, at)
  const from = (period: Period) => taken(amount, freeIn(meter, period, allowance, at))
  if (usedAt === undefined || usedAt >= present.startsAt)
    return { period: present, from: from(present), late: false }
  const own = usedAt < moments.issuedAt ? undefined : ownPeriod(allowance, usedAt)
  const until = own && openUntil(own)
  const ofOwn = own && until && at < until && !isClosed(meter, own) ? from(own) : undefined
  return own && ofOwn
    ? { period: own, from: ofOwn, late: false }
    : { period: present, from: from(present), late: true }
}

/** Of a license that counts by purchases, the period before the last one is not known any more. */
const ownPeriod = ({ terms, moments }: Allowance, usedAt: string): Period | undefined =>
  terms.period === 'purchase' || terms.period === 'license'
    ? undefined
    : periodAt(terms.period, usedAt, moments)

const includedOf = ({ terms: { included } }: Allowance): string => amountText(amountOf(included))

function held(meter: Meter, command: Extract<MeterCommand, { type: 'PlaceHold' }>): MeterEvent | undefined {
  const { holdId, key, amount, endsAt, allowance, licenseId, at } = command
  const period = presentPeriod(meter, allowance, at)
  const from = taken(amount, freeIn(meter, period, allowance, at))
  if (!from) return undefined
  const included = includedOf(allowance)
  const data = {
    holdId,
    key,
    amount: amountText(amount),
    from: sharesText(from),
    period,
    included,
    endsAt,
    ...namedBy(licenseId),
    at,
  }
  return { type: 'HoldPlaced', data }
}

/** What is given back comes first out of what was beyond the period, and last out of what rolled over. */
function corrected(meter: Meter, command: Extract<MeterCommand, { type: 'CorrectUse' }>): MeterEvent {
  const { key, amount, reason, allowance, at } = command
  const period = presentPeriod(meter, allowance, at)
  const used = usedIn(meter, period.startsAt)
  if (amount > totalOf(used)) throw new Refusal('correction_too_large')
  let left = amount
  const back = (there: Amount): Amount => {
    const part = least(left, there)
    left -= part
    return part
  }
  const overage = back(used.overage)
  const credits = new Map([...used.credits].toReversed().map(([creditId, there]) => [creditId, back(there)]))
  const to = { overage, credits, included: back(used.included), rolledOver: back(used.rolledOver) }
  const data = { key, amount: amountText(amount), to: sharesText(to), period, reason, at }
  return { type: 'UseCorrected', data }
}
