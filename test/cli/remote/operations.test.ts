// Guarantee: every command of an operation has its own words and options, and the columns of its list are fields of
// the answer. The compiler requires a command for each operation, and generated descriptions give the rest.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { operations } from '../../../src/cli/remote/operations/all.ts'
import { fieldOf } from '../../../src/cli/remote/operations/field.ts'
import type { Commands } from '../../../src/cli/remote/operations/operation.ts'
import { typedName } from '../../../src/cli/remote/operations/request.ts'
import { subjects } from '../../../src/cli/remote/operations/subjects.ts'

const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
    items: Schema.optional(),
    properties: z.record(z.string(), Schema).optional(),
  }),
)
type Schema = {
  $ref?: string | undefined
  anyOf?: Schema[] | undefined
  oneOf?: Schema[] | undefined
  items?: Schema | undefined
  properties?: Record<string, Schema> | undefined
}
const Content = z.record(z.string(), z.looseObject({ schema: Schema }))
const Described = z.looseObject({
  operationId: z.string(),
  responses: z.record(z.string(), z.looseObject({ content: Content.optional() })),
})
const Document = z.looseObject({
  components: z.looseObject({ schemas: z.record(z.string(), Schema) }),
  paths: z.record(z.string(), z.record(z.string(), Described)),
})

const document = Document.parse(
  JSON.parse(readFileSync(new URL('../../http/openapi.snapshot.json', import.meta.url), 'utf8')),
)
const described = Object.values(document.paths).flatMap((methods) => Object.values(methods))

test('the compiler refuses words for a field that the operation does not have', () => {
  const commands: Partial<Commands> = {
    // @ts-expect-error it has no such field
    suspendLicense: { words: 'suspend', options: { email: 'why' } },
    // @ts-expect-error it has no field
    getLog: { words: 'log', options: { email: 'why' } },
  }
  expect(Object.keys(commands)).toHaveLength(2)
})

test('no two operations have the same command', () => {
  expect(new Set(operations.map(({ words }) => words)).size).toBe(operations.length)
})

test('each group of commands, and each command of one word, says what it is about', () => {
  const groups = operations.flatMap(({ words }) => {
    const names = words.split(' ')
    return names.length === 1 ? names : names.slice(1).map((_, index) => names.slice(0, index + 1).join(' '))
  })
  expect(Object.keys(subjects).toSorted()).toStrictEqual([...new Set(groups)].toSorted())
})

test('a field without words of the command line has those of its description', () => {
  const field = { kind: 'number', help: 'How many', nullable: true } as const
  expect(fieldOf(field, undefined, undefined)).toStrictEqual(field)
  expect(fieldOf(field, { option: 'many', help: 'many' }, 'more')).toStrictEqual({
    ...field,
    option: 'many',
    help: 'more',
  })
})

const alternatives = (schema: Schema = {}): Schema[] => {
  const name = schema.$ref?.split('/').at(-1)
  const {
    anyOf = [],
    oneOf = [],
    ...rest
  } = (name === undefined ? schema : document.components.schemas[name]) ?? {}
  return [...[...anyOf, ...oneOf].flatMap(alternatives), rest]
}
const propertiesOf = (schema: Schema | undefined): Record<string, Schema> =>
  Object.fromEntries(alternatives(schema).flatMap(({ properties = {} }) => Object.entries(properties)))

describe.each(operations.map((operation) => [operation.words, operation] as const))('%s', (_, operation) => {
  test('shows columns that its answer has', () => {
    const responses = described.find(({ operationId }) => operationId === operation.id)?.responses
    const answer = (responses?.['200'] ?? responses?.['201'])?.content?.['application/json']?.schema
    const list = propertiesOf(answer)[operation.items ?? 'items']
    const fields = propertiesOf(alternatives(list).find(({ items }) => items)?.items)
    for (const path of Object.values(operation.columns ?? {})) {
      const [first = '', second] = path.split('.')
      expect(Object.keys(fields)).toContain(first)
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
