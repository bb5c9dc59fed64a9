import { type EntitlementOverride, withOverrides } from '../../src/domain/customers/overrides.ts'
import type { LicenseStatus } from '../../src/domain/licenses/license.ts'

/** What decides over a license's entitlements: its key type of today, and its customer's overrides. */
export type Entitling = {
  entitlements: readonly string[]
  fallbackEntitlements: readonly string[]
  overrides: readonly EntitlementOverride[]
}

/**
 * What a license grants now: its key type's entitlements while active, the fallback ones after a fall back, both
 * under its customer's overrides. One that has expired or is revoked grants nothing, whatever its customer has.
 */
export function entitlementsFor(
  status: LicenseStatus,
  { license, ...from }: Entitling & { license: { productId: string } },
  now: string,
): string[] {
  if (status !== 'active' && status !== 'fallback') return []
  const own = status === 'active' ? from.entitlements : from.fallbackEntitlements
  return withOverrides(own, from.overrides, license.productId, now)
}
