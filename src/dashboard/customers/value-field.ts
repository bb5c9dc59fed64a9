import type { EntitlementOverride } from '../../domain/customers/overrides.ts'
import { EntitlementValue } from '../../domain/products/entitlement-values.ts'
import { valueWritten } from '../../domain/products/written-values.ts'

/** The value of an override that was typed, or what is wrong with it; neither when nothing was typed. */
export function valueTyped(
  typed: string,
  effect: EntitlementOverride['effect'],
): { given?: { value: EntitlementValue }; problem?: string } {
  if (typed === '') return {}
  const { success, data: value } = EntitlementValue.safeParse(valueWritten(typed))
  if (!success) {
    return {
      problem: 'Enter a number, true, or text of up to 200 characters; instead of false, choose Revoked.',
    }
  }
  return effect === 'grant'
    ? { given: { value } }
    : { problem: 'Only what is granted has a value. Clear it.' }
}
