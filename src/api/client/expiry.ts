import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { type Expiry, graceUntilAt } from '../../domain/licenses/grace.ts'
import type { LicenseStatus } from '../../domain/licenses/status.ts'

/** What an answer to an app says of the expiry of a license, and of its grace while that lasts. */
export function expiryIn(status: LicenseStatus, license: Expiry, now: string) {
  const { expiresAt } = license
  const graceUntil = status === 'active' ? graceUntilAt(license, now) : null
  return {
    license_expires_at: expiresAt === null ? null : unixSeconds(expiresAt),
    ...(graceUntil !== null && { grace: true as const, grace_until: unixSeconds(graceUntil) }),
  }
}
