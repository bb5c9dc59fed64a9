/** The description is part of the contract: it is complete, a linter takes it, and it changes only on purpose. */
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { temporaryDirectory } from '../harness/ledger.ts'

const Operation = z.looseObject({
  operationId: z.string().min(1),
  tags: z.array(z.string()).min(1),
  summary: z.string().min(1),
  security: z.array(z.unknown()).optional(),
  requestBody: z.looseObject({ content: z.record(z.string(), z.unknown()) }).optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1) })),
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

test('the description is OpenAPI 3.1 in its version 1.0.0', () => {
  expect(description.openapi).toMatch(/^3\.1\.\d+$/)
  expect(description.info.version).toBe('1.0.0')
})

test("redocly's lint finds nothing wrong with it", async () => {
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

test('every operation has a name of its own, a tag that is described, and a summary', () => {
  const names = operations.map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
  const tags = description.tags.map(({ name }) => name)
  for (const { operation } of operations) expect(tags).toEqual(expect.arrayContaining(operation.tags))
})

/** The contract's statuses of each operation; each may fail with 429, 500 and 503 besides. */
const statuses: Record<string, number[]> = {
  'GET /v1/openapi.json': [200],
  'GET /v1/tokens/verify': [200, 401, 403],
  'GET /v1/products': [200, 400, 401, 403],
  'POST /v1/products': [201, 400, 401, 402, 403, 409],
  'GET /v1/products/{productId}': [200, 400, 401, 403, 404],
  'PATCH /v1/products/{productId}': [200, 400, 401, 403, 404],
  'GET /v1/products/{productId}/key-types': [200, 400, 401, 403, 404],
  'POST /v1/products/{productId}/key-types': [201, 400, 401, 403, 404, 409],
  'PATCH /v1/products/{productId}/key-types/{keyTypeId}': [200, 400, 401, 403, 404, 422],
  'DELETE /v1/products/{productId}/key-types/{keyTypeId}': [200, 202, 400, 401, 403, 404, 409],
  'GET /v1/licenses': [200, 400, 401, 403],
  'POST /v1/licenses': [201, 400, 401, 403, 404, 422],
  'GET /v1/licenses/{id}': [200, 400, 401, 403, 404],
  'POST /v1/licenses/{id}/revoke': [200, 202, 400, 401, 403, 404, 409],
  'GET /v1/confirmations/{id}': [200, 401, 403, 404],
  'POST /v1/licenses/activate': [200, 400, 401, 403, 404],
  'POST /v1/licenses/validate': [200, 400, 401, 403, 404],
  'POST /v1/licenses/deactivate': [200, 400, 401, 403, 404],
  'GET /v1/customers': [200, 400, 401, 403],
  'POST /v1/customers': [201, 400, 401, 403],
  'GET /v1/customers/{id}': [200, 400, 401, 403, 404],
  'POST /v1/customers/{id}/link-license': [200, 400, 401, 403, 404, 409],
  'PATCH /v1/customers/{id}/entitlements': [200, 400, 401, 403, 404],
  'GET /v1/usage': [200, 400, 401, 403, 404, 422],
  'GET /v1/sdk-key': [200, 202, 400, 401, 403, 409],
  'POST /v1/sdk-key/rotate': [200, 202, 400, 401, 403, 409],
  'GET /v1/webhook': [200, 401, 403],
  'PUT /v1/webhook': [200, 202, 400, 401, 403, 422],
  'POST /v1/login/device': [200, 400],
  'POST /v1/login/device/token': [200, 400],
  'POST /v1/logout': [200, 401, 403],
  'GET /livez': [200],
  'GET /readyz': [200],
  'GET /metrics': [200],
}

test('every operation of the contract is described with all its statuses', () => {
  const described = Object.fromEntries(
    operations.map(({ route, operation }) => [
      route,
      Object.keys(operation.responses)
        .map(Number)
        .filter((status) => status < 429),
    ]),
  )
  expect(described).toStrictEqual(statuses)
})

test('whoever needs no token is said so, and everybody else may be told 401', () => {
  const open = operations
    .filter(({ operation }) => operation.security?.length === 0)
    .map(({ route }) => route)
  expect(open.sort()).toStrictEqual([
    'GET /livez',
    'GET /metrics',
    'GET /readyz',
    'GET /v1/openapi.json',
    'POST /v1/login/device',
    'POST /v1/login/device/token',
  ])
  for (const { route, operation } of operations) {
    expect({ route, refuses: '401' in operation.responses }).toStrictEqual({
      route,
      refuses: !open.includes(route),
    })
  }
})

test('it stands as it was committed; if the change is meant, run vitest with -u', async () => {
  const snapshot = join(import.meta.dirname, 'openapi.snapshot.json')
  await expect(await formatted(snapshot, text)).toMatchFileSnapshot(snapshot)
})

/** As the repository's formatter prints it, so that its check finds nothing to say about the snapshot. */
async function formatted(path: string, json: string): Promise<string> {
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))
  const child = promisify(execFile)(process.execPath, [biome, 'format', `--stdin-file-path=${path}`])
  child.child.stdin?.end(json)
  return (await child).stdout
}
