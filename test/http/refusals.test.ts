/**
 * Guarantee: each route requires its scope. Errors have a fixed order, 401, 403, 400, 404, 422, so that a
 * response reveals no more than the token allows; every response has its request id.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { causeOf } from '../../src/commands/origin.ts'
import { closeTenant, reinstateTenant, suspendTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { newToken } from '../../src/credentials/token.ts'
import type { Scope } from '../../src/domain/tokens/events.ts'
import { tokens } from '../../src/domain/tokens/token.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning, origin } from '../harness/ledger.ts'
import { guarded } from './guarded.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const isRuntime = (path: string) => /licenses\/(?:activate|deactivate|heartbeat|validate)$/.test(path)

/** The body of an error, in the format of the route's interface. */
const errorOf = (path: string, code: string, message: string) => ({
  error: isRuntime(path) ? { code, message } : message,
})

describe.each(guarded)('%s %s', (method, path, scope, body) => {
  const unauthorized = async (headers: Record<string, string>, message: string) => {
    const answer = await api.ask(method, path, { body, headers })
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 401,
      body: errorOf(path, 'unauthorized', message),
    })
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.headers['request-id']).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
  }

  test('requires a token', () => unauthorized({}, 'send a token: Authorization: Bearer <token>'))

  test('rejects invalid tokens and other credentials', async () => {
    const { token } = newToken('pat', api.ledger.ports.randomBytes)
    const badChecksum = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    const sdkKey = newToken('sdk', api.ledger.ports.randomBytes).token
    for (const presented of [token, badChecksum, sdkKey, 'garbage', `${tenant.token} ${tenant.token}`, '']) {
      await unauthorized({ authorization: `Bearer ${presented}` }, 'the token is not valid')
    }
    await unauthorized({ authorization: `Basic ${tenant.token}` }, 'the token is not valid')
    await unauthorized({ authorization: tenant.token }, 'the token is not valid')
  })

  if (scope !== 'any') {
    test(`requires the scope ${scope}`, async () => {
      const others = (
        [
          'products:read',
          'products:write',
          'licenses:read',
          'licenses:write',
          'licenses:runtime',
          'integrations:read',
          'integrations:write',
          'danger',
        ] as const
      ).filter((other) => other !== scope)
      const token = await tenant.tokenWith(...others)
      // Also malformed: the missing scope is reported first.
      const answer = await api.ask(method, path, { token, ...(body !== undefined && { raw: '{malformed' }) })
      expect({ status: answer.status, body: answer.body }).toStrictEqual({
        status: 403,
        body: errorOf(path, 'forbidden', `the token lacks the scope ${scope}; create one that has it`),
      })
      const allowed = await api.ask(method, path, { token: await tenant.tokenWith(scope), body })
      // Admitted; further refusals are covered by other tests.
      expect([200, 201, 202, 404, 409, 422]).toContain(allowed.status)
    })
  }

  if (body !== undefined) {
    test.each([
      ['', 'empty'],
      ['{"name":', 'incomplete JSON'],
      ['null', 'null'],
      ['[]', 'a list'],
      ['"text"', 'a string'],
      ['{"__proto__":{}}', 'a prototype'],
    ])('returns 400 for %j (%s)', async (raw) => {
      const answer = await api.ask(method, path, { token: tenant.token, raw })
      expect(answer.status).toBe(400)
      const message = expect.any(String) as string
      expect(answer.body).toStrictEqual(errorOf(path, 'invalid_request', message))
    })

    test('returns 400 for a form and for a body that is too large', async () => {
      const { token } = tenant
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      expect(await api.ask(method, path, { token, raw: 'name=a', headers })).toMatchObject({ status: 400 })
      const raw = JSON.stringify({ name: 'a'.repeat(1_048_576) })
      expect(await api.ask(method, path, { token, raw })).toMatchObject({ status: 400 })
    })

    test('returns 401 before it parses a malformed body', async () => {
      const { token } = newToken('pat', api.ledger.ports.randomBytes)
      expect(await api.ask(method, path, { raw: '{malformed' })).toMatchObject({ status: 401 })
      expect(await api.ask(method, path, { token, raw: '{malformed' })).toMatchObject({ status: 401 })
    })
  }
})

