/**
 * Guarantee: what a query asks for is done or refused, never ignored. Every route of the router is called with a parameter
 * that it does not know, so that new ones are covered; routes whose addresses others decorate are listed here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { issueCheckoutKey } from '../../src/commands/client-keys.ts'
import { assets } from '../../src/dashboard/assets.ts'
import { type Client, clientOf } from '../dashboard/client.ts'
import { isOfResellers, makeMember, makeSeller } from '../dashboard/members.ts'
import { type Route, routesOf } from '../dashboard/routes.ts'
import { makeTenant, metricsToken, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { openPortalOf } from '../portal/customer.ts'
import { sdkKeyOf } from './apps.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
let member: Client
let seller: Client
let sdkKey: string
let checkoutKey: string
let scimToken: string

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  await openPortalOf(api.app, tenant.token)
  member = clientOf(api.app)
  await member.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  seller = clientOf(api.app, '192.0.2.1')
  await seller.signIn(await makeSeller(api.ledger, tenant.tenantId))
  checkoutKey = (await issueCheckoutKey(api.ledger.ports, tenant.tenantId, origin)).checkoutKey
  scimToken = await tenant.tokenWith('scim')
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
})
afterAll(() => api.close())

/** Others add parameters to these addresses: mail clients, campaigns, payment providers; browsers ask about any. */
const decorated = [
  'GET /',
  'GET /login',
  'GET /dashboard/approvals/:id',
  'GET /dashboard/device',
  'GET /dashboard/sign-in',
  'GET /dashboard/sign-in/workspace',
  'GET /dashboard/sign-in/:workspace/:provider',
  'GET /dashboard/sign-in/:workspace/:provider/callback',
  'GET /dashboard/welcome/:secret',
  'GET /api/stripe/connect/:tenantId/refresh',
  'GET /api/stripe/connect/:tenantId/return',
  'GET /:tenantId/:productId/buy/:keyTypeId',
  'GET /:tenantId/:productId/buy/:keyTypeId/done',
  'GET /portal/:tenantId',
  'GET /portal/:tenantId/activate-app',
  'GET /portal/:tenantId/file',
  'GET /portal/:tenantId/licenses/:id',
  'GET /portal/:tenantId/licenses/:id/devices/:device/free',
  'GET /portal/:tenantId/licenses/:id/devices/:device/name',
  'GET /portal/:tenantId/licenses/:id/file',
  'GET /portal/:tenantId/licenses/:id/people/:person',
  'GET /portal/:tenantId/licenses/:id/relay',
  'GET /portal/:tenantId/licenses/:id/replace-key',
  'GET /portal/:tenantId/link',
  'GET /portal/:tenantId/organizations/:id',
  'GET /portal/:tenantId/organizations/:id/acts',
  'GET /portal/:tenantId/organizations/:id/leave',
  'GET /portal/:tenantId/organizations/:id/list',
  'GET /portal/:tenantId/organizations/:id/people.csv',
  'GET /portal/:tenantId/organizations/:id/people/:person',
  'GET /portal/:tenantId/organizations/:id/people/:person/remove',
  'GET /portal/:tenantId/organizations/:id/purchases',
  'GET /portal/:tenantId/organizations/:id/purchases/:sale/invoice',
  'GET /portal/:tenantId/organizations/:id/usage',
  'GET /portal/:tenantId/organizations/:id/usage.csv',
  'GET /portal/:tenantId/purchases',
  'GET /portal/:tenantId/purchases/:sale/invoice',
  'GET /portal/:tenantId/sign-in',
  'GET /portal/:tenantId/sign-in/:provider',
  'GET /portal/:tenantId/sign-in/:provider/callback',
]
const always = /^POST \/(?:webhooks|api\/stripe\/webhook)\/|^OPTIONS /

describe('every route', () => {
  test('refuses a parameter that it does not know, and names it', async () => {
    // The router prints no whole path of a wildcard; those are below.
    const routes = routesOf(api.app).filter(({ path }) => !path.includes('*'))
    expect(routes.length).toBeGreaterThan(300)
    const before = await head()
    const accepting: string[] = []
    for (const route of routes) {
      const { status, text } = await call(route, '?no_such_parameter=1')
      const name = `${route.method} ${route.path}`
      if (always.test(name)) expect(text).not.toContain('no_such_parameter')
      else if (status === 400) expect(named(route, text)).toContain('no_such_parameter')
      // Registered only so that a template does not match the path.
      else if (status !== 405) accepting.push(name)
    }
    const forLinks = decorated.flatMap((name) => [name, name.replace('GET', 'HEAD')])
    expect(accepting.filter((name) => !forLinks.includes(name))).toStrictEqual([])
    expect(accepting).toEqual(expect.arrayContaining(decorated))
    expect(await head()).toBe(before)
  })

  test('that writes refuses a dry run that it does not offer, and does nothing', async () => {
    const before = await head()
    for (const route of routesOf(api.app)) {
      if (['GET', 'HEAD', 'OPTIONS'].includes(route.method)) continue
      const { status, text } = await call(route, '?DRY_RUN=true')
      if (status === 405) continue
      expect([`${route.method} ${route.path}`, status]).toStrictEqual([`${route.method} ${route.path}`, 400])
      expect(named(route, text)).toMatch(/DRY_RUN.*nothing was done/)
    }
    expect(await head()).toBe(before)
  })
})

