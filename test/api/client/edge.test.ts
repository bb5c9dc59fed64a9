/**
 * Guarantee: the SDK key of a tenant grants access to the client interface of its products only, pages of any
 * origin may call it, and reserved paths are never taken for a tenant.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rotateSdkKey } from '../../../src/commands/client-keys.ts'
import { closeTenant, suspendTenant } from '../../../src/commands/tenants.ts'
import { newToken } from '../../../src/credentials/token.ts'
import { reservedTenantIds } from '../../../src/domain/tenants/tenant.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const ask = (url: string, headers: Record<string, string>, method: Method = 'GET') =>
  api.ask(method, url, { headers })
const withKey = (key: string) => ({ 'x-service-sdk-key': key })

test('the SDK key grants access to the products of its tenant', async () => {
  const { status, body } = await appOf(api.ask, { ...tenant, productId: 'editor' }, sdkKey).config()
  expect({ status, body }).toStrictEqual({ status: 200, body: { free_tier_enabled: false } })
})

test.each([
  ['no key', () => ({}), 'send the SDK key: X-Service-SDK-Key: <SDK key>'],
  ['text', () => withKey('nonsense'), 'the SDK key is not valid'],
  ['a wrong checksum', () => withKey(`${sdkKey.slice(0, -1)}_`), 'the SDK key is not valid'],
  ['an access token', () => withKey(tenant.token), 'the SDK key is not valid'],
  [
    'a key that was never issued',
    () => withKey(newToken('sdk', api.ledger.ports.randomBytes).token),
    'the SDK key is not valid for this tenant',
  ],
])('%s gets 401', async (_, headers, message) => {
  const { status, body } = await ask(`/${tenant.tenantId}/editor/config`, headers())
  expect({ status, body }).toStrictEqual({ status: 401, body: { error: message } })
})

test("another tenant's key and a rotated key get 401", async () => {
  const other = await makeTenant(api.ledger)
  const otherKey = await sdkKeyOf(api.ledger, other.tenantId)
  expect((await ask(`/${tenant.tenantId}/editor/config`, withKey(otherKey))).status).toBe(401)
  await makeProduct(api.ask, other.token, 'editor')
  expect((await ask(`/${other.tenantId}/editor/config`, withKey(otherKey))).status).toBe(200)
  const next = await rotateSdkKey(api.ledger.ports, other.tenantId, 'rotation', origin)
  expect((await ask(`/${other.tenantId}/editor/config`, withKey(otherKey))).status).toBe(401)
  expect((await ask(`/${other.tenantId}/editor/config`, withKey(next))).status).toBe(200)
})

test.each([
  ['nobody', 'editor', 'tenant not found'],
  ['no%7Cbody', 'editor', 'tenant not found'],
  ['%00', 'editor', 'tenant not found'],
  [undefined, 'absent', 'product not found'],
  [undefined, '%00', 'product not found'],
  [undefined, 'Editor', 'product not found'],
])('tenant %s with product %s gets 404', async (tenantId = tenant.tenantId, productId, message) => {
  const { status, body } = await ask(`/${tenantId}/${productId}/config`, withKey(sdkKey))
  expect({ status, body }).toStrictEqual({ status: 404, body: { error: message } })
})

test('config works for a suspended tenant and returns 403 for a closed one', async () => {
  const { tenantId, token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  const app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
  await suspendTenant(api.ledger.ports, tenantId, null, origin)
  expect((await app.config()).status).toBe(200)
  await closeTenant(api.ledger.ports, tenantId, null, origin)
  const { status, body } = await app.config()
  expect({ status, body }).toStrictEqual({ status: 403, body: { error: 'the tenant is closed' } })
})

test('responses, errors and preflights allow any origin (CORS)', async () => {
  const url = `/${tenant.tenantId}/editor/config`
  for (const headers of [withKey(sdkKey), {}]) {
    const answer = await ask(url, { ...headers, origin: 'https://app.example' })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
  }
  const { statusCode, headers } = await api.app.inject({ method: 'OPTIONS', url })
  expect(statusCode).toBe(204)
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST',
    'access-control-allow-headers': 'Content-Type, X-Service-SDK-Key, If-None-Match',
  })
})

test.each(['/v1/products', '/v1/licenses/validate', '/dashboard/login', '/livez'])(
  '%s allows no origin (CORS)',
  async (url) => {
    const { headers } = await ask(url, { origin: 'https://app.example' })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect((await api.app.inject({ method: 'OPTIONS', url })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    )
  },
)

test('a wrong method gets 405 with the allowed methods', async () => {
  const { status, headers } = await ask(`/${tenant.tenantId}/editor/config`, {}, 'DELETE')
  expect({ status, allow: headers.allow }).toStrictEqual({ status: 405, allow: 'GET, HEAD, OPTIONS' })
})

test.each([...reservedTenantIds])('no path under /%s is a client route', async (first) => {
  for (const [method, call] of [
    ['GET', 'config'],
    ['OPTIONS', 'config'],
  ] as const) {
    const { statusCode, headers } = await api.app.inject({ method, url: `/${first}/nothing/${call}` })
    expect({ statusCode, allow: headers.allow }).toStrictEqual({ statusCode: 404, allow: undefined })
  }
})
