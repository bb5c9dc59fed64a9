import fc from 'fast-check'
import { z } from 'zod'
import type { Method } from '../harness/api.ts'
import { fitting, type Resolve } from './schema.ts'

const Operation = z.object({
  parameters: z
    .array(z.object({ in: z.string(), name: z.string(), schema: z.unknown().optional() }))
    .optional(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
})
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })
type Operation = z.infer<typeof Operation>

export type FuzzedRequest = {
  method: Method
  url: string
  token: string | undefined
  raw: string | undefined
  headers: Record<string, string>
}

/** Values for requests, in addition to the OpenAPI document. */
export type Known = {
  /** Ids of existing things, so that not every path gets 404. */
  ids: readonly string[]
  /** Tokens with all, few or no scopes. */
  tokens: readonly (string | undefined)[]
  /** Operations that are not called, as `METHOD /path`. */
  except: readonly string[]
}

/** Requests that match an OpenAPI document exactly, nearly, or not at all. */
export function requests(description: object, known: Known): fc.Arbitrary<FuzzedRequest> {
  const { paths, ...rest } = Description.parse(description)
  const resolve: Resolve = (reference) =>
    reference
      .split('/')
      .slice(1)
      .reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), { paths, ...rest })
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => !known.except.includes(`${method.toUpperCase()} ${path}`))
      .map(([method, operation]) =>
        requestTo(path, method.toUpperCase() as Method, operation, known, resolve),
      ),
  )
  return fc.oneof(...operations)
}

function requestTo(
  path: string,
  method: Method,
  operation: Operation,
  { ids, tokens }: Known,
  resolve: Resolve,
): fc.Arbitrary<FuzzedRequest> {
  const parameters = path.match(/\{\w+\}/g) ?? []
  const queried = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const schema = operation.requestBody?.content['application/json']?.schema
  return fc.record({
    method: mostly(fc.constant(method), fc.constantFrom<Method>('GET', 'POST', 'PATCH', 'PUT', 'DELETE')),
    url: fc
      .tuple(
        fc.tuple(...parameters.map(() => mostly(fc.constantFrom(...ids), oddSegment))),
        mostly(
          query(queried.map(({ name, schema: type }) => [name, fitting(type, resolve)])),
          query([['x', oddText]]),
        ),
      )
      .map(([values, search]) => {
        const filled = parameters.reduce(
          (url, parameter, index) => url.replace(parameter, escaped(values[index])),
          path,
        )
        return search === '' ? filled : `${filled}?${search}`
      }),
    token: mostly(fc.constant(tokens[0]), fc.constantFrom(...tokens)),
    raw: schema === undefined ? mostly(fc.constant(undefined), anyBody) : body(schema, resolve),
    headers: mostly(fc.constant({}), oddHeaders),
  })
}

/** The usual value in nine of ten cases. */
const mostly = <A, B>(usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd })

const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '\0',
    '%00',
    "' or 1=1 --",
    '__proto__',
    'constructor',
    '‮',
    'lic_',
    'null',
    '-1',
    '1e999',
  ),
  fc.constant('x'.repeat(5000)),
)

/** Dot segments would be removed from the path before sending. */
const oddSegment = oddText.filter((text) => text !== '.' && text !== '..')

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  oddText,
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e308,
    0.1,
    [],
    {},
    [[]],
    '\ud800',
  ),
)

const query = (fields: [string, fc.Arbitrary<unknown>][]): fc.Arbitrary<string> =>
  fc
    .record(Object.fromEntries(fields.map(([name, value]) => [name, mostly(value, oddText)])), {
      requiredKeys: [],
    })
    .map((values) =>
      Object.entries(values)
        .map(([name, value]) => `${escaped(name)}=${escaped(String(value))}`)
        .join('&'),
    )

function escaped(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '')
  return encodeURIComponent(text.toWellFormed())
}

/** A matching body, one with an unexpected value somewhere, half of one, or any text. */
function body(schema: unknown, resolve: Resolve): fc.Arbitrary<string | undefined> {
  const fits = fitting(schema, resolve)
  return fc.oneof(
    { weight: 6, arbitrary: fits.map((value) => JSON.stringify(value)) },
    {
      weight: 6,
      arbitrary: fc
        .tuple(fits, fc.nat(), oddValue)
        .map(([value, where, odd]) => JSON.stringify(spoilt(value, where, odd))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fits, fc.double({ min: 0, max: 1, noNaN: true }))
        .map(([value, part]) => half(JSON.stringify(value), part)),
    },
    { weight: 1, arbitrary: anyBody },
  )
}

const half = (text: string, part: number): string => text.slice(0, Math.floor(text.length * part))

const anyBody: fc.Arbitrary<string | undefined> = fc.oneof(
  fc.constant(undefined),
  oddValue.map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.constantFrom(
    '',
    '{',
    '[1,',
    '{"a":1}}',
    '{"__proto__":{"a":1}}',
    'NaN',
    `${'['.repeat(2000)}${']'.repeat(2000)}`,
  ),
)

/** The value with one part replaced, or with one more field, chosen by `where`. */
function spoilt(value: unknown, where: number, odd: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item: unknown, index) =>
      index === where % value.length ? spoilt(item, where >> 3, odd) : item,
    )
  }
  if (!isRecord(value)) return odd
  const names = Object.keys(value)
  const name = names[where % (names.length + 1)]
  return name === undefined
    ? { ...value, surplus: odd }
    : { ...value, [name]: spoilt(value[name], where >> 3, odd) }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const headerValue = fc.string({ maxLength: 40 }).map((value) => value.replaceAll(/[^\x20-\x7e]/g, '?'))

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'content-type': fc.oneof(
      headerValue,
      fc.constantFrom('text/plain', 'application/xml', 'application/json; charset=latin1'),
    ),
    'idempotency-key': headerValue,
    'x-service-confirmation': headerValue,
    accept: headerValue,
    authorization: headerValue,
  },
  { requiredKeys: [] },
)
