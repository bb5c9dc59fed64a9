import { grantedValues } from '../../src/domain/customers/override-values.ts'
import { type EntitlementOverride, withOverrides } from '../../src/domain/customers/overrides.ts'
import type { LicenseStatus } from '../../src/domain/licenses/status.ts'
import type { EntitlementValues } from '../../src/domain/products/entitlement-values.ts'

/** What a license's entitlements depend on: its current key type and its customer's overrides. */
export type Entitling = {
  entitlements: readonly string[]
  fallbackEntitlements: readonly string[]
  entitlementValues: EntitlementValues
  overrides: readonly EntitlementOverride[]
}

/**
 * The entitlements of a license: those of its key type while active, the fallback entitlements in fallback, both
 * changed by its customer's overrides. An expired or revoked license grants nothing, overrides included.
 * @param now decides which overrides have expired
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

/**
 * The values of the entitlements that a license grants, by name; undefined when none of them has a value.
 * @param granted what {@link entitlementsFor} says at this moment
 */
export function entitlementValuesFor(
  granted: readonly string[],
  { license, entitlementValues, overrides }: Entitling & { license: { productId: string } },
  now: string,
): EntitlementValues | undefined {
  const values = grantedValues(granted, entitlementValues, overrides, license.productId, now)
  return Object.keys(values).length > 0 ? values : undefined
}
