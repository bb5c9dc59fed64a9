import { Refusal } from '../refusal.ts'
import { type Amount, amountOf, amountText } from './amount.ts'
import { presentPeriod } from './closing.ts'
import type { MeterEvent } from './events.ts'
import { type Allowance, freeIn } from './free.ts'
import { type Hold, hasEnded, type Meter } from './meter.ts'
import { lateMs } from './period.ts'
import { firstOf, type Shares, sharesText, taken } from './shares.ts'

/** An amount for one device to spend without a network. It is kept like a hold. */
export type AllowanceGrant = {
  allowanceId: string
  key: string
  /** The device, as an instance of the license. */
  instanceId: string
  amount: Amount
  /** Until when the device may spend it at most. */
  endsAt: string
  allowance: Allowance
  /** Of a meter that licenses share: the one that the device is of. */
  licenseId?: string | undefined
  at: string
}

/** More are of a device that loses its storage again and again, or keeps others from what is left. */
const mostOfInstance = 5

/**
 * Keeps an amount for a device. It ends with its period, and with the credits that it is taken from; so what is spent of it counts
 * while its period is open.
 * @returns undefined when there is not enough
 * @throws Refusal `allowance_limit_reached`
 */
export function granted(meter: Meter, grant: AllowanceGrant): MeterEvent | undefined {
  const { allowanceId, key, instanceId, amount, allowance, licenseId, at } = grant
  const kept = [...meter.holds.values()].filter((hold) => isOf(hold, instanceId) && !hasEnded(hold, at))
  if (kept.length >= mostOfInstance) throw new Refusal('allowance_limit_reached')
  const period = presentPeriod(meter, allowance, at)
  const from = taken(amount, freeIn(meter, period, allowance, at))
  if (!from) return undefined
  const endsAt = firstEnd(grant.endsAt, period.endsAt, ...creditEnds(meter, from))
  const keptUntil = new Date(Date.parse(endsAt) + lateMs).toISOString()
  const included = amountText(amountOf(allowance.terms.included))
  const data = {
    ...{ allowanceId, key, instanceId, amount: amountText(amount), from: sharesText(from), period, included },
    ...{ endsAt, keptUntil, ...(licenseId !== undefined && { licenseId }), at },
  }
  return { type: 'AllowanceGranted', data }
}

const isOf = ({ device }: Hold, instanceId: string): boolean => device?.instanceId === instanceId

const creditEnds = ({ credits }: Meter, from: Shares): (string | null)[] =>
  Array.from(from.credits.keys(), (creditId) => credits.get(creditId)?.endsAt ?? null)

const firstEnd = (end: string, ...others: readonly (string | null)[]): string =>
  others.reduce<string>((first, other) => (other !== null && other < first ? other : first), end)

/** A use that a device reports under an allowance. */
export type AllowanceUse = {
  allowanceId: string
  instanceId: string
  key: string
  amount: Amount
  usedAt: string
  /** undefined where the key type has no such meter any more. */
  allowance: Allowance | undefined
  at: string
}

/**
 * Counts a use in the period of its allowance, out of what is kept.
 * @throws Refusal `allowance_over` when nothing or too little is kept for the device, or it was used after the end
 */
export function spent(
  meter: Meter,
  { allowanceId, instanceId, key, amount, usedAt, at }: AllowanceUse,
): Extract<MeterEvent, { type: 'UsesRecorded' }> {
  const hold = meter.holds.get(allowanceId)
  const end = hold && isOf(hold, instanceId) && !hasEnded(hold, at) ? hold.device?.endsAt : undefined
  if (!hold || end === undefined || usedAt > end || amount > hold.amount) throw new Refusal('allowance_over')
  const from = sharesText(firstOf(hold.from, amount))
  const { period, included, licenseId } = hold
  const use = {
    ...{ key, amount: amountText(amount), from, period, included: amountText(included) },
    ...{ usedAt, allowance: allowanceId, ...(licenseId !== undefined && { licenseId }) },
  }
  return { type: 'UsesRecorded', data: { uses: [use], at } }
}

/** Frees what a device has not spent. @throws Refusal `allowance_over` for that of another device */
export function returned(
  meter: Meter,
  { allowanceId, instanceId, at }: Pick<AllowanceUse, 'allowanceId' | 'instanceId' | 'at'>,
): MeterEvent[] {
  const hold = meter.holds.get(allowanceId)
  if (!hold) return []
  if (!isOf(hold, instanceId)) throw new Refusal('allowance_over')
  return [{ type: 'AllowanceReturned', data: { allowanceId, at } }]
}