describe('a token', () => {
  const verify = async (token: string) => {
    const { status, body } = await api.ask('GET', '/v1/tokens/verify', { token })
    return { status, body }
  }

  test('can be verified, which returns its tenant and scopes', async () => {
    const { ports } = api.ledger
    const { tenantId } = tenant
    const scopes: Scope[] = ['products:write', 'danger', 'products:write']
    const expiresAt = '2026-03-01T12:00:10.000Z'
    const made = await createToken(ports, { tenantId, name: 'CI', scopes, expiresAt }, origin)
    expect(await verify(made.token)).toStrictEqual({
      status: 200,
      body: { tenantId, tokenId: made.tokenId, name: 'CI', scopes: ['danger', 'products:write'], expiresAt },
    })
  })

  test('is valid until the last millisecond before its expiry', async () => {
    const { ports, clock } = api.ledger
    const asked = { tenantId: tenant.tenantId, name: '', scopes: [], expiresAt: '2026-03-01T12:00:10.000Z' }
    const { token } = await createToken(ports, asked, origin)
    clock.set('2026-03-01T12:00:09.999Z')
    expect(await verify(token)).toMatchObject({ status: 200 })
    clock.set('2026-03-01T12:00:10.000Z')
    expect(await verify(token)).toStrictEqual({ status: 401, body: { error: 'the token has expired' } })
    clock.set(beginning)
  })

  test('is rejected on the next request after it was revoked', async () => {
    const { ports } = api.ledger
    const asked = { tenantId: tenant.tenantId, name: '', scopes: [], expiresAt: null }
    const { token, tokenId } = await createToken(ports, asked, origin)
    expect(await verify(token)).toMatchObject({ status: 200 })
    const command = { type: 'RevokeToken', at: beginning } as const
    await ports.execute(tokens, tokenId, command, causeOf(origin, beginning))
    expect(await verify(token)).toStrictEqual({ status: 401, body: { error: 'the token is revoked' } })
  })
})

describe('a tenant', () => {
  test('that is suspended cannot issue or activate licenses; everything else works', async () => {
    const own = await makeTenant(api.ledger)
    const { ask, ledger } = api
    await makeProduct(ask, own.token, 'editor')
    const { licenseKey } = await mint(ask, own.token, 'editor')
    const device = { product_id: 'editor', license_key: licenseKey, device_id: 'd' }
    const send = async (path: string, body: unknown) => ask('POST', path, { token: own.token, body })
    expect(await send('/v1/licenses/activate', device)).toMatchObject({ body: { activated: true } })
    await suspendTenant(ledger.ports, own.tenantId, 'unpaid', origin)

    const message = 'the tenant is suspended; it cannot issue or activate licenses'
    // Also malformed: the suspended tenant is reported first.
    expect(await send('/v1/licenses', { nonsense: 1 })).toMatchObject({
      status: 403,
      body: { error: message },
    })
    expect(await send('/v1/licenses/activate', device)).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', message } },
    })
    expect(await send('/v1/licenses/validate', device)).toMatchObject({ status: 200, body: { valid: true } })
    expect(await ask('GET', '/v1/licenses', { token: own.token })).toMatchObject({ status: 200 })
    expect(await send('/v1/licenses/deactivate', device)).toMatchObject({ status: 200 })

    await reinstateTenant(ledger.ports, own.tenantId, origin)
    expect(await send('/v1/licenses/activate', device)).toMatchObject({ body: { activated: true } })
  })

  test('that is closed gets 403 everywhere', async () => {
    const own = await makeTenant(api.ledger)
    await makeProduct(api.ask, own.token, 'editor')
    await closeTenant(api.ledger.ports, own.tenantId, null, origin)
    for (const [method, path, , body] of guarded) {
      const answer = await api.ask(method, path, { token: own.token, body })
      expect({ path, status: answer.status, body: answer.body }).toStrictEqual({
        path,
        status: 403,
        body: errorOf(path, 'forbidden', 'the tenant is closed'),
      })
    }
  })
})

