import { z } from 'zod'
import { EntitlementValue } from '../products/entitlement-values.ts'
import { Entitlement } from '../products/key-type.ts'
import { Moment, Sealed, Slug } from '../values.ts'

/**
 * An entitlement that a customer's licenses have, or lack, regardless of their key types: for one product or
 * for all, until `expiresAt` or permanently.
 */
export const EntitlementOverride = z.strictObject({
  entitlement: Entitlement,
  effect: z
    .enum(['grant', 'revoke'])
    .meta({ description: 'Whether licenses have the entitlement or lack it', example: 'grant' }),
  /** Only of what is granted. */
  value: EntitlementValue.optional(),
  productId: Slug.optional(),
  expiresAt: Moment.optional(),
  /** In clear, in events from before reasons were sealed. */
  reason: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: 'A note for people; absent without one', example: 'beta tester' }),
  /** Sealed under the key of the customer's person, so that erasing them makes it unreadable. */
  sealedReason: z.strictObject({ subjectId: z.string().min(1), text: Sealed }).optional(),
})
export type EntitlementOverride = z.infer<typeof EntitlementOverride>

/** An override as people write and read it. */
export type ExplainedOverride = Omit<EntitlementOverride, 'sealedReason'>

/** The overrides without what was written about them. */
export const withoutReasons = (overrides: readonly EntitlementOverride[]): EntitlementOverride[] =>
  overrides.map(({ reason: _, sealedReason: __, ...override }) => override)

/** Enough for any customer, and few enough to read at every validate. */
export const maxOverrides = 100

/**
 * The entitlements of a license of this product under its customer's overrides: its own and the granted ones,
 * without the revoked ones; a revocation wins over a grant. The order of the overrides does not matter. An
 * override is no longer in force at its `expiresAt` itself.
 */
export function withOverrides(
  own: readonly string[],
  overrides: readonly EntitlementOverride[],
  productId: string,
  now: string,
): string[] {
  if (overrides.length === 0) return [...own]
  const effective = new Set(own)
  const present = overrides.filter((override) => isInForce(override, productId, now))
  for (const { effect, entitlement } of present) if (effect === 'grant') effective.add(entitlement)
  for (const { effect, entitlement } of present) if (effect === 'revoke') effective.delete(entitlement)
  return [...effective].sort()
}

/**
 * The next moment at which the result of {@link withOverrides} may change by time alone; null when there is
 * none.
 */
export function nextOverrideEnd(
  overrides: readonly EntitlementOverride[],
  productId: string,
  now: string,
): string | null {
  let next: string | null = null
  for (const override of overrides) {
    const { expiresAt } = override
    if (expiresAt === undefined || !isInForce(override, productId, now)) continue
    if (next === null || expiresAt < next) next = expiresAt
  }
  return next
}

/** Whether an override applies to licenses of this product at this moment. */
export function isInForce(override: EntitlementOverride, productId: string, now: string): boolean {
  const { productId: only = productId, expiresAt } = override
  return only === productId && (expiresAt === undefined || now < expiresAt)
}
