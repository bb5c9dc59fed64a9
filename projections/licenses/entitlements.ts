import type { LicenseStatus } from '../../src/domain/license/license.ts'

/** What a license grants now: its key type's entitlements while active, the fallback ones after a fall back. */
export function entitlementsFor(
  status: LicenseStatus,
  keyType: { entitlements: readonly string[]; fallbackEntitlements: readonly string[] },
): string[] {
  if (status === 'active') return [...keyType.entitlements]
  return status === 'fallback' ? [...keyType.fallbackEntitlements] : []
}
