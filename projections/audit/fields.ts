/** The values of something that is administered, by name. */
export type Fields = Record<string, Value>
type Value = string | number | boolean | null

/** One value that a change replaced; null where it was absent before, or is now. */
export type FieldChange = { field: string; before: Value; after: Value }

/** The text of a mail may be long; the audit log shows its beginning. */
const longest = 300

/** Flattens values: `{ testMode: { enabled: true } }` becomes `testMode.enabled`, and a list its parts with commas. */
export function fieldsOf(values: object, prefix = ''): Fields {
  const fields: Fields = {}
  for (const [name, value] of Object.entries<unknown>({ ...values })) {
    const key = `${prefix}${name}`
    if (Array.isArray(value)) fields[key] = value.length === 0 ? null : clipped(value.map(String).join(', '))
    else if (typeof value === 'object' && value !== null) Object.assign(fields, fieldsOf(value, `${key}.`))
    else if (typeof value === 'string') fields[key] = clipped(value)
    else if (typeof value === 'number' || typeof value === 'boolean') fields[key] = value
    else fields[key] = null
  }
  return fields
}

const clipped = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text

/** The values that differ, by name; values that `after` does not have are now absent. */
export const changesBetween = (before: Fields, after: Fields): FieldChange[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((change) => change.before !== change.after)
