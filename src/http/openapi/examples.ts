import type { SwaggerTransformObject } from '@fastify/swagger'
import { admitsNull, choicesOf, entriesOf, isObject, type Json, operationsOf } from './json-schema.ts'

const isJsonType = (type: string): boolean => /[/+]json$/.test(type)

/** Gives every JSON answer of a success an example, composed of those of its fields. */
export function withExamples(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (source) => {
    const document = transform(source)
    const { components, paths }: Json = { ...document }
    const { schemas }: Json = { ...(isObject(components) && components) }
    const known = isObject(schemas) ? schemas : {}
    for (const { operation } of operationsOf({ paths })) {
      for (const [status, response] of entriesOf(operation.responses)) {
        if (!status.startsWith('2') || !isObject(response)) continue
        for (const [type, content] of entriesOf(response.content)) {
          if (isJsonType(type) && isObject(content)) giveExample(content, known)
        }
      }
    }
    return document
  }
}

/** An answer that is one component gets it there, so that it is written once; one of its own is completed. */
function giveExample(content: Json, components: Json): void {
  if (!isObject(content.schema)) return
  const composed = exampleOf(content.schema, components)
  const component = componentOf(content.schema, components)
  if (content.example !== undefined) content.example = changed(composed, content.example)
  else if (component) component.example ??= composed
  else content.example = composed
}

/** An example with other values for the given fields and items. */
function changed(example: unknown, change: unknown): unknown {
  if (Array.isArray(change)) {
    const items: unknown[] = Array.isArray(example) ? example : []
    return change.map((item, index) => changed(items[index], item))
  }
  if (!isObject(change)) return change
  const known = isObject(example) ? example : {}
  const fields = Object.entries(change).map(([name, value]) => [name, changed(known[name], value)] as const)
  return { ...known, ...Object.fromEntries(fields) }
}

function componentOf({ $ref }: Json, components: Json): Json | undefined {
  const component =
    typeof $ref === 'string' ? components[$ref.replace('#/components/schemas/', '')] : undefined
  return isObject(component) ? component : undefined
}

/** @returns undefined for a value that has no example */
function exampleOf(schema: Json, components: Json): unknown {
  if ('example' in schema) return schema.example
  const component = componentOf(schema, components)
  if (component) return exampleOf(component, components)
  if ('const' in schema) return schema.const
  const [choice] = choicesOf(schema)
  if (choice) return exampleOf(choice, components)
  if (Array.isArray(schema.enum)) return schema.enum[0] as unknown
  if (schema.type === 'array') {
    const item = isObject(schema.items) ? exampleOf(schema.items, components) : undefined
    return item === undefined ? [] : [item]
  }
  if (isObject(schema.properties))
    return fieldsOf(schema.properties, [schema.required ?? []].flat(), components)
  return admitsNull(schema) ? null : undefined
}

/** An optional field is in an example only if it has one itself. */
function fieldsOf(properties: Json, required: readonly unknown[], components: Json): Json {
  const example: Json = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property) || !(required.includes(name) || 'example' in property)) continue
    const value = exampleOf(property, components)
    if (value !== undefined) example[name] = value
  }
  return example
}
