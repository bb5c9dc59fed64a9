import { z } from 'zod'
import { EntitlementValue } from '../../domain/products/entitlement-values.ts'

/** The values of entitlements in answers, which have the field only when there is a value. */
export const entitlementValuesOut = z.record(z.string(), EntitlementValue).meta({
  description:
    'The values of those `entitlements` that have one, by name: true, a number or text. Absent when none has a value',
  example: { projects: 25, tier: 'gold' },
})