describe('a path', () => {
  const allowed: [string, string][] = [
    ['/v1/openapi.json', 'GET, HEAD'],
    ['/v1/tokens', 'GET, HEAD'],
    ['/v1/tokens/verify', 'GET, HEAD'],
    ['/v1/tokens/tok_absent/revoke', 'POST'],
    ['/v1/products', 'GET, HEAD, POST'],
    ['/v1/products/editor', 'GET, HEAD, PATCH'],
    ['/v1/products/editor/key-types', 'GET, HEAD, POST'],
    ['/v1/products/editor/key-types/default', 'DELETE, PATCH'],
    ['/v1/licenses', 'GET, HEAD, POST'],
    ['/v1/licenses/lic_absent', 'GET, HEAD, PATCH'],
    ['/v1/customers', 'GET, HEAD, POST'],
    ['/v1/customers/cus_absent', 'DELETE, GET, HEAD, PATCH'],
    ['/v1/audit', 'GET, HEAD'],
    ['/v1/customers/cus_absent/link-license', 'POST'],
    ['/v1/customers/cus_absent/notes', 'GET, HEAD, POST'],
    ['/v1/customers/cus_absent/notes/nte_absent', 'DELETE'],
    ['/v1/customers/cus_absent/organization', 'DELETE, POST'],
    ['/v1/licenses/lic_absent/people', 'GET, HEAD, POST'],
    ['/v1/licenses/lic_absent/people/per_absent', 'DELETE'],
    ['/v1/licenses/lic_absent/people/per_absent/key', 'POST'],
    ['/v1/customers/cus_absent/people', 'GET, HEAD, POST'],
    ['/v1/customers/cus_absent/people/per_absent', 'DELETE, PATCH'],
    ['/v1/customers/cus_absent/people/per_absent/invite', 'POST'],
    ['/v1/customers/cus_absent/entitlements', 'PATCH'],
    ['/v1/resellers', 'GET, HEAD, POST'],
    ['/v1/resellers/rsl_absent', 'GET, HEAD, PATCH'],
    ['/v1/resellers/rsl_absent/close', 'POST'],
    ['/v1/usage', 'GET, HEAD'],
    ['/v1/licenses/lic_absent/refusals', 'GET, HEAD'],
    ['/v1/refusals', 'GET, HEAD'],
    ['/v1/refusals/days', 'GET, HEAD'],
    ['/v1/refusals/unknown-keys', 'GET, HEAD'],
    ['/v1/sdk-key', 'GET'],
    ['/v1/sdk-key/rotate', 'POST'],
    ['/v1/sign-in-providers', 'GET, HEAD, POST'],
    ['/v1/sign-in-providers/entra', 'DELETE, GET, HEAD, PATCH'],
    ['/v1/roles', 'GET, HEAD, POST'],
    ['/v1/roles/rol_absent', 'DELETE, GET, HEAD, PATCH'],
    ['/v1/scim', 'GET, HEAD, PUT'],
    ['/v1/webhook', 'GET, HEAD, PUT'],
    ['/v1/webhook-endpoints', 'GET, HEAD, POST'],
    ['/v1/webhook-endpoints/first', 'DELETE, GET, HEAD, PATCH'],
    ['/v1/webhook-endpoints/first/rotate-secret', 'POST'],
    ['/v1/webhook-endpoints/first/test', 'POST'],
    ['/v1/webhook/replays', 'GET, HEAD, POST'],
    ['/v1/webhook/replays/whr_absent', 'GET, HEAD'],
    ['/v1/webhook/replays/whr_absent/pause', 'POST'],
    ['/v1/webhook/replays/whr_absent/resume', 'POST'],
    ['/v1/webhook/replays/whr_absent/cancel', 'POST'],
    ['/v1/webhook/deliveries', 'GET, HEAD'],
    ['/v1/webhook/deliveries/whd_absent', 'GET, HEAD'],
    ['/v1/webhook/deliveries/whd_absent/redeliver', 'POST'],
    ['/v1/licenses/lic_absent/remint', 'POST'],
    ['/v1/licenses/lic_absent/deactivate-device', 'POST'],
    ['/v1/licenses/import', 'POST'],
    ['/v1/licenses/search', 'POST'],
    ['/v1/licenses/export', 'GET'],
    ['/v1/licenses/lic_absent/revoke', 'POST'],
    ['/v1/licenses/lic_absent/reinstate', 'POST'],
    ['/v1/licenses/lic_absent/reseat-device', 'POST'],
    ['/v1/licenses/lic_absent/take-back-import', 'POST'],
    ['/v1/products/editor/key-types/verify-prices', 'DELETE, PATCH, POST'],
    ['/v1/products/editor/test-mode', 'DELETE, POST'],
    ['/v1/products/editor/free-tier', 'POST'],
    ['/v1/products/editor/integrations/gumroad', 'POST'],
    ['/v1/integrations', 'GET, HEAD'],
    ['/v1/integrations/gumroad', 'DELETE'],
    ['/v1/integrations/gumroad/connect', 'POST'],
    ['/v1/integrations/gumroad/rotate-secret', 'POST'],
    ['/v1/integrations/stripe/connect', 'POST'],
    ['/v1/integrations/stripe/status', 'GET, HEAD'],
    ['/v1/integrations/stripe/use-reports', 'GET, HEAD, PUT'],
    ['/v1/sales', 'GET, HEAD'],
    ['/v1/sales/ignored', 'GET, HEAD'],
    ['/v1/sales/parked', 'GET, HEAD'],
    ['/v1/sales/unmatched', 'GET, HEAD'],
    ['/v1/sales/sal_absent', 'GET, HEAD'],
    ['/v1/sales/sal_absent/replay', 'POST'],
    ['/v1/test-purchase', 'POST'],
    ['/v1/test-purchase/tp_absent', 'GET, HEAD'],
    ['/v1/confirmations/cnf_absent', 'GET, HEAD'],
    ['/v1/licenses/activate', 'POST'],
    ['/v1/licenses/validate', 'POST'],
    ['/v1/licenses/deactivate', 'POST'],
    ['/livez', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/metrics', 'GET, HEAD'],
  ]

  test.each(allowed)('%s returns 405 and Allow for other methods', async (path, allow) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'] as const) {
      if (allow.split(', ').includes(method)) continue
      for (const query of ['', '?a=b']) {
        const answer = await api.ask(method, path + query, { token: tenant.token })
        const message = `${method} is not allowed here; allowed: ${allow}`
        expect({ method, status: answer.status, body: answer.body }).toStrictEqual({
          method,
          status: 405,
          body: method === 'HEAD' ? '' : errorOf(path, 'invalid_request', message),
        })
        expect(answer.headers.allow).toBe(allow)
      }
    }
  })

  test.each(['/', '/v1', '/v1/nothing', '/v1/products/editor/nothing', '/v2/products', '/v1//products'])(
    '%s returns 404',
    async (path) => {
      const { status, body } = await api.ask('GET', path, { token: tenant.token })
      expect({ status, body }).toStrictEqual({ status: 404, body: { error: 'this path does not exist' } })
    },
  )
})

