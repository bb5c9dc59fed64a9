/**
 * Guarantee: requests for another tenant's data get the same response as for unknown ids: status, body and headers,
 * byte for byte, on every route of the management interface and of the dashboard, and for every kind of id. So do those of a reseller for what
 * their vendor has.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { scheduleDelivery } from '../../src/commands/deliveries.ts'
import { requestReplay } from '../../src/commands/replays.ts'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import { type Client, clientOf, type Seen } from '../dashboard/client.ts'
import { isOfResellers, makeMember, makeReseller, makeRole, makeSeller } from '../dashboard/members.ts'
import { nameOf, type Route } from '../dashboard/routes.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { addTestEndpoint, pointWebhook } from '../harness/dispatch.ts'
import { pendingId } from '../harness/gate.ts'
import { beginning, origin } from '../harness/ledger.ts'
import { startNotary, type TestNotary } from '../harness/notary.ts'
import { addTestProvider } from '../harness/sign-in-providers.ts'
import { waitMs } from '../harness/time-limits.ts'
import { parkedSale } from '../sales/shop.ts'
import type { Things, Which } from './foreign-ids.ts'
import { addressesOf, pagesWithIds } from './foreign-pages.ts'
import { places } from './foreign-places.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'
import { templateOf } from './template.ts'

let api: TestApi
let asking: TestTenant
let owner: TestTenant
let notary: TestNotary
let owned: Things

beforeAll(async () => {
  api = await openTestApi()
  asking = await makeTenant(api.ledger)
  owner = await makeTenant(api.ledger)
  const { ask } = api
  await makeProduct(ask, asking.token, 'shared-name')
  await makeProduct(ask, owner.token, 'shared-name', { keyTypes: [{ name: 'Owned type' }] })
  const floatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device' }
  const meters = [{ meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }]
  await makeProduct(ask, owner.token, 'owned', {
    keyTypes: [
      { name: 'Owned type', meters },
      { name: 'Floating', seatPolicy: 'floating', floatingSeats },
    ],
  })
  const wording = { kind: 'expired', productId: 'owned', subject: 'Gone', text: 'Gone' }
  await ask('PUT', '/v1/mail-templates', { token: owner.token, body: wording })
  const license = await mint(ask, owner.token, 'owned', { keyTypeId: 'owned-type', email: 'ada@example.com' })
  owned = {
    license,
    floating: await mint(ask, owner.token, 'owned', { keyTypeId: 'floating' }),
    sameName: await mint(ask, owner.token, 'shared-name'),
    customer: await makeCustomer(ask, owner.token),
    reseller: (await makeReseller(api.ledger, owner.tenantId)).resellerId,
    testPurchase: await playPurchase(),
    endpoint: await otherEndpoint(),
    signInProvider: await ownProvider(),
    role: (await makeRole(api.ledger, owner.tenantId, ['licenses:read'])).roleId,
    replay: await runningReplay(),
    delivery: await pendingDelivery(license.id),
    sale: await parkedSale(api.ledger, owner.tenantId),
    confirmation: pendingId(await ask('POST', `/v1/licenses/${license.id}/revoke`, { token: owner.token })),
    token: owner.tokenId,
    member: (await makeMember(api.ledger, owner.tenantId, 'support')).memberId,
    ownCustomer: await makeCustomer(ask, asking.token),
    unknownKey: newLicenseKey('ACME', api.ledger.ports.randomBytes).licenseKey,
  }
  await mint(ask, owner.token, 'owned', { keyTypeId: 'owned-type' })
  notary = startNotary(api.ledger)
})
afterAll(async () => {
  await notary.stop()
  await api.close()
})

const Purchase = z.object({ testPurchase: z.object({ id: z.string(), status: z.string() }) })

/**
 * Uses a provider that the owner has connected and mapped, so that a stranger could reach those too. Resolves after
 * its license exists.
 */
async function playPurchase(): Promise<string> {
  const { token } = owner
  await api.ask('POST', '/v1/integrations/gumroad/connect', { token })
  const body = { permalinks: ['owned'] }
  await api.ask('POST', '/v1/products/owned/integrations/gumroad', { token, body })
  const started = await api.ask('POST', '/v1/test-purchase', { token, body: { productId: 'owned' } })
  const { id } = Purchase.parse(started.body).testPurchase
  const status = async () => {
    const { body } = await api.ask('GET', `/v1/test-purchase/${id}`, { token })
    return Purchase.parse(body).testPurchase.status
  }
  await vi.waitUntil(async () => (await status()) !== 'running', { timeout: waitMs, interval: 20 })
  return id
}

/** An endpoint besides the first one, whose id every tenant may have. */
async function otherEndpoint(): Promise<string> {
  const url = 'https://public.example.com/hook'
  await pointWebhook(api.ledger, owner.tenantId, url)
  return (await addTestEndpoint(api.ledger, owner.tenantId, url)).endpointId
}

