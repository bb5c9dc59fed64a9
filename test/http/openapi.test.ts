/**
 * Guarantee: the OpenAPI document is part of the contract: it is complete, passes a linter, and changes only on
 * purpose.
 */
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { describedText } from '../../infra/build/described-operations.ts'
import { withOperations } from '../../infra/build/http-operations.ts'
import { operationsText } from '../../infra/build/sdk-operations.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { statuses } from './documented-statuses.ts'

const Operation = z.looseObject({
  operationId: z.string().min(1),
  tags: z.array(z.string()).min(1),
  summary: z.string().min(1),
  security: z.array(z.unknown()).optional(),
  requestBody: z.looseObject({ content: z.record(z.string(), z.unknown()) }).optional(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).default([]),
  responses: z.record(
    z.string(),
    z.looseObject({
      description: z.string().min(1),
      headers: z.record(z.string(), z.unknown()).optional(),
      content: z.record(z.string(), z.looseObject({ schema: z.looseObject({}) })).optional(),
    }),
  ),
})
const Description = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
  tags: z.array(z.looseObject({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
})

let api: TestApi
let text: string
let operations: { route: string; operation: z.infer<typeof Operation> }[]
let description: z.infer<typeof Description>
beforeAll(async () => {
  api = await openTestApi()
  const answer = await api.ask('GET', '/v1/openapi.json')
  expect(answer.status).toBe(200)
  text = answer.text
  description = Description.parse(answer.body)
  operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
})
afterAll(() => api.close())

test('the document is OpenAPI 3.1 and has the version 1.0.0', () => {
  expect(description.openapi).toMatch(/^3\.1\.\d+$/)
  expect(description.info.version).toBe('1.0.0')
})

test('the document passes the Redocly linter', async () => {
  const directory = temporaryDirectory()
  try {
    const file = join(directory, 'openapi.json')
    writeFileSync(file, text)
    const require = createRequire(import.meta.url)
    const manifest = require.resolve('@redocly/cli/package.json')
    const { bin } = z.object({ bin: z.object({ redocly: z.string() }) }).parse(require(manifest))
    const config = join(import.meta.dirname, 'redocly.yaml')
    const args = [join(dirname(manifest), bin.redocly), 'lint', file, '--config', config, '--format', 'json']
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: directory }).catch(
      (failed: unknown) => z.object({ stdout: z.string() }).parse(failed),
    )
    const found = z
      .object({ problems: z.array(z.looseObject({ ruleId: z.string(), message: z.string() })) })
      .parse(JSON.parse(stdout))
    expect(found.problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toStrictEqual([])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('every operation has a unique operationId, a declared tag and a summary', () => {
  const names = operations.map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
  const tags = description.tags.map(({ name }) => name)
  for (const { operation } of operations) expect(tags).toEqual(expect.arrayContaining(operation.tags))
})

const takesKey = ({ parameters }: z.infer<typeof Operation>) =>
  parameters.some((parameter) => parameter.name === 'Idempotency-Key' && parameter.in === 'header')

const isGated = ({ parameters }: z.infer<typeof Operation>) =>
  parameters.some((parameter) => parameter.name === 'X-Service-Confirmation')

test('no operation names a scope twice', () => {
  const ways = operations.flatMap(({ operation }) => operation.security ?? [])
  const lists = ways.flatMap((way) => Object.values(z.record(z.string(), z.array(z.string())).parse(way)))
  expect(lists.filter((list) => new Set(list).size < list.length)).toStrictEqual([])
})

test('every POST with a token documents Idempotency-Key and its replay, except gated and listed ones', () => {
  const posts = operations.filter(
    ({ route, operation }) => /^POST \/v1\//.test(route) && '401' in operation.responses,
  )
  const gated = operations.filter(({ operation }) => isGated(operation))
  expect(gated.filter(({ route }) => route.startsWith('POST '))).not.toHaveLength(0)
  for (const { operation } of gated) {
    expect(takesKey(operation)).toBe(false)
    expect(operation.description).toContain('An `Idempotency-Key` is ignored')
  }
  const passing = posts.filter(({ operation }) => !takesKey(operation) && !isGated(operation))
  expect(passing.map(({ route }) => route)).toStrictEqual([
    'POST /v1/logout',
    'POST /v1/products/{productId}/mail/test',
    'POST /v1/mail-templates/preview',
    'POST /v1/licenses/search',
    'POST /v1/webhook-endpoints/{id}/test',
    'POST /v1/licenses/validate',
    'POST /v1/licenses/heartbeat',
    'POST /v1/licenses/consume',
    'POST /v1/licenses/hold',
    'POST /v1/licenses/hold/commit',
    'POST /v1/licenses/hold/release',
  ])
  const taking = operations.filter(({ operation }) => takesKey(operation))
  expect(taking.filter(({ route }) => !route.startsWith('POST '))).toStrictEqual([])
  for (const { operation } of taking) {
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
    expect(successes).not.toHaveLength(0)
    for (const [, { headers }] of successes) expect(headers).toHaveProperty('Idempotent-Replay')
  }
})

test('every JSON response has a schema', () => {
  const unknown = operations.flatMap(({ route, operation }) =>
    Object.entries(operation.responses)
      .filter(([, { content }]) => JSON.stringify(content?.['application/json']?.schema) === '{}')
      .map(([status]) => `${route} ${status}`),
  )
  expect(unknown).toStrictEqual([])
})

test('every error response references the error schema of its interface', () => {
  for (const { route, operation } of operations) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (Number(status) < 400 || route === 'GET /readyz') continue
      const told =
        status === '400' && /^POST \/v1\/login\/device/.test(route) ? 'DeviceLoginError' : undefined
      const refusesWithSettings = /productId\}\/validate$/.test(route) && ['404', '422'].includes(status)
      const refusesWithReason =
        (/productId\}\/(?:activate|deactivate|heartbeat|consume|uses|allowance)$/.test(route) &&
          ['402', '404', '422'].includes(status)) ||
        (/productId\}\/relay/.test(route) && ['404', '409', '422'].includes(status))
      const named =
        told ??
        (refusesWithReason ? 'ClientRefusal' : undefined) ??
        (refusesWithSettings ? 'ClientValidateRefusal' : undefined) ??
        (/v1\/licenses\/(?:activate|validate|heartbeat|deactivate|consume|hold(?:\/commit|\/release)?)$/.test(
          route,
        )
          ? 'RuntimeError'
          : 'Error')
      expect({ route, status, schema: content?.['application/json']?.schema }).toStrictEqual({
        route,
        status,
        schema: { $ref: `#/components/schemas/${named}` },
      })
    }
  }
})

