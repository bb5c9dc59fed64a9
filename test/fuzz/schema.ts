import fc from 'fast-check'
import { z } from 'zod'

/** The part of JSON Schema that the OpenAPI document uses. */
const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.json()).optional(),
  const: z.json().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
})
type Schema = z.infer<typeof Schema>

/** Resolves a `$ref`. */
export type Resolve = (reference: string) => unknown

/** Values that usually match a schema, so that they pass validation and reach the code behind it. */
export function fitting(source: unknown, resolve: Resolve): fc.Arbitrary<unknown> {
  const schema = Schema.safeParse(source).data
  if (!schema) return fc.jsonValue()
  if (schema.$ref !== undefined) return fitting(resolve(schema.$ref), resolve)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices) return fc.oneof(...choices.map((choice) => fitting(choice, resolve)))
  const types = [schema.type ?? 'object'].flat()
  return fc.oneof(...types.map((type) => ofType(type, schema, resolve)))
}

function ofType(type: string, schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const { minimum = -5, maximum = 100_000, minItems: minLength = 0, maxItems = 5 } = schema
  switch (type) {
    case 'string':
      return text(schema)
    case 'integer':
      return fc.integer({ min: Math.max(minimum, -1e9), max: Math.min(maximum, 1e9) })
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fitting(schema.items ?? {}, resolve), {
        minLength,
        maxLength: Math.max(minLength, Math.min(maxItems, 5)),
      })
    default:
      return object(schema, resolve)
  }
}

function object(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    fitting(field, resolve),
  ])
  const declared = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: schema.required ?? [],
  })
  if (typeof schema.additionalProperties !== 'object') return declared
  const more = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 8 }),
    fitting(schema.additionalProperties, resolve),
    {
      maxKeys: 3,
    },
  )
  return fc.tuple(declared, more).map(([fixed, free]) => ({ ...free, ...fixed }))
}

function text({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'idn-email') return fc.emailAddress()
  if (format === 'uri') return fc.webUrl()
  if (pattern !== undefined) {
    try {
      return fc.stringMatching(new RegExp(pattern))
    } catch {
      // No texts can be generated for a pattern with look-around.
    }
  }
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) })
}
