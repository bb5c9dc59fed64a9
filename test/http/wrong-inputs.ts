import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { z } from 'zod'
import { fitting } from '../fuzz/schema.ts'
import type { Method } from '../harness/api.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  example: z.unknown().optional(),
  type: z.unknown().optional(),
})
type Schema = z.infer<typeof Schema>

const Operation = z.looseObject({
  parameters: z.array(z.looseObject({ in: z.string(), name: z.string(), schema: z.unknown() })).default([]),
  requestBody: z
    .looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) })
    .optional(),
})
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

/** A request with one wrong value, and the name of the field that has it. */
export type WrongRequest = { method: Method; path: string; query: string; body: unknown; field: string }

const values = ['', 'no such value', 'x'.repeat(5000), true, -1, 0.5, 1e15, null, [], {}, [{}]]

/** How many wrong values each field gets, of different kinds. */
const kinds = 3

/** For every query parameter and every field of a body: requests in which only it does not fit its schema. */
export function wrongRequests(document: object): WrongRequest[] {
  const { paths } = Description.parse(document)
  const inBodies = checkOf(document, false)
  const inQueries = checkOf(document, true)
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, { parameters, requestBody }]) => {
      const method = name.toUpperCase() as Method
      const required = parameters.filter(
        (parameter) => parameter.in === 'query' && parameter.required === true,
      )
      const others = (field: string): [string, unknown][] =>
        required
          .filter((other) => other.name !== field)
          .map((other) => [other.name, inBodies.madeFor(other.schema)])
      const queries = parameters
        .filter((parameter) => parameter.in === 'query')
        .flatMap(({ name: field, schema }) =>
          inQueries
            .wrongFor(schema)
            .map((value) => ({ query: `?${encoded([[field, value], ...others(field)])}`, field })),
        )
      const body = requestBody?.content['application/json']?.schema
      const fit = body === undefined ? undefined : inBodies.madeFor(body)
      const bodies = body === undefined ? [] : [...inBodies.wrongIn(body, fit, 'body')]
      return [
        ...queries.map(({ query, field }) => ({ method, path, query, body: fit, field })),
        ...bodies.map(({ value, field }) => ({ method, path, query: '', body: value, field })),
      ]
    }),
  )
}

const encoded = (pairs: [string, unknown][]): string =>
  pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')

function checkOf(document: object, coerceTypes: boolean) {
  const ajv = new Ajv2020({ strict: false, coerceTypes })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: 'openapi' })
  const known = new Map<string, ValidateFunction>()

  function check(schema: unknown): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/')
    const compiled = known.get(text) ?? ajv.compile(z.record(z.string(), z.unknown()).parse(JSON.parse(text)))
    known.set(text, compiled)
    return compiled
  }

  const resolve = (reference: string): unknown =>
    reference
      .split('/')
      .slice(1)
      .reduce<unknown>((at, name) => fieldOf(at, name), document)

  function resolved(source: unknown): Schema {
    const schema = Schema.parse(source)
    return schema.$ref === undefined ? schema : resolved(resolve(schema.$ref))
  }

  /** A value that fits: the example, or a generated one. */
  function madeFor(source: unknown): unknown {
    const { example } = resolved(source)
    if (example !== undefined && check(source)(example)) return example
    return fc.sample(fitting(source, resolve), { numRuns: 50, seed: 7 }).find((value) => check(source)(value))
  }

  function wrongFor(source: unknown): unknown[] {
    const wrong = new Map<string, unknown>()
    for (const value of values) {
      const fits = check(source)
      if (coerceTypes && typeof value === 'object') continue
      if (fits(coerceTypes ? String(value) : value)) continue
      const kind = fits.errors?.map(({ keyword }) => keyword).join() ?? ''
      if (!wrong.has(kind)) wrong.set(kind, value)
    }
    return [...wrong.values()].slice(0, kinds)
  }

  function* wrongIn(
    source: unknown,
    base: unknown,
    field: string,
  ): Generator<{ value: unknown; field: string }> {
    for (const value of wrongFor(source)) yield { value, field }
    for (const option of [source, ...(resolved(source).anyOf ?? [])]) {
      const { properties = {}, items, anyOf } = resolved(option)
      const around = typeof base === 'object' && base !== null ? base : madeFor(option)
      for (const [name, schema] of Object.entries(properties)) {
        const own = fieldOf(around, name) ?? madeFor(schema)
        for (const wrong of wrongIn(schema, own, name))
          yield { value: { ...Object(around), [name]: wrong.value }, field: wrong.field }
      }
      if (items !== undefined && anyOf === undefined)
        for (const wrong of wrongIn(items, madeFor(items), field))
          yield { value: [wrong.value], field: wrong.field }
    }
  }

  return { madeFor, wrongFor, wrongIn }
}

const Fields = z.record(z.string(), z.unknown())

const fieldOf = (value: unknown, name: string): unknown => Fields.safeParse(value).data?.[name]
