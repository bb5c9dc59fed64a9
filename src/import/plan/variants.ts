import { sameJson } from '../../domain/equality.ts'
import type { EntitlementValues } from '../../domain/products/entitlement-values.ts'
import type { ForeignLicense, ForeignPolicy } from '../foreign.ts'
import { entitlementsOf, entitlementValuesOf } from './row.ts'

/**
 * Licenses of one policy with the same entitlements and values. A key type gives all its licenses the same, so each variant
 * needs its own.
 */
export type Variant = {
  policy: ForeignPolicy | null
  /** The key type that they have here; null for licenses of another system. */
  keyTypeId: string | null
  /** All entitlements, in the form of key types. */
  entitlements: string[]
  /** Those that the policy does not have; empty for the policy itself. */
  extra: string[]
  /** Those of the policy that these licenses lack. */
  missing: string[]
  /** The values of the entitlements, by name; no policy has values itself. */
  values: EntitlementValues
  licenses: number
  maxQuantity: number
}

/** A license's policy, entitlements and their values as one text. */
export type VariantName = string

export type Policies = (policyId: string | null) => ForeignPolicy | null

/** @param named makes a policy that the export only names */
export function policiesOf(
  known: readonly ForeignPolicy[],
  named: (policyId: string) => ForeignPolicy,
): Policies {
  const byId = new Map(known.map((policy) => [policy.policyId, policy]))
  return (policyId) => {
    if (policyId === null) return null
    const policy = byId.get(policyId) ?? named(policyId)
    byId.set(policyId, policy)
    return policy
  }
}

export function variantOf(
  license: Pick<ForeignLicense, 'policyId' | 'keyTypeId' | 'entitlements' | 'entitlementValues' | 'quantity'>,
  policies: Policies,
): { name: VariantName; variant: Omit<Variant, 'licenses'> } {
  const { policyId, keyTypeId = null, entitlements: given, quantity } = license
  const policy = policies(policyId)
  const own = entitlementsOf(policy?.entitlements ?? [])
  const entitlements = given === null ? own : entitlementsOf(given)
  const extra = entitlements.filter((entry) => !own.includes(entry))
  const missing = own.filter((entry) => !entitlements.includes(entry))
  const values = entitlementValuesOf(license.entitlementValues ?? {})
  const isPlain = sameJson(entitlements, own) && sameJson(values, {})
  return {
    name: JSON.stringify([policyId, keyTypeId, ...(isPlain ? [] : [entitlements, values])]),
    variant: { policy, keyTypeId, entitlements, extra, missing, values, maxQuantity: quantity },
  }
}
