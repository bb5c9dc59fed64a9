import { z } from 'zod'
import { text } from '../values.ts'

/** Beyond the exact integers, a number in JSON is not the same number everywhere. */
const exact = z
  .number()
  .refine(
    (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
    'must be at most 9007199254740991; send a larger number as text',
  )

/** How much of something an entitlement grants. A date is text, such as `2027-11-21`. */
export const EntitlementValue = z.union([z.literal(true), exact, text(200)], {
  error:
    'must be true, a number, or text of 1 to 200 characters; in place of false, leave out the entitlement',
})
export type EntitlementValue = z.infer<typeof EntitlementValue>

/** Values by the name of their entitlement. */
export type EntitlementValues = Readonly<Record<string, EntitlementValue>>

/** The value of an entitlement; a name may be one that every object has, such as `constructor`. */
export const valueNamed = (name: string, values: EntitlementValues): EntitlementValue | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** Those of the values that belong to one of these names. */
export const valuesOf = (names: readonly string[], values: EntitlementValues): EntitlementValues =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = valueNamed(name, values)
      return value === undefined ? [] : [[name, value]]
    }),
  )
