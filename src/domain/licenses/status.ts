import type { LicenseTerms } from './events.ts'
import { type Expiry, endOf } from './grace.ts'

/** Each takes precedence over those before it. */
export const licenseStatuses = ['active', 'fallback', 'expired', 'suspended', 'revoked'] as const
export type LicenseStatus = (typeof licenseStatuses)[number]

/**
 * A license's status at a moment, from its events and the clock; it does not depend on whether the expiry has
 * been recorded. A revocation takes precedence over a suspension, and a suspension over an expiry. At
 * `expiresAt` itself the license has expired, unless it has a grace: then it stays active until that is over.
 */
export function statusAt(license: Standing, now: string): LicenseStatus {
  if (license.revokedAt !== null) return 'revoked'
  if (license.suspendedAt !== null) return 'suspended'
  const end = endOf(license)
  if (end === null || now < end) return 'active'
  return license.onExpiry === 'fallback' ? 'fallback' : 'expired'
}

/** What a license's status depends on, besides the clock. */
export type Standing = Expiry &
  Pick<LicenseTerms, 'onExpiry'> & {
    revokedAt: string | null
    /** Since when it is not valid until it is resumed; null while it is not suspended. */
    suspendedAt: string | null
  }

/**
 * Whether a license of this status gives seats. A license in fallback does, so that its owner can move it to
 * another device.
 */
export function givesSeats(status: LicenseStatus): status is 'active' | 'fallback' {
  return status === 'active' || status === 'fallback'
}
