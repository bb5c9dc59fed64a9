/**
 * Guarantee: the OpenAPI document is part of the contract: it is complete, passes a linter, and changes only on
 * purpose.
 */
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { operationsText } from '../../build/sdk-operations.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { temporaryDirectory } from '../harness/ledger.ts'

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
    'POST /v1/licenses/search',
    'POST /v1/webhook-endpoints/{id}/test',
    'POST /v1/licenses/validate',
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
        /productId\}\/(?:de)?activate$/.test(route) && ['402', '404', '422'].includes(status)
      const named =
        told ??
        (refusesWithReason ? 'ClientRefusal' : undefined) ??
        (refusesWithSettings ? 'ClientValidateRefusal' : undefined) ??
        (/v1\/licenses\/(?:activate|validate|deactivate)$/.test(route) ? 'RuntimeError' : 'Error')
      expect({ route, status, schema: content?.['application/json']?.schema }).toStrictEqual({
        route,
        status,
        schema: { $ref: `#/components/schemas/${named}` },
      })
    }
  }
})

/**
 * The contract's statuses of each operation. Each may also return 405, 429, 500 and 503, and 409 and 422 where an
 * Idempotency-Key is accepted.
 */
const statuses: Record<string, number[]> = {
  'GET /metrics': [200, 401, 404],
  'GET /livez': [200],
  'GET /readyz': [200],
  'GET /v1/openapi.json': [200, 304],
  'GET /v1/tokens/verify': [200, 401, 403],
  'GET /v1/tokens': [200, 400, 401, 403],
  'POST /v1/tokens/{id}/revoke': [200, 202, 400, 401, 403, 404, 409],
  'POST /v1/login/device': [200, 400],
  'POST /v1/login/device/token': [200, 400],
  'POST /v1/logout': [200, 401, 403],
  'GET /v1/confirmations/{id}': [200, 401, 403, 404],
  'GET /v1/products': [200, 400, 401, 403],
  'POST /v1/products': [201, 400, 401, 402, 403, 409, 422],
  'GET /v1/products/{productId}': [200, 400, 401, 403, 404],
  'PATCH /v1/products/{productId}': [200, 400, 401, 403, 404],
  'GET /v1/products/{productId}/mail': [200, 400, 401, 403, 404],
  'PUT /v1/products/{productId}/mail': [200, 400, 401, 403, 404],
  'POST /v1/products/{productId}/mail/test': [200, 400, 401, 403, 404, 422],
  'GET /v1/portal': [200, 401, 403],
  'PUT /v1/portal': [200, 400, 401, 403, 422],
  'PUT /v1/portal/logo': [200, 400, 401, 403, 422],
  'DELETE /v1/portal/logo': [200, 401, 403],
  'GET /v1/products/{productId}/key-types': [200, 400, 401, 403, 404],
  'POST /v1/products/{productId}/key-types': [201, 400, 401, 403, 404, 409, 422],
  'PATCH /v1/products/{productId}/key-types/{keyTypeId}': [200, 400, 401, 403, 404, 422],
  'DELETE /v1/products/{productId}/key-types/{keyTypeId}': [200, 202, 400, 401, 403, 404, 409],
  'GET /v1/licenses': [200, 400, 401, 403],
  'POST /v1/licenses': [201, 400, 401, 403, 404, 409, 422],
  'GET /v1/licenses/{id}': [200, 400, 401, 403, 404],
  'GET /v1/licenses/{id}/history': [200, 400, 401, 403, 404],
  'GET /v1/licenses/{id}/explain': [200, 400, 401, 403, 404],
  'GET /v1/licenses/{id}/evidence': [200, 400, 401, 403, 404],
  'PATCH /v1/licenses/{id}': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/suspend': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/resume': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/send-key': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/revoke': [200, 202, 400, 401, 403, 404, 409],
  'GET /v1/customers': [200, 400, 401, 403],
  'POST /v1/customers': [201, 400, 401, 403, 409, 422],
  'GET /v1/customers/{id}': [200, 400, 401, 403, 404],
  'POST /v1/customers/{id}/link-license': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/customers/{id}/unlink-license': [200, 400, 401, 403, 404, 409, 422],
  'PATCH /v1/customers/{id}': [200, 400, 401, 403, 404, 409],
  'GET /v1/customers/{id}/licenses': [200, 400, 401, 403, 404],
  'GET /v1/customers/{id}/sales': [200, 400, 401, 403, 404],
  'PATCH /v1/customers/{id}/entitlements': [200, 400, 401, 403, 404],
  'DELETE /v1/customers/{id}': [200, 202, 400, 401, 403, 404, 409],
  'GET /v1/usage': [200, 400, 401, 403, 404, 422],
  'GET /v1/insights': [200, 400, 401, 403, 422],
  'GET /v1/licenses/{id}/refusals': [200, 400, 401, 403, 404],
  'GET /v1/refusals': [200, 400, 401, 403, 404],
  'GET /v1/refusals/days': [200, 400, 401, 403, 404],
  'GET /v1/refusals/unknown-keys': [200, 400, 401, 403, 404],
  'GET /v1/sdk-key': [200, 202, 400, 401, 403, 409],
  'POST /v1/sdk-key/rotate': [200, 202, 400, 401, 403, 409],
  'GET /v1/webhook': [200, 401, 403],
  'PUT /v1/webhook': [200, 202, 400, 401, 403, 422],
  'GET /v1/webhook-endpoints': [200, 401, 403],
  'POST /v1/webhook-endpoints': [200, 202, 400, 401, 403, 409, 422],
  'GET /v1/webhook-endpoints/{id}': [200, 400, 401, 403, 404],
  'PATCH /v1/webhook-endpoints/{id}': [200, 202, 400, 401, 403, 404, 422],
  'DELETE /v1/webhook-endpoints/{id}': [200, 202, 400, 401, 403, 404],
  'POST /v1/webhook-endpoints/{id}/rotate-secret': [200, 202, 400, 401, 403, 404],
  'POST /v1/webhook-endpoints/{id}/test': [200, 400, 401, 403, 404],
  'GET /v1/webhook/deliveries': [200, 400, 401, 403],
  'GET /v1/events': [200, 400, 401, 403],
  'GET /v1/webhook/deliveries/{id}': [200, 400, 401, 403, 404],
  'POST /v1/webhook/deliveries/{id}/redeliver': [202, 400, 401, 403, 404, 409, 422],
  'GET /v1/webhook/replays': [200, 400, 401, 403],
  'POST /v1/webhook/replays': [202, 400, 401, 403, 404, 409, 422],
  'GET /v1/webhook/replays/{id}': [200, 400, 401, 403, 404],
  'POST /v1/webhook/replays/{id}/pause': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/webhook/replays/{id}/resume': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/webhook/replays/{id}/cancel': [200, 400, 401, 403, 404, 409, 422],
  'GET /v1/integrations': [200, 400, 401, 403],
  'POST /v1/integrations/{provider}/connect': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/integrations/{provider}/endpoint': [200, 400, 401, 403, 404, 409, 422],
  'DELETE /v1/integrations/{provider}': [200, 400, 401, 403, 404],
  'POST /v1/integrations/{provider}/rotate-secret': [200, 202, 400, 401, 403, 404, 409, 422],
  'POST /v1/products/{productId}/integrations/{provider}': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/integrations/stripe/connect': [200, 400, 401, 403, 409, 422],
  'POST /v1/integrations/stripe/own-account': [200, 400, 401, 403, 409, 422],
  'GET /v1/integrations/stripe/status': [200, 401, 403, 422],
  'POST /v1/products/{productId}/test-mode': [200, 400, 401, 403, 404, 409, 422],
  'DELETE /v1/products/{productId}/test-mode': [200, 400, 401, 403, 404],
  'POST /v1/products/{productId}/free-tier': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/products/{productId}/key-types/verify-prices': [200, 400, 401, 403, 404, 409, 422],
  'GET /v1/sales': [200, 400, 401, 403],
  'GET /v1/sales/ignored': [200, 400, 401, 403],
  'GET /v1/sales/parked': [200, 400, 401, 403],
  'POST /v1/sales/{id}/map': [200, 400, 401, 403, 404, 409, 422],
  'GET /v1/sales/{id}': [200, 400, 401, 403, 404],
  'POST /v1/sales/{id}/replay': [200, 400, 401, 403, 404, 409, 422],
  'GET /v1/audit': [200, 400, 401, 403],
  'POST /v1/test-purchase': [202, 400, 401, 403, 404, 409, 422],
  'GET /v1/test-purchase/{id}': [200, 400, 401, 403, 404],
  'POST /v1/licenses/search': [200, 400, 401, 403],
  'POST /v1/licenses/validate': [200, 400, 401, 403, 404],
  'POST /v1/licenses/activate': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/deactivate': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/remint': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/deactivate-device': [200, 400, 401, 403, 404, 409, 422],
  'POST /v1/licenses/{id}/reinstate': [200, 202, 400, 401, 403, 404, 409],
  'POST /v1/licenses/{id}/reseat-device': [200, 202, 400, 401, 402, 403, 404, 409],
  'POST /v1/licenses/{id}/take-back-import': [200, 202, 400, 401, 403, 404, 409],
  'POST /v1/licenses/import': [200, 400, 401, 402, 403, 404, 409, 422],
  'GET /v1/licenses/export': [200, 202, 400, 401, 403, 404],
  'POST /{tenantId}/{productId}/activate': [200, 400, 401, 402, 403, 404, 422],
  'POST /{tenantId}/{productId}/validate': [200, 400, 401, 403, 404, 422],
  'POST /{tenantId}/{productId}/deactivate': [200, 400, 401, 403, 404, 422],
  'POST /{tenantId}/{productId}/free-tier': [200, 400, 401, 403, 404],
  'POST /{tenantId}/{productId}/keyless': [200, 400, 401, 403, 404],
  'GET /{tenantId}/{productId}/config': [200, 401, 403, 404],
  'GET /{tenantId}/.well-known/service-keys': [200, 304, 404],
  'POST /api/stripe/webhook/connect': [200, 204, 400, 401, 403],
  'POST /api/stripe/webhook/{tenantId}': [200, 204, 400, 401, 403],
  'POST /api/{tenantId}/checkout': [200, 400, 401, 403, 404, 409, 422],
  'GET /{tenantId}/{productId}/pricing': [200, 403, 404],
  'POST /webhooks/gumroad/{tenantId}': [200, 204, 400, 403],
  'POST /webhooks/gumroad/{tenantId}/resources': [200, 204, 400, 403],
  'POST /webhooks/lemonsqueezy/{tenantId}': [200, 204, 400, 403, 422],
  'POST /webhooks/paddle/{tenantId}': [200, 204, 400, 403, 422],
  'POST /webhooks/polar/{tenantId}': [200, 204, 400, 403, 422],
}

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
  const expected = Object.entries(statuses).map(([route, own]) => {
    const all = keyed.has(route) ? [...new Set([...own, 409, 422])].sort() : own
    return [route, all]
  })
  expect(described).toStrictEqual(Object.fromEntries(expected))
})

