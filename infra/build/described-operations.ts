/** Writes `src/description/operations.ts` from the OpenAPI document. */
import type { DescribedField, DescribedOperation, FieldKind } from '../../src/description/operation.ts'
import { flagOf } from './sdk-operations.ts'

type Schema = {
  $ref?: string
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  type?: string | string[]
  format?: string
  contentEncoding?: string
  enum?: string[]
  description?: string
}
type Parameter = { in: string; name: string; required?: boolean; description?: string; schema: Schema }
type Operation = {
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, object>
}
type Schemas = Readonly<Record<string, Schema>>
type Document = { components: { schemas: Schemas }; paths: Record<string, Record<string, Operation>> }

/** The text of `src/description/operations.ts`. @param text the OpenAPI document */
export function describedText(text: string): string {
  const { paths, components } = JSON.parse(text) as Document
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation.operationId,
        { method: method.toUpperCase(), path, ...describe(operation, method, components.schemas) },
      ]),
    )
  return [
    '/* oxlint-disable max-lines */',
    "import type { DescribedOperation } from './operation.ts'",
    '',
    '/**',
    ' * The operations of the management interface, from the OpenAPI document;',
    ' * `npx vitest run test/http/openapi.test.ts -u` writes it.',
    ' */',
    `export const operations = ${JSON.stringify(Object.fromEntries(operations))} as const satisfies Record<string, DescribedOperation>`,
    '',
  ].join('\n')
}

/** The parameters that every page has. */
const ofPage = new Set(['cursor', 'limit', 'order'])

function describe(
  operation: Operation,
  method: string,
  schemas: Schemas,
): Omit<DescribedOperation, 'method' | 'path'> {
  const { summary, parameters = [], requestBody } = operation
  const flag = flagOf(operation).trim()
  const query = parameters
    .filter((one) => one.in === 'query' && one.name !== 'dryRun')
    .filter(({ name }) => flag !== 'paged' || !ofPage.has(name))
    .map(({ name, schema, description, required = false }) => {
      return [name, fieldOf({ ...schema, ...(description && { description }) }, required, schemas)]
    })
  const inPath = new Set(parameters.filter((one) => one.in === 'path').map(({ name }) => name))
  const bodies = alternatives(requestBody?.content['application/json']?.schema ?? {}, schemas)
  const required = new Set(bodies.flatMap((body) => body.required ?? []))
  const body = bodies
    .flatMap(({ properties = {} }) => Object.entries(properties))
    // A key type's id is in the path, and the settings of a product also stand beside its other fields.
    .filter(([name]) => !inPath.has(name) && name !== 'settings')
    .map(([name, schema]) => [name, fieldOf(schema, required.has(name), schemas)])
  return {
    summary,
    ...(query.length > 0 && { query: Object.fromEntries(query) as DescribedOperation['query'] & {} }),
    ...(body.length > 0 && { body: Object.fromEntries(body) as DescribedOperation['body'] & {} }),
    ...(flag === 'paged' && { paged: true }),
    ...(flag === 'gated' && { gated: true }),
    ...(parameters.some(({ name }) => name === 'dryRun') && { dryRun: true }),
    ...(method === 'post' && flag === '' && { notRepeatable: true }),
  }
}

/** The schemas of which a value fits one, without references. */
function alternatives(schema: Schema, schemas: Schemas): Schema[] {
  const name = schema.$ref?.split('/').at(-1)
  const { anyOf = [], oneOf = [], ...rest } = (name === undefined ? schema : schemas[name]) ?? {}
  return [...anyOf, ...oneOf].flatMap((one) => alternatives(one, schemas)).concat(rest)
}

function fieldOf(schema: Schema, required: boolean, schemas: Schemas): DescribedField {
  const all = alternatives(schema, schemas)
  const choices = all.flatMap((one) => one.enum ?? [])
  return {
    kind: kindOf(all.filter(({ type = 'null' }) => type !== 'null')),
    help: schema.description ?? all.find(({ description }) => description)?.description ?? '',
    ...(choices.length > 0 && { choices }),
    ...(required && { required }),
    ...(all.some(({ type = [] }) => type.includes('null')) && { nullable: true }),
  }
}

/** @param schemas those of which a value fits one, if it is not null */
function kindOf(schemas: readonly Schema[]): FieldKind {
  const all = (fits: (schema: Schema) => boolean) => schemas.length > 0 && schemas.every(fits)
  if (all(({ type }) => type === 'integer')) return 'number'
  if (all(({ type }) => type === 'boolean')) return 'flag'
  if (all(({ contentEncoding }) => contentEncoding === 'base64')) return 'file'
  if (all(({ format }) => format === 'date-time')) return 'moment'
  if (all(({ items }) => items?.type === 'string')) return 'list'
  if (all(({ properties = {} }) => Object.keys(properties).join() === 'count,unit')) return 'duration'
  if (all(({ type, properties }) => type === 'object' && properties === undefined)) {
    const isOfTexts = all(({ additionalProperties: of }) => typeof of !== 'object' || of.anyOf === undefined)
    return isOfTexts ? 'pairs' : 'values'
  }
  return all(({ type }) => type === 'object' || type === 'array') ? 'json' : 'text'
}
