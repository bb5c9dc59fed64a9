/**
 * Guarantee: the API reference says what every operation, parameter and field means, and shows an example of every
 * successful answer, which has the described shape.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { isId } from '../../src/credentials/id.ts'
import { fields } from '../../src/http/openapi/field-words.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { createAnswerCheck } from '../harness/described.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  description: z.string().optional(),
  example: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
})
const Content = z.looseObject({ schema: Schema, example: z.unknown().optional() })
const Parameter = z.looseObject({ name: z.string(), description: z.string().optional(), schema: Schema })
const Operation = z.looseObject({
  operationId: z.string(),
  summary: z.string().default(''),
  description: z.string().default(''),
  parameters: z.array(Parameter).default([]),
  responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), Content).default({}) })),
})
const Paths = z.record(z.string(), z.record(z.string(), Operation))
const Description = z.looseObject({
  paths: Paths,
  webhooks: Paths,
  components: z.looseObject({ schemas: z.record(z.string(), Schema) }),
})

let api: TestApi
let document: object
let description: z.infer<typeof Description>
let operations: z.infer<typeof Operation>[]
beforeAll(async () => {
  api = await openTestApi()
  document = z.looseObject({}).parse((await api.ask('GET', '/v1/openapi.json')).body)
  description = Description.parse(document)
  const places = [description.paths, description.webhooks].flatMap((paths) => Object.values(paths))
  operations = places.flatMap((methods) => Object.values(methods))
})
afterAll(() => api.close())

const saysLittle = (name: string, words = ''): boolean =>
  words.split(' ').length < 2 || words.replaceAll(' ', '').toLowerCase() === name.toLowerCase()

test('every operation has a summary and a description, which says more', () => {
  const silent = operations.filter(
    ({ summary, description: more }) => saysLittle(summary, more) || summary === '',
  )
  expect(silent.map(({ operationId }) => operationId)).toStrictEqual([])
})

test('every parameter has a description', () => {
  const silent = operations.flatMap(({ operationId, parameters }) =>
    parameters
      .filter(({ name, description: words }) => saysLittle(name, words))
      .map(({ name }) => `${operationId} ${name}`),
  )
  expect(silent).toStrictEqual([])
})

type Field = { place: string; name: string; words: string | undefined; example: unknown }

/** All fields below a part of the document. What is only a reference has the words of what it refers to. */
function* fieldsIn(part: unknown, place: string): Generator<Field> {
  if (typeof part !== 'object' || part === null) return
  const { properties } = Schema.safeParse(part).data ?? {}
  for (const [name, property] of Object.entries(properties ?? {})) {
    const { $ref, description: own, example } = Schema.parse(property)
    const { schemas } = description.components
    yield { place, name, words: own ?? schemas[$ref?.split('/').at(-1) ?? '']?.description, example }
  }
  for (const [key, inner] of Object.entries(part)) {
    if (key !== 'example' && key !== 'examples') yield* fieldsIn(inner, `${place}/${key}`)
  }
}

const everyField = (): Field[] => {
  const { paths, webhooks, components } = description
  return [
    ...fieldsIn(paths, 'paths'),
    ...fieldsIn(webhooks, 'webhooks'),
    ...fieldsIn(components, 'components'),
  ]
}

test('every field of a request, an answer and a webhook has a description', () => {
  const silent = everyField().filter(({ name, words }) => saysLittle(name, words))
  expect(silent.map(({ place, name }) => `${place} ${name}`)).toStrictEqual([])
})

test('the words that fields of one name share are all used', () => {
  const known = [...everyField(), ...operations.flatMap(({ parameters }) => parameters.map(parameterAsField))]
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const unused = Object.entries(fields).filter(
    ([name, words]) =>
      !known.some((one) => camel(one.name) === name && one.words?.startsWith(words.description)),
  )
  expect(unused.map(([name]) => name)).toStrictEqual([])
})

const parameterAsField = ({ name, description: words, schema }: z.infer<typeof Parameter>): Field => ({
  place: 'parameters',
  name,
  words,
  example: schema.example,
})

/** The successful JSON answers, each with its example. */
const successes = () =>
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, responses }]) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([status, { content }]) =>
          Object.entries(content)
            .filter(([type]) => /[/+]json$/.test(type))
            .map(([type, { schema, example }]) => ({
              title: `${operationId} ${status} ${type}`,
              answered: { method, path, status, type },
              example:
                example ?? description.components.schemas[schema.$ref?.split('/').at(-1) ?? '']?.example,
            })),
        ),
    ),
  )

test('every successful JSON answer has an example, which has the described shape', () => {
  const check = createAnswerCheck(document)
  const wrong = successes().flatMap(({ title, answered: { method, path, status, type }, example }) => {
    if (example === undefined) return [`${title}: no example`]
    const url = path.replace(/\{\w+\}/g, 'any')
    try {
      check(method.toUpperCase(), url, { status: Number(status), contentType: type, body: example })
      return []
    } catch (error) {
      return [`${title}: ${String(error)}`]
    }
  })
  expect(successes().length).toBeGreaterThan(150)
  expect(wrong).toStrictEqual([])
})

test('examples are of one vendor: its ids have the right form, and its addresses belong to nobody', () => {
  const text = JSON.stringify(successes().map(({ example }) => example))
  const ids = [...text.matchAll(/"((?:lic|ins|cus|cnf|tok|whd|whr|tp|req|mem|sal|aud)_[0-9a-z]{8,})"/g)]
  const malformed = ids.map(([, id = '']) => id).filter((id) => !isId(id.split('_')[0] as 'lic', id))
  expect(malformed).toStrictEqual([])
  const addresses = [...text.matchAll(/[\w.]+@([\w-]+\.[\w.-]+)/g)].map(([, domain = '']) => domain)
  expect(addresses.length).toBeGreaterThan(10)
  expect(addresses.filter((domain) => !/(?:^|\.)example(?:\.com)?$/.test(domain))).toStrictEqual([])
  const licenseKeys = new Set([...text.matchAll(/ACME-[0-9A-Z-]{20,}/g)].map(([key]) => key))
  expect([...licenseKeys]).toStrictEqual(['ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7'])
})