async function ownProvider(): Promise<string> {
  return (await addTestProvider(api.ledger, owner.tenantId, 'owned-login')).providerId
}

async function runningReplay(): Promise<string> {
  const { ports } = api.ledger
  const asked = {
    from: beginning,
    to: undefined,
    events: undefined,
    endpointId: 'first',
    only: 'all',
  } as const
  const replayId = ports.newId('whr')
  await requestReplay(ports, owner.tenantId, asked, replayId, origin)
  return replayId
}

/** A delivery before its first attempt. */
async function pendingDelivery(licenseId: string): Promise<string> {
  const { ports } = api.ledger
  await scheduleDelivery(
    ports,
    {
      tenantId: owner.tenantId,
      channel: 'webhook',
      endpointId: 'first',
      event: 'license.activated',
      licenseId,
      licenseRevision: 0,
      sequence: 1,
    },
    origin,
  )
  const { body } = await api.ask('GET', '/v1/webhook/deliveries', { token: owner.token })
  const { items } = z.object({ items: z.array(z.looseObject({ id: z.string() })) }).parse(body)
  return items[0]?.id ?? ''
}

/** The response without what differs between any two requests. */
function comparable({ status, text, headers }: Answer) {
  const { 'request-id': _, date: __, ...rest } = headers
  return { status, text, headers: rest }
}

const everythingOwned = async () => {
  const { token } = owner
  const answers = []
  const urls = [
    '/v1/products',
    '/v1/licenses',
    '/v1/customers',
    '/v1/resellers',
    `/v1/licenses/${owned.license.id}`,
    '/v1/integrations',
    '/v1/webhook/deliveries',
    '/v1/webhook/replays',
    '/v1/webhook-endpoints',
    '/v1/sign-in-providers',
    '/v1/roles',
    '/v1/sales',
  ]
  for (const url of urls) {
    answers.push((await api.ask('GET', url, { token })).text)
  }
  return answers
}

test.each(places)('%s returns %i, the same response as for an unknown id', async (_, status, request) => {
  const before = await everythingOwned()
  const send = async (which: 'owned' | 'absent') => {
    const { method, url, body } = request(which, owned)
    return comparable(await api.ask(method, url, { token: asking.token, body }))
  }
  const foreign = await send('owned')
  expect(foreign.status).toBe(status)
  expect(foreign).toStrictEqual(await send('absent'))
  expect(await everythingOwned()).toStrictEqual(before)
})

const person = async (given: Awaited<ReturnType<typeof makeMember>>, address: string): Promise<Client> => {
  const client = clientOf(api.app, address)
  expect((await client.signIn(given)).status).toBe(303)
  return client
}

/** A page without what the request had in it: its id, and the token of its forms. */
const pageOf = ({ status, text, location }: Seen, url: string) => {
  const id = /(?:[a-z]+_\w{26}|owned|absent)/.exec(url.replace('owned-type', ''))?.[0] ?? url
  const plain = text.replaceAll(id, 'ID').replaceAll(/name="_csrf" value="[^"]*"/g, '')
  return { status, text: plain, location: location?.replaceAll(encodeURIComponent(id), 'ID') }
}

async function visit(client: Client, route: Route, which: Which): Promise<ReturnType<typeof pageOf>[]> {
  const seen = []
  for (const url of addressesOf(route, which, owned))
    seen.push(pageOf(await (route.method === 'GET' ? client.get(url) : client.post(url)), url))
  return seen
}

test('every page and form of the dashboard answers a stranger and a reseller as for an unknown id', async () => {
  const stranger = await person(await makeMember(api.ledger, asking.tenantId, 'owner'), '192.0.2.1')
  const seller = await person(await makeSeller(api.ledger, owner.tenantId), '192.0.2.2')
  const before = await everythingOwned()
  for (const client of [stranger, seller]) {
    await client.get('/dashboard/account')
    for (const route of pagesWithIds(api.app)) {
      const foreign = await visit(client, route, 'owned')
      expect([nameOf(route), foreign]).toStrictEqual([nameOf(route), await visit(client, route, 'absent')])
      const status = isOfResellers(route.path) === (client === seller) ? 404 : 403
      if (route.method === 'GET')
        for (const page of foreign)
          expect([nameOf(route), page.status]).toStrictEqual([nameOf(route), status])
    }
  }
  expect(await everythingOwned()).toStrictEqual(before)
}, 120_000)