test('every client call documents its rate limit headers', () => {
  const calls = operations.filter(
    ({ operation }) => operation.tags.includes('Client') && '401' in operation.responses,
  )
  expect(calls).toHaveLength(6)
  for (const { operation } of calls) {
    expect(Object.keys(operation.responses['429']?.headers ?? {})).toStrictEqual([
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'X-Service-Limit-Scope',
      'X-Service-Limit',
      'X-Service-Remaining',
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
    'GET /{tenantId}/.well-known/service-keys',
    'GET /{tenantId}/{productId}/pricing',
    'POST /v1/login/device',
    'POST /v1/login/device/token',
    'POST /webhooks/gumroad/{tenantId}',
    'POST /webhooks/gumroad/{tenantId}/resources',
    'POST /webhooks/lemonsqueezy/{tenantId}',
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
  const file = join(import.meta.dirname, '../../src/sdk/server/operations.ts')
  await expect(await formatted(file, operationsText(text))).toMatchFileSnapshot(file)
  for (const { route, operation } of operations) {
    const body = operation.requestBody?.content['application/json'] as Described | undefined
    const inBody = Object.keys(body?.schema?.properties ?? {})
    // A key type's id cannot be changed: its body may only repeat the path.
    const elsewhere = operation.parameters.filter(
      ({ name }) => inBody.includes(name) && operation.operationId !== 'updateKeyType',
    )
    expect({ route, elsewhere }).toStrictEqual({ route, elsewhere: [] })
    // A POST, PUT or PATCH of the client has all fields that are not in the path in its body.
    const isWrite = /^(?:POST|PUT|PATCH) \/v1/.test(route)
    expect({ route, query: isWrite && operation.parameters.some((one) => one.in === 'query') }).toStrictEqual(
      { route, query: false },
    )
  }
})

type Described = { schema?: { properties?: object } }

/** Formatted as the repository's formatter does, so that its check passes on the snapshot. */
async function formatted(path: string, json: string): Promise<string> {
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))
  const child = promisify(execFile)(process.execPath, [biome, 'format', `--stdin-file-path=${path}`])
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
