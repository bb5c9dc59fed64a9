import { licenseKeyHash } from '../../license-key.ts'
import type { Facts } from '../facts.ts'
import type { Ports } from '../operations.ts'
import { readToken } from '../proof.ts'
import { timeOf } from '../state.ts'
import { type Amount, amountFrom } from './amount.ts'
import { type Claim, type HeldAllowance, type Holder, isSame, type Journal, leftOf } from './journal.ts'

/** An allowance whose signed claim was verified. */
export type Verified = { held: HeldAllowance; claim: Claim }

/** The allowances of a journal whose lease was signed for this license and device; others let nothing be spent. */
export const verifiedIn = ({ allowances }: Journal, { place }: Ports, { keys }: Facts): Verified[] =>
  allowances.flatMap((held) => {
    const claim = claimOf(held.token, held.holder, place, keys)
    return claim ? [{ held, claim }] : []
  })

/** @returns undefined when the lease was not signed for this license and device, or says nothing of an allowance */
export function claimOf(
  token: unknown,
  { licenseKey, instanceId }: Holder,
  place: Ports['place'],
  keys: Facts['keys'],
): Claim | undefined {
  if (typeof token !== 'string') return undefined
  const found = readToken(token, place, keys)
  if ('doubt' in found) return undefined
  const { lease } = found
  const isOwn = lease.licenseKeyHash === licenseKeyHash(licenseKey) && lease.instanceId === instanceId
  const amount = amountFrom(lease.allowance?.amount)
  if (!isOwn || !lease.allowance || amount === undefined) return undefined
  const { id, meter, endsAt } = lease.allowance
  return { id, meter, amount, endsAt, issuedAt: lease.issuedAt }
}

/** The time by which allowances end: never before one that was seen, by the client or under a meter. */
export const timeIn = (journal: Journal, facts: Facts, now: number): number =>
  Math.max(journal.seen, timeOf(facts, now))

/** The allowances of a meter that the device may spend now, that which ends first before the others. */
export const openOf = (
  verified: readonly Verified[],
  meter: string,
  holder: Holder,
  time: number,
): readonly Verified[] =>
  verified
    .filter(
      ({ held, claim }) =>
        claim.meter === meter && !held.isReturned && isSame(held.holder, holder) && time <= claim.endsAt,
    )
    .toSorted((one, other) => one.claim.endsAt - other.claim.endsAt)

export const totalLeft = (verified: readonly Verified[]): Amount =>
  verified.reduce((sum, { held, claim }) => sum + leftOf(held, claim), 0n)
