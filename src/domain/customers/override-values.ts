import { type EntitlementValue, type EntitlementValues, valuesOf } from '../products/entitlement-values.ts'
import { Refusal } from '../refusal.ts'
import { type EntitlementOverride, isInForce } from './overrides.ts'

type Valued = EntitlementOverride & { value: EntitlementValue }

const hasValue = (override: EntitlementOverride): override is Valued =>
  override.effect === 'grant' && override.value !== undefined

/**
 * The values of what a license of this product grants: those of its key type, and in their place those of its customer's
 * overrides in force. Of several overrides with a value for one entitlement, one for this product counts before one for
 * all products, then the one that ends first. The order of the overrides does not matter.
 * @param granted the names that the license grants; no other name gets a value
 */
export function grantedValues(
  granted: readonly string[],
  own: EntitlementValues,
  overrides: readonly EntitlementOverride[],
  productId: string,
  now: string,
): EntitlementValues {
  const valued = overrides.filter(hasValue).filter((override) => isInForce(override, productId, now))
  if (valued.length === 0) return valuesOf(granted, own)
  const weakestFirst = valued.toSorted((one, other) => (rankOf(one) < rankOf(other) ? 1 : -1))
  const theirs = Object.fromEntries(weakestFirst.map(({ entitlement, value }) => [entitlement, value]))
  return valuesOf(granted, { ...own, ...theirs })
}

/** The lowest counts. Moments compare as text, and any is before `never`; the value itself decides last. */
const rankOf = ({ productId, expiresAt = 'never', value }: Valued): string =>
  `${productId === undefined ? 2 : 1} ${expiresAt} ${JSON.stringify(value)}`

/** @throws Refusal `override_values_differ` when nothing decides which of two values counts */
export function requireOneValueEach(overrides: readonly EntitlementOverride[]): void {
  const seen = new Map<string, EntitlementValue>()
  for (const { entitlement, productId, expiresAt, value } of overrides.filter(hasValue)) {
    const place = JSON.stringify([entitlement, productId, expiresAt])
    if ((seen.get(place) ?? value) !== value) throw new Refusal('override_values_differ')
    seen.set(place, value)
  }
}