test('every operation of the contract documents all its statuses', () => {
  const described = Object.fromEntries(
    operations.map(({ route, operation }) => [
      route,
      Object.keys(operation.responses)
        .map(Number)
        .filter((status) => status < 429 && status !== 405),
    ]),
  )
  const keyed = new Set(operations.filter(({ operation }) => takesKey(operation)).map(({ route }) => route))
  // A query parameter that the route does not know; what providers add to their addresses is ignored.
  const strict = operations.filter(({ operation }) => !operation.tags.includes('Notifications'))
  const refusing = new Set(strict.map(({ route }) => route))
  const expected = Object.entries(statuses).map(([route, own]) => {
    const more = [...(refusing.has(route) ? [400] : []), ...(keyed.has(route) ? [409, 422] : [])]
    return [route, [...new Set([...own, ...more])].sort()]
  })
  expect(described).toStrictEqual(Object.fromEntries(expected))
})

test('every client call documents its rate limit headers', () => {
  const calls = operations.filter(
    ({ operation }) => operation.tags.includes('Client') && '401' in operation.responses,
  )
  expect(calls).toHaveLength(14)
  for (const { operation } of calls) {
    expect(Object.keys(operation.responses['429']?.headers ?? {})).toStrictEqual([
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'X-Service-Limit-Scope',
      'X-Service-Limit',
      'X-Service-Remaining',
      'Error-Code',
      'Request-Id',
    ])
  }
})

test('routes without a token have empty security, and all others document 401', () => {
  const open = operations
    .filter(({ operation }) => operation.security?.length === 0)
    .map(({ route }) => route)
  expect(open.sort()).toStrictEqual([
    'GET /livez',
    'GET /readyz',
    'GET /v1/openapi.json',
    'GET /v1/transparency/checkpoint',
    'GET /v1/transparency/consistency',
    'GET /v1/transparency/log',
    'GET /{tenantId}/.well-known/service-keys',
    'GET /{tenantId}/{productId}/pricing',
    'GET /{tenantId}/{productId}/withdrawn',
    'POST /v1/login/device',
    'POST /v1/login/device/token',
    'POST /webhooks/gumroad/{tenantId}',
    'POST /webhooks/gumroad/{tenantId}/resources',
    'POST /webhooks/lemonsqueezy/{tenantId}',
    'POST /webhooks/mail/{tenantId}',
    'POST /webhooks/paddle/{tenantId}',
    'POST /webhooks/polar/{tenantId}',
  ])
  for (const { route, operation } of operations) {
    expect({ route, refuses: '401' in operation.responses }).toStrictEqual({
      route,
      refuses: !open.includes(route),
    })
  }
})