test('the same pages open for the owner', async () => {
  const client = await person(await makeMember(api.ledger, owner.tenantId, 'owner'), '192.0.2.3')
  const closed: string[] = []
  for (const route of pagesWithIds(api.app).filter(({ method }) => method === 'GET')) {
    const seen = await visit(client, route, 'owned')
    if (seen.every(({ status }) => status >= 400)) closed.push(nameOf(route))
  }
  expect(closed).toStrictEqual([
    // What this license and this customer do not have.
    'GET /dashboard/licenses/:id/people',
    'GET /dashboard/licenses/:id/receipts/:sequence',
    'GET /dashboard/customers/:id/meters/:meter',
    // The people of resellers alone open these.
    'GET /dashboard/reseller/licenses/:id',
    'GET /dashboard/reseller/customers/:id',
  ])
}, 120_000)

test('the same requests succeed for the owner', async () => {
  const { token } = owner
  const reads = places
    .map(([, , request]) => request('owned', owned))
    .filter(({ method }) => method === 'GET')
  expect(reads).not.toHaveLength(0)
  // An export is passed to the gate, which requires an approval.
  for (const { url } of reads) expect([200, 202]).toContain((await api.ask('GET', url, { token })).status)
  const key = { product_id: 'owned', license_key: owned.license.licenseKey }
  const { body } = await api.ask('POST', '/v1/licenses/validate', { token, body: key })
  expect(body).toMatchObject({ valid: true })
})

test("a product can have the same id as another tenant's product", async () => {
  const body = { name: 'Owned', productId: 'owned' }
  const fresh = await makeTenant(api.ledger)
  expect(await api.ask('POST', '/v1/products', { token: fresh.token, body })).toMatchObject({ status: 201 })
})

test('lists contain nothing of other tenants', async () => {
  const fresh = await makeTenant(api.ledger)
  for (const url of ['/v1/products', '/v1/licenses', '/v1/customers', '/v1/webhook/deliveries']) {
    const { body } = await api.ask('GET', url, { token: fresh.token })
    expect(body).toStrictEqual({ items: [], nextCursor: null })
  }
})

test('every route with a token and an id is tested here', async () => {
  const { body } = await api.ask('GET', '/v1/openapi.json')
  const { paths } = z
    .object({
      paths: z.record(
        z.string(),
        z.record(z.string(), z.looseObject({ security: z.array(z.record(z.string(), z.unknown())) })),
      ),
    })
    .parse(body)
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) =>
      security.some((way) => 'accessToken' in way) ? `${method.toUpperCase()} ${path}` : [],
    ),
  )
  const withoutIds = [
    'GET /v1/tokens',
    'POST /v1/customers/link-licenses',
    'POST /v1/licenses/published-keys',
    'GET /v1/tokens/verify',
    'POST /v1/logout',
    'GET /v1/products',
    'POST /v1/products',
    'GET /v1/insights',
    'GET /v1/mail-templates',
    'GET /v1/mail-style',
    'PUT /v1/mail-style',
    'GET /v1/mail-sender',
    'PUT /v1/mail-sender',
    'DELETE /v1/mail-sender',
    'GET /v1/mails',
    'GET /v1/portal',
    'PUT /v1/portal',
    'PUT /v1/portal/logo',
    'DELETE /v1/portal/logo',
    'GET /v1/workspace',
    'PATCH /v1/workspace',
    'GET /v1/customers',
    'GET /v1/resellers',
    'POST /v1/customers',
    'GET /v1/sales/ignored',
    'GET /v1/sales/parked',
    'GET /v1/sales/unmatched',
    'GET /v1/sdk-key',
    'POST /v1/sdk-key/rotate',
    // A cursor is bound to its tenant: test/webhooks/events-feed.test.ts.
    'GET /v1/events',
    'GET /v1/webhook',
    'PUT /v1/webhook',
    'GET /v1/sign-in-providers',
    'GET /v1/roles',
    'POST /v1/roles',
    'GET /v1/scim',
    'GET /v1/webhook-endpoints',
    'GET /v1/webhook/replays',
    'POST /v1/webhook-endpoints',
    // Providers are the same for every tenant; their state depends on the token alone.
    'GET /v1/integrations',
    'GET /v1/integrations/stripe/status',
    'GET /v1/integrations/stripe/use-reports',
    'PUT /v1/integrations/stripe/use-reports',
    'POST /v1/integrations/stripe/connect',
    'POST /v1/integrations/stripe/own-account',
    'POST /v1/integrations/{provider}/connect',
    'POST /v1/integrations/{provider}/endpoint',
    'DELETE /v1/integrations/{provider}',
    'POST /v1/integrations/{provider}/rotate-secret',
  ]
  const tried = places.map(([, , request]) => {
    const { method, url } = request('owned', owned)
    return `${method} ${templateOf(url)}`
  })
  expect(new Set(described.filter((route) => !withoutIds.includes(route)))).toStrictEqual(new Set(tried))
})
