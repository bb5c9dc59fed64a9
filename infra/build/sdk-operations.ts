/** Writes the parts of the server client that follow from the OpenAPI document. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import { capitalized } from '../../src/sentence.ts'

type Operation = {
  operationId: string
  security?: Record<string, unknown>[]
  parameters?: { in: string; name: string }[]
  responses: Record<string, { content?: Record<string, unknown> }>
}
type Document = { paths: Record<string, Record<string, Operation>> }

/** POSTs that take no Idempotency-Key, and change nothing, or nothing more when they are sent again: their bodies name what they do. */
const safe = new Set([
  ...['validateLicense', 'searchLicenses'],
  ...['consumeMeter', 'holdMeter', 'commitHold', 'releaseHold'],
])

/** What a call of it needs: an approval, or an Idempotency-Key; whether it is a list; or that it may be sent again. */
export const flagOf = ({ operationId, parameters = [] }: Operation): string => {
  const names = new Set(parameters.map(({ name }) => name))
  if (names.has('X-Service-Confirmation')) return ' gated'
  if (names.has('Idempotency-Key')) return ' idempotent'
  // The feed of events has a cursor and no order: its readers continue later, from the cursor of the last page.
  if (names.has('cursor') && names.has('order')) return ' paged'
  return safe.has(operationId) ? ' safe' : ''
}

/** The operations that a token may call. */
function* operationsIn({
  paths,
}: Document): Generator<{ method: string; path: string; operation: Operation }> {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const takesToken = operation.security?.some((one) => 'accessToken' in one) ?? true
      if (takesToken) yield { method: method.toUpperCase(), path, operation }
    }
  }
}

/** The text of `src/sdk/javascript/server/operations.ts`. @param document the text of the OpenAPI document */
export function operationsText(document: string): string {
  const lines = [...operationsIn(JSON.parse(document) as Document)].map(
    ({ method, path, operation }) => `  ${operation.operationId}: '${method} ${path}${flagOf(operation)}',`,
  )
  const dryRuns = [...operationsIn(JSON.parse(document) as Document)].flatMap(({ operation }) =>
    operation.parameters?.some(({ name }) => name === 'dryRun') ? `  | '${operation.operationId}'` : [],
  )
  return [
    '/**',
    ' * The operations that a token may call, from the OpenAPI document; `npx vitest run test/http/openapi.test.ts -u` writes it.',
    ' * `gated` needs an approval, `idempotent` takes an Idempotency-Key, `paged` is a list, `safe` may be sent again.',
    ' */',
    'export const operations = {',
    ...lines.toSorted(),
    '} as const',
    '',
    '/** The operations that say what they would change. */',
    'export type DryRunId =',
    ...dryRuns.toSorted(),
    '',
  ].join('\n')
}

/** Writes the types of all operations' fields into the package. @param directory `dist/sdk/server` */
export async function writeDescribed(documentFile: string, directory: string): Promise<void> {
  const generated = join(directory, 'generated')
  await createClient({
    input: documentFile,
    output: { path: generated, module: { extension: '.js' } },
    plugins: ['@hey-api/typescript'],
    logs: { level: 'silent', file: false },
  })
  const types = readFileSync(join(generated, 'types.gen.ts'), 'utf8')
  rmSync(generated, { recursive: true })
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'fields.d.ts'), types)
  const document = JSON.parse(readFileSync(documentFile, 'utf8')) as Document
  const lines = [...operationsIn(document)].map(({ operation }) => {
    const { operationId: id, responses } = operation
    const name = capitalized(id)
    const [status = '200', answer] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? []
    const isJson = answer?.content === undefined || 'application/json' in answer.content
    return `  ${id}: { input: Given<f.${name}Data>; answer: ${isJson ? `f.${name}Responses[${status}]` : 'Uint8Array'} }`
  })
  const text = [
    "import type * as f from './fields.js'",
    'type Part<Data, Name extends PropertyKey> = Data extends { [N in Name]?: infer Fields }',
    '  ? [NonNullable<Fields>] extends [never] ? unknown : NonNullable<Fields> : unknown',
    "type Given<Data> = Part<Data, 'path'> & Omit<Part<Data, 'query'>, 'dryRun'> & Part<Data, 'body'>",
    'export interface Described {',
    ...lines,
    '}',
    '',
  ]
  writeFileSync(join(directory, 'described.d.ts'), text.join('\n'))
}
