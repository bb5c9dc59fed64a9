// Guarantee: every operation of the management interface has exactly one command, whose arguments, options and
// columns are those of the OpenAPI document.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { operations, subjects } from '../../../src/cli/remote/operations/all.ts'
import { argumentFields, pathParameters, typedName } from '../../../src/cli/remote/operations/request.ts'

const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
    items: Schema.optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
  }),
)
type Schema = {
  $ref?: string | undefined
  anyOf?: Schema[] | undefined
  oneOf?: Schema[] | undefined
  items?: Schema | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  type?: string | string[] | undefined
  enum?: unknown[] | undefined
}
const Content = z.record(z.string(), z.looseObject({ schema: Schema }))
const Described = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ in: z.string(), name: z.string(), schema: Schema })).default([]),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: Content.optional() })),
})
const Document = z.looseObject({
  components: z.looseObject({ schemas: z.record(z.string(), Schema) }),
  paths: z.record(z.string(), z.record(z.string(), Described)),
})

const document = Document.parse(
  JSON.parse(readFileSync(new URL('../../http/openapi.snapshot.json', import.meta.url), 'utf8')),
)
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => ({ ...one, path, method: method.toUpperCase() })),
)
const management = described.filter(({ path }) => path.startsWith('/v1/'))

/** Operations without an entry in the table, and the command that has them. */
const elsewhere: Record<string, string> = {
  getOpenApi: 'api GET /v1/openapi.json: it is for programs',
  verifyToken: 'whoami',
  logout: 'logout',
  startDeviceLogin: 'login',
  pollDeviceLogin: 'login',
  importLicenses: 'licenses import: it reads a file in batches',
  exportLicenses: 'licenses export: it writes a file',
  getCheckpoint: 'api GET /v1/transparency/checkpoint: a note that others keep as it is',
  getEvidence: 'licenses evidence: it writes a file',
}

test('each operation has one command', () => {
  const named = [...operations.map(({ id }) => id), ...Object.keys(elsewhere)]
  expect(named.toSorted()).toStrictEqual(management.map(({ operationId }) => operationId).toSorted())
  expect(new Set(operations.map(({ words }) => words)).size).toBe(operations.length)
})

test('each group of commands says what it is about', () => {
  const groups = operations.flatMap(({ words }) => {
    const names = words.split(' ')
    return names.slice(1).map((_, index) => names.slice(0, index + 1).join(' '))
  })
  expect(Object.keys(subjects).toSorted()).toStrictEqual([...new Set(groups)].toSorted())
})

const resolved = (schema: Schema | undefined): Schema => {
  const name = schema?.$ref?.split('/').at(-1)
  return (name === undefined ? schema : document.components.schemas[name]) ?? {}
}
const alternatives = (schema: Schema | undefined): Schema[] => {
  const { anyOf, oneOf, ...rest } = resolved(schema)
  return [...(anyOf ?? []), ...(oneOf ?? [])].flatMap(alternatives).concat(rest)
}
const propertiesOf = (schema: Schema | undefined): Record<string, Schema> =>
  Object.assign({}, ...alternatives(schema).map(({ properties }) => properties ?? {})) as Record<
    string,
    Schema
  >

/** What one field of a request accepts, in the words of the table. */
function shapeOf(schema: Schema) {
  const all = alternatives(schema)
  const types = new Set(all.flatMap(({ type }) => type ?? []))
  return {
    nullable: types.has('null'),
    number: types.has('integer'),
    flag: types.has('boolean'),
    array: types.has('array'),
    object: types.has('object'),
  }
}

const ofPage = new Set(['cursor', 'limit', 'order'])