test.each(['/docs/static/index.css', assets.htmx, '/v1/transparency/tile/0/000'])(
  'the file %s has no parameters',
  async (path) => {
    const { status, text } = await call({ method: 'GET', path }, '?no_such_parameter=1')
    expect([status, text]).toStrictEqual([400, expect.stringContaining('no_such_parameter')])
  },
)

test('a dry run of an operation without one changes nothing, and says so', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const refused = {
    status: 400,
    body: {
      error: expect.stringMatching(
        /^unknown query parameter "dryRun"; this operation has no dry run, because .*; nothing was done$/,
      ) as string,
    },
  }
  const { token } = tenant
  for (const path of ['/v1/products/editor/mail/test', '/v1/integrations/stripe/connect'])
    expect(await api.ask('POST', `${path}?dryRun=true`, { token })).toMatchObject(refused)
  expect(await api.ask('POST', `/v1/licenses/${id}/revoke?dry_run=true`, { token })).toMatchObject({
    status: 400,
    body: { error: 'unknown query parameter "dry_run", write dryRun; nothing was done' },
  })
  expect((await api.ask('GET', `/v1/licenses/${id}`, { token })).body).toMatchObject({
    license: { status: 'active' },
  })
})

test('a caller without a right learns nothing about the parameters', async () => {
  const body = { product_id: 'editor', license_key: 'KEY', device_id: 'laptop' }
  expect((await api.ask('POST', '/v1/licenses/validate?x=1', { body })).status).toBe(401)
  expect((await api.ask('GET', '/v1/licenses?x=1')).status).toBe(401)
  const token = await tenant.tokenWith('products:read')
  expect((await api.ask('GET', '/v1/licenses?x=1', { token })).status).toBe(403)
})

test.each([
  ['an empty name', '?=1', '""'],
  ['a name of prototypes', '?__proto__=1&constructor=2', '"__proto__", "constructor"'],
  ['an array', '?limit[]=1', '"limit[]"'],
  ['a pair of prototypes', '?metadata[__proto__]=1', '"metadata[__proto__]"'],
  ['a name that does not show', '?%E2%80%AElimit=1', '"\\u202elimit"'],
  ['many names', `?${Array.from({ length: 3000 }, (_, at) => `p${at}`).join('&')}`, '"p2" and 2,997 more;'],
])('%s is refused', async (_name, query, message) => {
  const { status, text } = await api.ask('GET', `/v1/licenses${query}`, { token: tenant.token })
  const { error } = z.object({ error: z.string() }).parse(JSON.parse(text))
  expect([status, error]).toStrictEqual([400, expect.stringContaining(message)])
  expect(error.length).toBeLessThan(400)
})

test.each(['0x10', '1e1', '%2010', '+5', '5.0', '', '-1', '1&limit=2'])(
  'limit=%s is no number',
  async (limit) => {
    const { status } = await api.ask('GET', `/v1/licenses?limit=${limit}`, { token: tenant.token })
    expect(status).toBe(400)
  },
)

test('a number of decimal digits is one', async () => {
  expect((await api.ask('GET', '/v1/licenses?limit=025', { token: tenant.token })).status).toBe(200)
})

const head = () => api.ledger.ports.ledger.head()

/**
 * Error pages of the portal do not name parameters, errors of the device login hold a code of OAuth, and an answer to HEAD has
 * no body.
 */
const named = ({ method, path }: Route, text: string): string =>
  path.startsWith('/portal/') || text === '{"error":"invalid_request"}' || method === 'HEAD'
    ? 'no_such_parameter DRY_RUN nothing was done'
    : text

/** Each interface has a credential of its own. */
const call = ({ method, path }: Route, query: string) => {
  const url = `${path
    .replaceAll(':tenantId', tenant.tenantId)
    .replaceAll(':productId', 'editor')
    .replace('/*', '/x')
    .replaceAll(/:\w+/g, 'nothing')}${query}`
  const isPage = path.startsWith('/dashboard')
  if (isPage) return (isOfResellers(path) ? seller : member).send({ method, url })
  const ofRoute: Record<string, string> = {
    '/metrics': metricsToken,
    '/api/:tenantId/checkout': checkoutKey,
  }
  const ofDirectory = path.startsWith('/scim/') ? scimToken : undefined
  return clientOf(api.app).send({
    method,
    url,
    headers: {
      authorization: `Bearer ${ofDirectory ?? ofRoute[path] ?? tenant.token}`,
      'x-service-sdk-key': sdkKey,
      accept: 'text/html',
    },
  })
}
