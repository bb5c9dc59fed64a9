import { EntitlementValue, type EntitlementValues, valueNamed } from './entitlement-values.ts'

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const jsonText = /^".*"$/

/**
 * What a person means who writes a value into a form or on the command line: `true`, a number as in JSON, text in quotes
 * as in JSON, and anything else as the text that it is, such as `gold` or `2027-11-21`.
 * @returns what may be no value, such as false and an integer that is too large: `EntitlementValue` says what is wrong
 */
export function valueWritten(written: string): unknown {
  const trimmed = written.trim()
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  if (!jsonNumber.test(trimmed) && !jsonText.test(trimmed)) return trimmed
  try {
    return JSON.parse(trimmed) as unknown
  } catch {
    return trimmed
  }
}

/** A value so that {@link valueWritten} gives it back: text in quotes only if it would be another value without them. */
export function writtenValue(value: EntitlementValue): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return EntitlementValue.safeParse(valueWritten(value)).data === value ? value : JSON.stringify(value)
}

/** Entitlements as people read and write them: each its name, and behind `=` its value if it has one. */
export const entitlementsWritten = (names: readonly string[], values: EntitlementValues): string[] =>
  names.map((name) => {
    const value = valueNamed(name, values)
    return value === undefined ? name : `${name} = ${writtenValue(value)}`
  })
