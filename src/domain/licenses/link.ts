import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { type Why, withReason } from './reasons.ts'

/** The customer of a license, as an event records it. */
export type Owned = Pick<LicenseTerms, 'customerId' | 'byAddress'>

/** The customer of a license. */
export type Linked = {
  customerId: string | null
  /** What decided that: the address of its holder, or a person, who may also have decided that it has none; null before either. */
  linkedBy: 'address' | 'person' | null
  /** The customer that it belongs to but for merges, which moved it to the one that this customer was merged into; null where none did. */
  mergedFrom: string | null
  /** The customers that it belonged to before, each once; null while there are none. */
  formerCustomers: readonly string[] | null
}

export type LinkCommand =
  | ({
      type: 'LinkCustomer'
      customerId: string
      /** Whether the customer was found by the address of the license's holder; otherwise a person chose it. */
      byAddress?: true
      at: string
    } & Why)
  | { type: 'UnlinkCustomer'; customerId: string; at: string }
  | FollowMerge

/** Moves a license to where the merges of its customers lead, or back. */
type FollowMerge = {
  type: 'FollowMerge'
  /** Where it was when that was found. */
  from: Pick<Linked, 'customerId' | 'mergedFrom'>
  customerId: string
  at: string
}

/**
 * What a person decided stays, whatever the address. A person may link a license to another customer than the one with
 * its holder's address, or to that one, so that it stays with them whatever its address becomes.
 * @throws Refusal `license_of_another_customer`
 */
export function decideOnLink(license: Linked, command: LinkCommand): LicenseEvent[] {
  if (command.type === 'FollowMerge') return decideOnMerge(license, command)
  const { customerId, at } = command
  if (command.type === 'UnlinkCustomer') {
    if (license.customerId === null) return []
    if (license.customerId !== customerId) throw new Refusal('license_of_another_customer')
    return [{ type: 'CustomerUnlinked', data: { customerId, at } }]
  }
  const { byAddress } = command
  // A merge has moved it from the customer with its holder's address: there it stays.
  const isSame = license.customerId === customerId || (byAddress && license.mergedFrom === customerId)
  const isDecided = license.linkedBy === 'person'
  if (byAddress ? isSame || isDecided : isSame && isDecided) return []
  if (hasToBeUnlinked(license)) throw new Refusal('license_of_another_customer')
  const linked = { customerId, ...(byAddress && { byAddress }), at }
  return withReason({ type: 'CustomerLinked', data: linked }, command)
}

/** Whether a person has linked it to a customer: only when they unlink it from that one can it be linked to another. */
export const hasToBeUnlinked = ({ customerId, linkedBy }: Linked): boolean =>
  customerId !== null && linkedBy === 'person'

/** @returns no events where the license was linked or moved meanwhile: what a person decided counts before merges */
function decideOnMerge(license: Linked, { from, customerId, at }: FollowMerge): LicenseEvent[] {
  if (license.customerId !== from.customerId || license.mergedFrom !== from.mergedFrom) return []
  const origin = license.mergedFrom ?? license.customerId
  if (origin === null || license.customerId === customerId) return []
  const byAddress = license.linkedBy === 'address' && { byAddress: true as const }
  const merge = origin === customerId ? { unmerged: true as const } : { mergedFrom: origin }
  return [{ type: 'CustomerLinked', data: { customerId, ...byAddress, ...merge, at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveLink(
  { customerId, formerCustomers: before }: Linked,
  event: Extract<LicenseEvent, { type: 'CustomerLinked' | 'CustomerUnlinked' }>,
): Linked {
  const former = new Set([...(before ?? []), ...(customerId === null ? [] : [customerId])])
  const formerCustomers = former.size === 0 ? null : [...former]
  if (event.type === 'CustomerUnlinked')
    return { customerId: null, linkedBy: 'person', mergedFrom: null, formerCustomers }
  const { mergedFrom = null } = event.data
  return { ...linkIn(event.data), mergedFrom, formerCustomers }
}

/** As {@link Linked}, of a license as it was issued. */
export const linkIn = ({ customerId, byAddress }: Owned): Linked => ({
  customerId,
  linkedBy: customerId === null ? null : byAddress ? 'address' : 'person',
  mergedFrom: null,
  formerCustomers: null,
})