test('every response has a different request id', async () => {
  const { token } = tenant
  const asked: [Method, string, Parameters<TestApi['ask']>[2]?][] = [
    ['GET', '/livez'],
    ['GET', '/readyz'],
    ['GET', '/metrics'],
    ['GET', '/v1/openapi.json'],
    ['GET', '/docs'],
    ['GET', '/v1/products', { token }],
    ['GET', '/v1/products'],
    ['GET', '/v1/products/absent', { token }],
    ['GET', '/v1/products?limit=0', { token }],
    ['POST', '/v1/products', { token, raw: '{' }],
    ['DELETE', '/v1/products'],
    ['GET', '/nothing'],
    ['GET', '/v1/%zz', { token }],
    ['GET', `/v1/products/${'a'.repeat(300)}`, { token }],
    // A request id in the request is ignored.
    ['GET', '/v1/products', { token, headers: { 'request-id': 'req_mine' } }],
  ]
  const ids = new Set<unknown>()
  for (const [method, path, options] of asked) {
    const { headers } = await api.ask(method, path, options)
    expect({ path, id: headers['request-id'] }).toStrictEqual({
      path,
      id: expect.stringMatching(/^req_[0-9a-hjkmnp-tv-z]{26}$/) as string,
    })
    ids.add(headers['request-id'])
  }
  expect(ids.size).toBe(asked.length)
})

test('every event of a request has its request id and its token', async () => {
  const { headers } = await api.ask('POST', '/v1/products', {
    token: tenant.token,
    body: { name: 'Traced', keyTypes: [{ name: 'One' }, { name: 'Two' }] },
  })
  const requestId = headers['request-id']
  const events = []
  for await (const entry of api.ledger.ports.ledger.readStream(`product-${tenant.tenantId}.traced`)) {
    events.push(entry.readable ? { type: entry.event.type, metadata: entry.metadata } : entry)
  }
  const metadata = {
    requestId,
    actor: `token:${tenant.tokenId}`,
    causationId: requestId,
    correlationId: requestId,
    at: beginning,
    from: { subjectId: 'sub_tenant', address: expect.stringMatching(/^sealed\.1\./) as string },
    salt: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  }
  // Earlier versions recorded prices of key types, and settings of products, in another form.
  expect(events).toStrictEqual([
    { type: 'ProductCreated', metadata: { ...metadata, schema: 2 } },
    { type: 'KeyTypeAdded', metadata: { ...metadata, schema: 2 } },
    { type: 'KeyTypeAdded', metadata: { ...metadata, schema: 2 } },
  ])
})
