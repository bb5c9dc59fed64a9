import type { LicenseEvent, LicenseTerms } from './events.ts'
import { expiryAfter } from './expiry.ts'
import { type SaleFollowing, soldOf } from './following.ts'

/** What the start of a term depends on. */
export type WaitingLicense = SaleFollowing & Pick<LicenseTerms, 'saleId'>

/** What an activation at `at` records besides: nothing unless the term of the license waits for it. */
export function started(license: WaitingLicense, at: string): LicenseEvent[] {
  const { startsWith } = license
  if (startsWith === null) return []
  return [
    { type: 'LicenseStarted', data: { expiresAt: expiryAfter(at, startsWith), sold: soldOf(license), at } },
  ]
}
