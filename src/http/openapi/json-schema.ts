/** A schema, or another object, of the OpenAPI document. */
export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The entries of an object; none of anything else. */
export const entriesOf = (value: unknown): [string, unknown][] => Object.entries(isObject(value) ? value : {})

const alternativesOf = ({ anyOf, oneOf }: Json): Json[] => [anyOf ?? oneOf ?? []].flat().filter(isObject)

const typesOf = ({ type }: Json): unknown[] => [type ?? []].flat()

/** Whether null is a value of the schema. */
export const admitsNull = (schema: Json): boolean =>
  typesOf(schema).includes('null') || alternativesOf(schema).some(admitsNull)

/** The alternatives of a schema besides null; none for a schema that is not a choice. */
export const choicesOf = (schema: Json): Json[] =>
  alternativesOf(schema).filter((one) => !typesOf(one).every((type) => type === 'null') || !('type' in one))

/** The operations of a document: those of its paths and those of its webhooks. */
export function* operationsOf({ paths, webhooks }: Json): Generator<{ path: string; operation: Json }> {
  for (const [path, methods] of [...entriesOf(paths), ...entriesOf(webhooks)]) {
    for (const [, operation] of entriesOf(methods)) if (isObject(operation)) yield { path, operation }
  }
}

/** Visits every schema in a part of a document, the outer ones before the inner ones. */
export function eachSchema(part: unknown, visit: (schema: Json) => void): void {
  if (Array.isArray(part)) for (const one of part) eachSchema(one, visit)
  if (!isObject(part)) return
  visit(part)
  for (const [name, inner] of Object.entries(part)) {
    // What is in an example is a value, not a schema.
    if (typeof inner === 'object' && name !== 'example' && name !== 'examples') eachSchema(inner, visit)
  }
}
