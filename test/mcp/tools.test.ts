/** Guarantee: each tool sends a request that the OpenAPI document describes, and says truly what it may do. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { allTools } from '../../src/mcp/server.ts'
import { tool } from '../../src/mcp/tool.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { everyArgument } from './every-tool.ts'

const Operation = z.looseObject({
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).default([]),
  requestBody: z
    .object({ content: z.object({ 'application/json': z.object({ schema: z.looseObject({}) }) }) })
    .optional(),
})
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

let api: TestApi
let document: z.infer<typeof Document>
/** What is read by a POST, whose body says what is looked for or shown. */
const posted: ReadonlySet<string> = new Set(['/v1/licenses/search', '/v1/mail-templates/preview'])

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'idn-email': /@/ } })
beforeAll(async () => {
  api = await openTestApi()
  document = Document.parse(api.app.swagger())
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: 'openapi' })
})
afterAll(() => api.close())

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)

function operationOf(method: string, path: string): z.infer<typeof Operation> | undefined {
  const [, methods] =
    Object.entries(document.paths)
      .toSorted(([left], [right]) => left.split('{').length - right.split('{').length)
      .find(([template]) => patternOf(template).test(path)) ?? []
  return methods?.[method.toLowerCase()]
}

test('there are arguments here for every tool, with all that it takes', () => {
  expect(Object.keys(everyArgument)).toEqual(allTools.map(({ name }) => name))
  for (const { name, input } of allTools)
    expect(Object.keys(everyArgument[name] ?? {}).toSorted(), name).toEqual(
      Object.keys(input.shape).toSorted(),
    )
})

test('every tool is in the documentation, and every documented tool exists', () => {
  const page = readFileSync(new URL('../../docs/reference/mcp.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('## Tools')
  const documented = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => Array.from(line.split('|')[1]?.matchAll(/`(\w+)`/g) ?? [], ([, name]) => name))
  expect(documented.toSorted()).toEqual(allTools.map(({ name }) => name).toSorted())
})

test('the compiler refuses an argument that the operation does not take', () => {
  const definition = { name: '', title: '', description: '', effect: 'reads' } as const
  const sale = z.string()
  // @ts-expect-error its operation has no `sale`, and it says no other name for it
  tool({ ...definition, operation: 'getSale', input: { sale } })
  // @ts-expect-error its operation has no `sale`
  tool({ ...definition, operation: 'getSale', input: { sale }, names: { sale: 'sale' } })
  const { request } = tool({ ...definition, operation: 'getSale', input: { sale }, names: { sale: 'id' } })
  expect(request({ sale: 'sal_1' })).toStrictEqual({ method: 'GET', path: '/v1/sales/sal_1' })
})

describe.each(allTools.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  test('sends what its operation describes', () => {
    const { method, path, query = {}, body } = tool.request(everyArgument[name])
    const operation = operationOf(method, path)
    if (!operation) throw new Error(`${method} ${path} is not described`)
    const described = operation.parameters.flatMap((parameter) =>
      parameter.in === 'query' ? [parameter.name] : [],
    )
    expect(described).toEqual(expect.arrayContaining(Object.keys(query)))
    if (body === undefined) return
    const schema = operation.requestBody?.content['application/json'].schema
    const fits = ajv.compile({ ...schema, components: document.components })
    expect(fits(body), ajv.errorsText(fits.errors)).toBe(true)
  })

  test('refuses an argument that it does not know', () => {
    expect(() => tool.request({ ...everyArgument[name], surprise: 1 })).toThrow(/surprise/)
  })

  test('says that it only reads exactly if it does', () => {
    const { method, path } = tool.request(everyArgument[name])
    const reads = method === 'GET' || posted.has(path)
    expect(tool.effect === 'reads').toBe(reads)
  })
})