test('the document equals the committed snapshot; for an intended change, run vitest with -u', async () => {
  const snapshot = join(import.meta.dirname, 'openapi.snapshot.json')
  await expect(await formatted(snapshot, text)).toMatchFileSnapshot(snapshot)
})

test('the server client of the SDK has every operation that a token may call; vitest with -u writes them', async () => {
  const file = join(import.meta.dirname, '../../src/sdk/javascript/server/operations.ts')
  await expect(await formatted(file, operationsText(text))).toMatchFileSnapshot(file)
  for (const { route, operation } of operations) {
    const body = operation.requestBody?.content['application/json'] as Described | undefined
    const inBody = Object.keys(body?.schema?.properties ?? {})
    // A key type's id cannot be changed: its body may only repeat the path.
    const elsewhere = operation.parameters.filter(
      ({ name }) => inBody.includes(name) && operation.operationId !== 'updateKeyType',
    )
    expect({ route, elsewhere }).toStrictEqual({ route, elsewhere: [] })
    // A POST, PUT or PATCH of the client has all fields that are not in the path in its body; `dryRun` is a method.
    const isWrite = /^(?:POST|PUT|PATCH) \/v1/.test(route)
    const query = operation.parameters.filter((one) => one.in === 'query' && one.name !== 'dryRun')
    expect({ route, query: isWrite ? query : [] }).toStrictEqual({ route, query: [] })
  }
})

test('the operations that the commands and the tools use are those of the document; vitest with -u writes them', async () => {
  const file = join(import.meta.dirname, '../../src/description/operations.ts')
  await expect(await formatted(file, describedText(text))).toMatchFileSnapshot(file)
})

test('the reference page lists every operation; vitest with -u writes its tables', async () => {
  const file = join(import.meta.dirname, '../../docs/reference/http.md')
  const page = withOperations(readFileSync(file, 'utf8'), text)
  await expect(await formatted(file, page)).toMatchFileSnapshot(file)
})

type Described = { schema?: { properties?: object } }

/** Formatted as the repository's formatter does, so that its check passes on the snapshot. */
async function formatted(path: string, json: string): Promise<string> {
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))
  const child = promisify(execFile)(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    maxBuffer: 16 * 1024 * 1024,
  })
  child.child.stdin?.end(json)
  return (await child).stdout
}

test('every response documents Request-Id, every 405 Allow, and every 429 and 503 Retry-After', () => {
  for (const { route, operation } of operations) {
    for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
      const names = Object.keys(headers)
      expect({ route, status, names }).toStrictEqual({
        route,
        status,
        names: expect.arrayContaining(['Request-Id']) as string[],
      })
      if (['429', '503'].includes(status))
        expect({ route, status, names }).toMatchObject({
          names: expect.arrayContaining(['Retry-After']) as string[],
        })
    }
    expect({ route, ...operation.responses['405'] }).toMatchObject({ route, headers: { Allow: {} } })
  }
})

test('a method that is not allowed gets the documented 405', async () => {
  for (const { route } of operations) {
    const [, path = ''] = route.split(' ')
    const answer = await api.ask('DELETE', path.replace(/\{\w+\}/g, 'default'))
    if (answer.status !== 405) continue
    expect(answer.headers.allow).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/)
    const envelopes = Object.values(description.paths[path] ?? {}).map(
      ({ responses }) => responses['405']?.content,
    )
    expect(envelopes).not.toContain(undefined)
  }
})

test('every pattern compiles with and without the u flag', () => {
  const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, found = '']) =>
    z.string().parse(JSON.parse(found)),
  )
  expect(patterns.length).toBeGreaterThan(5)
  for (const pattern of new Set(patterns)) {
    // Without the u flag, \p means the letter p.
    expect(pattern).not.toMatch(/\\[pP]/)
    for (const flags of ['', 'u']) expect(() => new RegExp(pattern, flags)).not.toThrow()
  }
})
