import { Refusal } from '../refusal.ts'
import { type EntitlementValues, valuesOf } from './entitlement-values.ts'
import { type KeyType, withoutUnset } from './key-type.ts'

/**
 * A key type after a change. A value goes with its name: names that the change takes away lose their values, unless the
 * change has values of its own.
 * @throws Refusal `value_without_entitlement`
 */
export function changedKeyType(before: KeyType, change: Partial<Omit<KeyType, 'keyTypeId'>>): KeyType {
  const after = { ...before, ...change }
  if (change.entitlementValues !== undefined) return checkedKeyType(after)
  return withValues(after, valuesOf(namesIn(after), after.entitlementValues ?? {}))
}

/** A new key type. @throws Refusal `value_without_entitlement` for a value whose name licenses never have */
export function checkedKeyType(keyType: KeyType): KeyType {
  const { entitlementValues = {} } = keyType
  const names = new Set(namesIn(keyType))
  if (!Object.keys(entitlementValues).every((name) => names.has(name))) {
    throw new Refusal('value_without_entitlement')
  }
  return withValues(keyType, entitlementValues)
}

const namesIn = ({ entitlements, fallbackEntitlements }: KeyType): string[] => [
  ...entitlements,
  ...fallbackEntitlements,
]

/** A key type without values is recorded without a field for them. */
function withValues({ entitlementValues: _, ...keyType }: KeyType, values: EntitlementValues): KeyType {
  return { ...withoutUnset(keyType), ...(Object.keys(values).length > 0 && { entitlementValues: values }) }
}