describe.each(operations.map((operation) => [operation.words, operation] as const))('%s', (_, operation) => {
  const found = management.find(({ operationId }) => operationId === operation.id)
  const bodySchema = Object.values(found?.requestBody?.content ?? {})[0]?.schema
  const bodyFields = propertiesOf(bodySchema)
  const answer = found?.responses['200'] ?? found?.responses['201'] ?? found?.responses['202']
  const answerFields = propertiesOf(answer?.content?.['application/json']?.schema)

  test('calls its method and path', () => {
    expect({ method: operation.method, path: operation.path }).toStrictEqual({
      method: found?.method,
      path: found?.path,
    })
    const inPath = found?.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    expect(pathParameters(operation).toSorted()).toStrictEqual(inPath?.toSorted())
  })

  test('has an option or argument for each query parameter and field', () => {
    const inQuery = (found?.parameters ?? []).filter((parameter) => parameter.in === 'query')
    const names = inQuery
      .map(({ name }) => name)
      .filter((name) => name !== 'dryRun' && (!operation.paged || !ofPage.has(name)))
    expect(Object.keys(operation.query ?? {}).toSorted()).toStrictEqual(names.toSorted())
    // The settings of a product may also stand beside its other fields, and do here.
    const inPath = pathParameters(operation)
    const inBody = Object.keys(bodyFields).filter((name) => name !== 'settings' && !inPath.includes(name))
    expect(Object.keys(operation.body ?? {}).toSorted()).toStrictEqual(inBody.toSorted())
    const required = alternatives(bodySchema).flatMap((schema) => schema.required ?? [])
    const ours = Object.entries(operation.body ?? {}).filter(([, field]) => field.required)
    expect(required.filter((name) => !ours.some(([own]) => own === name))).toStrictEqual([])
    expect(argumentFields(operation).every(([, field]) => field.required)).toBe(true)
  })

  test('sends each field as its type', () => {
    for (const [name, field] of Object.entries(operation.body ?? {})) {
      const shape = shapeOf(bodyFields[name] ?? {})
      const context = { operation: operation.id, name }
      expect({ ...context, nullable: field.nullable ?? false }).toStrictEqual({
        ...context,
        nullable: shape.nullable,
      })
      expect({ ...context, is: field.kind === 'number' }).toStrictEqual({ ...context, is: shape.number })
      expect({ ...context, is: field.kind === 'flag' }).toStrictEqual({ ...context, is: shape.flag })
      const isList = field.kind === 'list' || (field.kind === 'json' && shape.array)
      expect({ ...context, is: isList }).toStrictEqual({ ...context, is: shape.array })
      const isObject = ['pairs', 'duration'].includes(field.kind) || (field.kind === 'json' && !shape.array)
      expect({ ...context, is: isObject }).toStrictEqual({ ...context, is: shape.object })
      if (field.choices) {
        const values = alternatives(bodyFields[name]).flatMap((schema) => schema.enum ?? [])
        expect({ ...context, values: field.choices }).toStrictEqual({ ...context, values })
      }
    }
  })

  test('is a page, is gated and shows columns as it is described', () => {
    const takesOrder = found?.parameters.some(({ name }) => name === 'order')
    expect(operation.paged ?? false).toBe(takesOrder)
    const accepted = propertiesOf(found?.responses['202']?.content?.['application/json']?.schema)
    expect(operation.gated ?? false).toBe(Object.hasOwn(accepted, 'confirmation'))
    const takesDryRun = found?.parameters.some(({ name }) => name === 'dryRun')
    expect(operation.dryRun ?? false).toBe(takesDryRun)
    const items = alternatives(answerFields[operation.items ?? 'items']).find(({ items: one }) => one)?.items
    for (const path of Object.values(operation.columns ?? {})) {
      const [first = '', second] = path.split('.')
      const fields = propertiesOf(items)
      expect({ path, fields: Object.keys(fields) }).toStrictEqual({
        path,
        fields: expect.arrayContaining([first]) as string[],
      })
      if (second !== undefined) expect(Object.keys(propertiesOf(fields[first]))).toContain(second)
    }
  })

  test('names no option twice', () => {
    const fields = Object.entries({ ...operation.query, ...operation.body }).filter(
      ([, field]) => !field.argument,
    )
    const names = fields.map(([name, field]) => typedName(name, field))
    expect(new Set(names).size).toBe(names.length)
  })
})
