/**
 * Guarantee: every error of the management interface has a stable code in `Error-Code`, its body stays the contract's, and the
 * reference lists every code with its status and its meaning.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCodes } from '../../src/http/problem.ts'
import { type Method, makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { sdkKeyOf } from './apps.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let token: string
let sdkKey: string
let at: string
beforeAll(async () => {
  api = await openTestApi()
  const tenant = await makeTenant(api.ledger)
  token = tenant.token
  await makeProduct(api.ask, token, 'editor')
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  at = `/${tenant.tenantId}/editor`
})
afterAll(() => api.close())

test('the reference lists every code', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/errors.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `(\w+)` *\| (\d+) *\| (.*?) *\|$/gm)].map(
    ([, code, status, message]) => ({
      code,
      status: Number(status),
      message,
    }),
  )
  expect(listed).toStrictEqual(errorCodes())
})

test.each<[string, number, Method, string, unknown?]>([
  ['validation_failed', 400, 'GET', '/v1/licenses?limit=0'],
  ['validation_failed', 400, 'POST', '/v1/products', {}],
  ['product_not_found', 404, 'GET', '/v1/products/absent'],
  ['key_type_not_found', 404, 'PATCH', '/v1/products/editor/key-types/absent', {}],
  ['not_found', 404, 'GET', '/v1/nothing'],
  ['method_not_allowed', 405, 'PUT', '/v1/products'],
  ['product_exists', 409, 'POST', '/v1/products', { name: 'Editor' }],
  [
    'expiry_in_the_past',
    422,
    'POST',
    '/v1/licenses',
    { productId: 'editor', expiresAt: '2020-01-01T00:00:00Z' },
  ],
])('%s (%i) for %s %s', async (code, status, method, path, body) => {
  const answer = await api.ask(method, path, { token, body })
  expect(answer).toMatchObject({ status, headers: { 'error-code': code } })
  expect(answer.body).toStrictEqual({ error: expect.any(String) as string })
})

test('a caller without a token, and one without the scope', async () => {
  expect((await api.ask('GET', '/v1/products')).headers['error-code']).toBe('unauthorized')
  const absent = await api.ask('GET', '/v1/confirmations/cnf_absent', { token })
  expect(absent.headers['error-code']).toBe('confirmation_not_found')
})

test('an app of any origin reads the code', async () => {
  const headers = { 'x-service-sdk-key': sdkKey }
  const body = { license_key: 'NO-SUCH-KEY', instance_name: 'Laptop' }
  const answer = await api.ask('POST', `${at}/activate`, { headers, body })
  expect(answer).toMatchObject({ status: 404, headers: { 'error-code': 'license_not_found' } })
  expect(answer.headers['access-control-expose-headers']).toContain('Error-Code')
})

test('the runtime interface has its code in the body alone', async () => {
  const answer = await api.ask('POST', '/v1/licenses/validate', { token, body: {} })
  expect(answer.headers).not.toHaveProperty('error-code')
  expect(answer.body).toMatchObject({ error: { code: 'invalid_request' } })
})

test('the device authorization has the code of OAuth in both places', async () => {
  const answer = await api.ask('POST', '/v1/login/device/token', { body: { device_code: 'absent' } })
  expect(answer.body).toStrictEqual({ error: answer.headers['error-code'] })
})
