import { sameJson } from '../../domain/equality.ts'
import type { ForeignLicense, ForeignPolicy } from '../foreign.ts'
import { entitlementsOf } from './row.ts'

/**
 * Licenses of one policy with the same entitlements. A key type gives all its licenses the same entitlements, so each
 * variant needs its own.
 */
export type Variant = {
  policy: ForeignPolicy | null
  /** All entitlements, in the form of key types. */
  entitlements: string[]
  /** Those that the policy does not have; empty for the policy itself. */
  extra: string[]
  /** Those of the policy that these licenses lack. */
  missing: string[]
  licenses: number
  maxQuantity: number
}

/** A license's policy and entitlements as one text. */
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
  { policyId, entitlements: given, quantity }: Pick<ForeignLicense, 'policyId' | 'entitlements' | 'quantity'>,
  policies: Policies,
): { name: VariantName; variant: Omit<Variant, 'licenses'> } {
  const policy = policies(policyId)
  const own = entitlementsOf(policy?.entitlements ?? [])
  const entitlements = given === null ? own : entitlementsOf(given)
  const extra = entitlements.filter((entry) => !own.includes(entry))
  const missing = own.filter((entry) => !entitlements.includes(entry))
  const isPlain = sameJson(entitlements, own)
  return {
    name: JSON.stringify([policyId, isPlain ? null : entitlements]),
    variant: { policy, entitlements, extra, missing, maxQuantity: quantity },
  }
}
