/**
 * Guarantee: every page requires a signed-in member with the right role, every form a token of the same session,
 * and no page is framed, cached, or loads anything from other origins. Every route of the router is tried, so that
 * new ones are covered.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Role } from '../../src/domain/members/roles.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { isOfResellers, makeMember, makeSeller, type TestMember } from './members.ts'
import { openRoutes } from './permissions.ts'
import { dashboardRoutes, idFor, isGuarded, nameOf, type Route, urlOf } from './routes.ts'

let api: TestApi
let tenant: TestTenant
let routes: Route[]
const members = new Map<Role, TestMember>()
const clients = new Map<Role, Client>()
const clientAs = (role: Role): Client => clients.get(role) ?? clientOf(api.app)

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  routes = dashboardRoutes(api.app)
  for (const role of Role.options) {
    const member = await makeMember(api.ledger, tenant.tenantId, role)
    const client = clientOf(api.app)
    expect(await client.signIn(member)).toMatchObject({ status: 303, location: '/dashboard' })
    members.set(role, member)
    clients.set(role, client)
  }
})
afterAll(() => api.close())

const guarded = () => routes.filter(isGuarded)

test('the router lists every route', () => {
  expect(routes.map(nameOf)).toEqual(expect.arrayContaining(openRoutes))
  expect(guarded().length).toBeGreaterThan(30)
})

test('without a session every page redirects to the sign-in page, and back', async () => {
  for (const route of guarded()) {
    const stranger = clientOf(api.app)
    await stranger.get('/dashboard/sign-in')
    const url = urlOf(route)
    const seen = route.method === 'GET' ? await stranger.get(url) : await stranger.post(url)
    const back = url === '/dashboard' || route.method === 'POST' ? '' : `?return=${encodeURIComponent(url)}`
    expect({ route: nameOf(route), status: seen.status, location: seen.location }).toStrictEqual({
      route: nameOf(route),
      status: 303,
      location: `/dashboard/sign-in${back}`,
    })
  }
})

test('the bare host redirects browsers to the dashboard', async () => {
  const seen = await clientOf(api.app).get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  expect(seen).toMatchObject({ status: 303, location: '/dashboard' })
})

describe('a form', () => {
  const forms = () => routes.filter(({ method }) => method === 'POST')

  test('without a token, or with one of another session, is refused', async () => {
    const owner = await signedInAgain('owner')
    await owner.get('/dashboard/account')
    const other = clientAs('support')
    await other.get('/dashboard/account')
    const stranger = clientOf(api.app)
    await stranger.get('/dashboard/sign-in')
    for (const route of forms()) {
      const url = urlOf(route)
      for (const _csrf of [undefined, '', 'made-up', other.formToken(), stranger.formToken()]) {
        const { status } = await owner.postBare(url, _csrf === undefined ? {} : { _csrf })
        expect({ route: nameOf(route), _csrf, status }).toStrictEqual({
          route: nameOf(route),
          _csrf,
          status: 403,
        })
      }
    }
    expect((await owner.get('/dashboard/account')).status).toBe(200)
  })

  test('for signing in needs a token too, so that no one is signed in as another person', async () => {
    const member = members.get('support')
    if (!member) throw new Error('there is a support')
    const { email, password } = member
    const stranger = clientOf(api.app)
    await stranger.get('/dashboard/sign-in')
    const code = member.newCode()
    expect((await stranger.postBare('/dashboard/sign-in', { email, password, code })).status).toBe(403)
    // The token of a page in one browser does not work in another.
    const elsewhere = clientOf(api.app)
    await elsewhere.get('/dashboard/sign-in')
    const stolen = { _csrf: elsewhere.formToken(), email, password, code }
    expect((await stranger.postBare('/dashboard/sign-in', stolen)).status).toBe(403)
    expect((await stranger.post('/dashboard/sign-in', { email, password, code })).status).toBe(303)
  })

  test('has no token when its cookie was not signed here', async () => {
    const owner = await signedInAgain('owner')
    await owner.get('/dashboard/account')
    expect((await owner.post('/dashboard/account/sessions/end-others')).status).toBe(303)
    const [secret = ''] = decodeURIComponent(owner.cookies.get('keyledger-form') ?? '').split('.')
    owner.cookies.set('keyledger-form', secret)
    expect((await owner.post('/dashboard/account/sessions/end-others')).status).toBe(403)
  })

  test.each(['cross-site', 'same-site', 'none'])('that comes %s is refused, token or not', async (site) => {
    const owner = await signedInAgain('owner')
    await owner.get('/dashboard/account')
    for (const route of forms()) {
      const { status } = await owner.post(urlOf(route), {}, { 'sec-fetch-site': site })
      expect({ route: nameOf(route), status }).toStrictEqual({ route: nameOf(route), status: 403 })
    }
    const same = await owner.post(
      '/dashboard/account/sessions/end-others',
      {},
      { 'sec-fetch-site': 'same-origin' },
    )
    expect(same.status).toBe(303)
  })
})

describe('a page', () => {
  const csp =
    "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';" +
    "form-action 'self';frame-ancestors 'none';base-uri 'none'"

  test('is never cached, never framed, and loads nothing from other origins, whatever its status', async () => {
    for (const route of [...routes, { method: 'GET', path: '/dashboard/nothing' } as const]) {
      const client = clientAs('support')
      const seen = route.method === 'GET' ? await client.get(urlOf(route)) : await client.post(urlOf(route))
      expect({ route: nameOf(route), headers: seen.headers }).toMatchObject({
        route: nameOf(route),
        headers: {
          'content-security-policy': csp,
          'cache-control': 'no-store',
          'x-frame-options': 'DENY',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'same-origin',
          'cross-origin-opener-policy': 'same-origin',
        },
      })
      expect(seen.headers).not.toHaveProperty('access-control-allow-origin')
      expect(seen.text).not.toMatch(/(?:src|href|action)="(?:https?:)?\/\//)
      expect(seen.text).not.toMatch(/<(?:script|style)>|\sstyle=|\son\w+=/)
    }
    clients.set('support', await signedInAgain('support'))
  })

  test('with unstorable input never causes a 500', async () => {
    const owner = await signedInAgain('owner')
    const seller = clientOf(api.app, '192.0.2.1')
    await seller.signIn(await makeSeller(api.ledger, tenant.tenantId))
    for (const odd of ['%00', '%ff', '%f0%9f%94%91', '..%2f..', "'%20or%201=1", 'a'.repeat(150)]) {
      for (const { method, path } of guarded().filter((route) => route.path.includes(':id'))) {
        const url = path.replace(':id', odd)
        const client = isOfResellers(path) ? seller : owner
        await client.get('/dashboard/account')
        const { status } = method === 'GET' ? await client.get(url) : await client.post(url)
        expect({ method, path, odd, isFine: [400, 404, 409].includes(status) }).toStrictEqual({
          method,
          path,
          odd,
          isFine: true,
        })
      }
    }
    for (const query of [
      'cursor=x',
      'cursor=a&cursor=b',
      'product=%00',
      'status=%00',
      'product[]=1',
      'return=1',
    ]) {
      for (const path of ['licenses', 'products', 'customers', 'tokens', 'device', 'sign-in', 'confirm']) {
        expect((await owner.get(`/dashboard/${path}?${query}`)).status).toBeLessThan(500)
      }
    }
  })
})

async function signedInAgain(role: Role): Promise<Client> {
  const client = clientOf(api.app)
  const member = members.get(role)
  if (member) await client.signIn(member)
  return client
}

test("another tenant's things get the response of unknown ones", async () => {
  const other = await makeTenant(api.ledger)
  await makeProduct(api.ask, other.token, 'foreign')
  const license = await mint(api.ask, other.token, 'foreign', { email: 'ada@example.com' })
  const customer = await api.ask('POST', '/v1/customers', {
    token: other.token,
    body: { email: 'ada@example.com' },
  })
  const customerId = /cus_\w+/.exec(customer.text)?.[0]
  const { id: gated } = license
  const asked = await api.ask('POST', `/v1/licenses/${gated}/revoke`, { token: other.token, body: {} })
  const confirmation = /cnf_\w+/.exec(asked.text)?.[0]
  const stranger = await makeMember(api.ledger, other.tenantId, 'support')
  const owner = await signedInAgain('owner')
  const own = clientOf(api.app)
  await own.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  for (const path of [
    `licenses/${license.id}`,
    'products/foreign',
    `customers/${customerId}`,
    `approvals/${confirmation}`,
    `members/${stranger.memberId}`,
    `tokens/${other.tokenId}`,
  ]) {
    expect((await own.get(`/dashboard/${path}`)).status).toBe(200)
    const foreign = await owner.get(`/dashboard/${path}`)
    const absent = await owner.get(`/dashboard/${path.replace(/[^/]+$/, idFor(`/${path}`))}`)
    const comparable = ({ status, text }: typeof foreign) => ({
      status,
      text: text.replace(/name="_csrf" value="[^"]+"/g, '').replace(/req_\w+/g, ''),
    })
    expect(comparable(foreign)).toStrictEqual(comparable(absent))
    expect(foreign.status).toBe(404)
  }
  await owner.get('/dashboard/account')
  for (const [path, fields] of [
    [`approvals/${confirmation}/approve`, { seen: '0'.repeat(64) }],
    [`approvals/${confirmation}/deny`, {}],
    [`tokens/${other.tokenId}/revoke`, {}],
    [`members/${stranger.memberId}/role`, { role: 'owner' }],
    [`members/${stranger.memberId}/link`, {}],
    [`members/${stranger.memberId}/remove`, {}],
    [`members/${stranger.memberId}/sessions/end`, {}],
  ] as const) {
    expect({ path, status: (await owner.post(`/dashboard/${path}`, fields)).status }).toStrictEqual({
      path,
      status: 404,
    })
  }
  for (const list of ['licenses', 'products', 'customers', 'tokens', 'members', 'approvals', '']) {
    const { text } = await owner.get(`/dashboard/${list}`)
    expect(text).not.toMatch(
      new RegExp(`foreign|${license.id}|${customerId}|${confirmation}|${stranger.memberId}`),
    )
  }
})

test('text from people and API clients is always shown as text', async () => {
  const evil = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
  await makeProduct(api.ask, tenant.token, 'evil', { name: evil, keyTypes: [{ name: evil }] })
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'evil', {
    metadata: { [evil.slice(0, 60)]: evil },
  })
  const device = { product_id: 'evil', license_key: licenseKey, device_id: evil, name: evil }
  await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body: device })
  const asked = await api.ask('POST', `/v1/licenses/${id}/revoke`, {
    token: tenant.token,
    body: { reason: evil },
    headers: { 'user-agent': evil },
  })
  const confirmation = /cnf_\w+/.exec(asked.text)?.[0]
  const owner = await signedInAgain('owner')
  for (const path of [
    '',
    'products',
    'products/evil',
    'licenses',
    `licenses/${id}`,
    'approvals',
    `approvals/${confirmation}`,
  ]) {
    const { status, text } = await owner.get(`/dashboard/${path}`)
    expect({ path, status }).toStrictEqual({ path, status: 200 })
    expect(text).not.toMatch(/<script>|<img/)
  }
  const { text } = await owner.get(`/dashboard/device?code=${encodeURIComponent(evil.slice(0, 38))}`)
  expect(text).not.toMatch(/<script>|<img/)
})

test('assets are cached indefinitely, and no other file is served', async () => {
  const stranger = clientOf(api.app)
  const { text } = await stranger.get('/dashboard/sign-in')
  const paths = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
  expect(paths.map((path) => path.split('/').at(-1)).sort()).toStrictEqual([
    'dashboard.css',
    'dashboard.js',
    'htmx.min.js',
    'icon.svg',
    'index.umd.min.js',
  ])
  for (const path of paths) {
    const { status, headers } = await stranger.get(path)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers).not.toHaveProperty('set-cookie')
  }
  const folder = paths[0]?.replace(/[^/]+$/, '') ?? ''
  for (const name of ['', 'htmx.js', 'ext/debug.js', '../assets.ts', '%2e%2e/assets.ts', '..%2fassets.ts']) {
    expect([403, 404]).toContain((await stranger.get(folder + name)).status)
  }
})
