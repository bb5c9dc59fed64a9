import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import { type Amount, amountOf, amountText, least } from './amount.ts'
import type { MeterEvent } from './events.ts'
import { type Allowance, freeIn, remainingOf, usedIn } from './free.ts'
import { evolveMeter, hasEnded, type Meter, type MeterOwner, unusedMeter } from './meter.ts'
import { openUntil, type Period, periodAt } from './period.ts'
import { firstOf, type Shares, sharesText, taken, totalOf } from './shares.ts'

/** A use that is to be counted, under a key that was not counted before. */
type Use = {
  key: string
  amount: Amount
  /** When it was used, for one that is reported late; undefined for now. */
  usedAt?: string | undefined
}

type Told = { owner: MeterOwner; allowance: Allowance; at: string }

export type MeterCommand =
  | ({ type: 'Consume'; uses: readonly Use[] } & Told)
  | ({ type: 'PlaceHold'; holdId: string; key: string; amount: Amount; endsAt: string } & Told)
  | { type: 'CommitHold'; holdId: string; amount: Amount; at: string }
  | { type: 'ReleaseHold'; holdId: string; at: string }
  | ({
      type: 'AddCredit'
      creditId: string
      key: string
      amount: Amount
      endsAt: string | null
      order: string | null
    } & Omit<Told, 'allowance'>)
  | { type: 'WithdrawCredit'; creditId: string; reason: string; at: string }
  | ({ type: 'CorrectUse'; key: string; amount: Amount; reason: string } & Told)

/**
 * What is counted under a meter. A use or a hold for which there is not enough is left out; everything else is refused.
 * @throws Refusal `hold_not_found` also for one that has ended, `hold_too_small`, `credit_not_found`, `credit_ends_in_the_past`,
 *   `correction_too_large`
 */
export function decideMeter(meter: Meter, command: MeterCommand): MeterEvent[] {
  const { at } = command
  switch (command.type) {
    case 'Consume': {
      const { entries } = judged(meter, command)
      return entries.length === 0
        ? []
        : [...opened(meter, command), { type: 'UsesRecorded', data: { uses: entries, at } }]
    }
    case 'PlaceHold': {
      const placed = meter.holds.has(command.holdId) ? undefined : held(meter, command)
      return placed ? [...opened(meter, command), placed] : []
    }
    case 'CommitHold': {
      const hold = meter.holds.get(command.holdId)
      if (!hold || hasEnded(hold, at)) throw new Refusal('hold_not_found')
      if (command.amount > hold.amount) throw new Refusal('hold_too_small')
      const { holdId, amount } = command
      const from = sharesText(firstOf(hold.from, amount))
      const { period } = hold
      return [{ type: 'HoldCommitted', data: { holdId, amount: amountText(amount), from, period, at } }]
    }
    case 'ReleaseHold': {
      const { holdId } = command
      return meter.holds.has(holdId) ? [{ type: 'HoldReleased', data: { holdId, at } }] : []
    }
    case 'AddCredit': {
      const { creditId, key, amount, endsAt, order } = command
      if (meter.credits.has(creditId)) return []
      if (endsAt !== null && endsAt <= at) throw new Refusal('credit_ends_in_the_past')
      const data = { creditId, key, amount: amountText(amount), endsAt, order, at }
      return [...opened(meter, command), { type: 'CreditAdded', data }]
    }
    case 'WithdrawCredit': {
      const { creditId, reason } = command
      if (!meter.credits.has(creditId)) throw new Refusal('credit_not_found')
      return [{ type: 'CreditWithdrawn', data: { creditId, reason, at } }]
    }
    case 'CorrectUse':
      return [corrected(meter, command)]
  }
}

export const meters: Decider<Meter, MeterCommand, 'meter'> = {
  category: 'meter',
  initial: unusedMeter,
  decide: decideMeter,
  evolve: evolveMeter,
}

const opened = (meter: Meter, { owner, at }: Pick<Told, 'owner' | 'at'>): MeterEvent[] =>
  meter.owner ? [] : [{ type: 'MeterOpened', data: { ...owner, at } }]

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

function judged(meter: Meter, { uses, allowance, at }: Extract<MeterCommand, { type: 'Consume' }>) {
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
  const { terms, moments } = allowance
  const present = periodAt(terms.period, at, moments)
  const from = (period: Period) => taken(amount, freeIn(meter, period, allowance, at))
  if (usedAt === undefined || usedAt >= present.startsAt)
    return { period: present, from: from(present), late: false }
  const own = usedAt < moments.issuedAt ? undefined : ownPeriod(allowance, usedAt)
  const until = own && openUntil(own)
  const ofOwn = own && until && at < until ? from(own) : undefined
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
  const { holdId, key, amount, endsAt, allowance, at } = command
  const period = periodAt(allowance.terms.period, at, allowance.moments)
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
    at,
  }
  return { type: 'HoldPlaced', data }
}

/** What is given back comes first out of what was beyond the period, and last out of what rolled over. */
function corrected(meter: Meter, command: Extract<MeterCommand, { type: 'CorrectUse' }>): MeterEvent {
  const { key, amount, reason, allowance, at } = command
  const period = periodAt(allowance.terms.period, at, allowance.moments)
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
