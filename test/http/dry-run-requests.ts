import { z } from 'zod'
import { findDelivery, listDeliveries } from '../../projections/deliveries/queries.ts'
import { issueCheckoutKey } from '../../src/commands/client-keys.ts'
import { recordAttempt, scheduleDelivery } from '../../src/commands/deliveries.ts'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { makeReseller, makeRole } from '../dashboard/members.ts'
import type { TestApi, TestTenant } from '../harness/api.ts'
import { addTestEndpoint } from '../harness/dispatch.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'
import { connectAccount } from '../harness/selling-api.ts'
import { addTestProvider } from '../harness/sign-in-providers.ts'
import { purchase } from '../sales/notifications.ts'
import { parkedSale, type Shop } from '../sales/shop.ts'
import { sdkKeyOf } from './apps.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'

/** What the requests of all writes are about: a shop with one of everything. */
export type Shelf = {
  token: string
  checkoutKey: string
  sdkKey: string
  ids: Record<
    | 'credit'
    | 'customer'
    | 'note'
    | 'team'
    | 'person'
    | 'delivery'
    | 'imported'
    | 'kept'
    | 'license'
    | 'linked'
    | 'merged'
    | 'metered'
    | 'replay'
    | 'revoked'
    | 'sale'
    | 'sharedCredit'
    | 'sharer'
    | 'suspended'
    | 'teamLicense'
    | 'reseller'
    | 'role'
    | 'tenant'
    | 'token'
    | 'unmapped',
    string
  >
}

const Note = z.object({ note: z.object({ id: z.string() }) })
const People = z.object({ people: z.tuple([z.object({ id: z.string() })]) })
const Replay = z.looseObject({ replay: z.looseObject({ id: z.string() }) })
const Import = z.looseObject({ results: z.array(z.looseObject({ id: z.string() })) })

/** Fills a shop with one of everything that a write may be about. */
export async function stock(api: TestApi, shop: Shop): Promise<Shelf> {
  const { tenantId, token } = shop
  const { ports } = api.ledger
  const post = (path: string, body?: object) => api.ask('POST', path, { token, body })
  await makeProduct(api.ask, token, 'keeping', { keyRecovery: true })
  const { id: license, licenseKey } = await mint(api.ask, token, 'editor', { deviceLimit: 3 })
  const device = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  await post('/v1/licenses/activate', device)
  await post('/v1/licenses/activate', { ...device, device_id: 'desk' })
  await post('/v1/licenses/deactivate', { ...device, device_id: 'desk' })
  const linked = (await mint(api.ask, token, 'editor')).id
  const suspended = (await mint(api.ask, token, 'editor')).id
  const revoked = (await mint(api.ask, token, 'editor')).id
  const workspace = (customersByAddress: boolean) =>
    api.ask('PATCH', '/v1/workspace', { token, body: { customersByAddress } })
  await workspace(false)
  await mint(api.ask, token, 'editor', { email: 'grace@example.com' })
  await workspace(true)
  const kept = (await mint(api.ask, token, 'keeping', { email: 'ada@example.com' })).id
  const customer = await makeCustomer(api.ask, token)
  const wording = { kind: 'fell_back', subject: 'Ended', text: 'Ended' }
  await api.ask('PUT', '/v1/mail-templates', { token, body: wording })
  await api.ask('PUT', '/v1/mail-sender', { token, body: { sender: 'postmark' } })
  await api.ask('PUT', '/v1/portal', { token, body: { enabled: true, name: 'Shop' } })
  await api.ask('PUT', '/v1/portal/languages/fr', { token, body: { name: 'Français', texts: {} } })
  const team = await makeCustomer(api.ask, token, { email: 'team@example.com' })
  await post(`/v1/customers/${team}/organization`)
  const person = People.parse(
    (await post(`/v1/customers/${team}/people`, { people: [{ email: 'hopper@example.com' }], invite: false }))
      .body,
  ).people[0].id
  await post('/v1/products/editor/key-types', {
    ...{ keyTypeId: 'team', name: 'Team', deviceLimit: 2 },
    namedSeats: { devicesPerPerson: 1, reassignEveryDays: 30 },
  })
  const teamLicense = (await mint(api.ask, token, 'editor', { keyTypeId: 'team', customerId: team })).id
  await post(`/v1/licenses/${teamLicense}/people`, { personId: person })
  const noted = await post(`/v1/customers/${customer}/notes`, { text: 'Calls on Mondays.' })
  await post(`/v1/customers/${customer}/link-license`, { licenseId: linked })
  await addTestProvider(api.ledger, tenantId, 'login')
  const merged = await makeCustomer(api.ask, token, { email: 'twice@example.com' })
  await post(`/v1/customers/${merged}/merge`, { into: customer })
  await post(`/v1/licenses/${suspended}/suspend`, {})
  const rows = { productId: 'editor', licenses: [{ licenseKey: 'OLD-4711-XKCD-2049' }] }
  const { results } = Import.parse((await post('/v1/licenses/import', rows)).body)
  await post('/v1/integrations/gumroad/connect')
  await post('/v1/integrations/paddle/connect', { webhookSecret: 'pdl_1' })
  await connectAccount(ports, tenantId, 'acct_1')
  await shop.tell(purchase('unmapped', { provider: 'paddle', sold: { providerProduct: 'pri_1' } }).sold())
  const unmapped = (await shop.sales()).find(({ saleId }) => saleId === 'cs_unmapped')?.id ?? ''
  const sale = await parkedSale(api.ledger, tenantId)
  await makeProduct(api.ask, token, 'unknown')
  await addTestEndpoint(api.ledger, tenantId, 'https://public.example.com/hook')
  const { replay } = Replay.parse((await post('/v1/webhook/replays', { from: '2026-01-01T00:00:00Z' })).body)
  return {
    token,
    checkoutKey: (await issueCheckoutKey(ports, tenantId, origin)).checkoutKey,
    sdkKey: await sdkKeyOf(api.ledger, tenantId),
    ids: {
      customer,
      merged,
      role: (await makeRole(api.ledger, tenantId, ['licenses:read'])).roleId,
      reseller: (await makeReseller(api.ledger, tenantId)).resellerId,
      note: Note.parse(noted.body).note.id,
      team,
      person,
      teamLicense,
      delivery: await deliveryOf(api.ledger, shop, license),
      ...(await usedMeters(api, token)),
      imported: results[0]?.id ?? '',
      kept,
      license,
      linked,
      replay: replay.id,
      revoked: await revokedLicense(api, shop, revoked),
      sale,
      suspended,
      tenant: tenantId,
      token: shop.tokenId,
      unmapped,
    },
  }
}

async function deliveryOf({ ports }: TestLedger, { tenantId }: TestTenant, licenseId: string) {
  const event = { tenantId, licenseId, licenseRevision: 0, event: 'license.issued' } as const
  await scheduleDelivery(ports, { ...event, channel: 'webhook', endpointId: 'first', sequence: 1 }, origin)
  const [delivery] = await listDeliveries(ports.db, tenantId, {}, { after: undefined, limit: 1 }).then(
    ({ items }) => items,
  )
  const id = delivery?.deliveryId ?? ''
  const entry = await findDelivery(ports.db, tenantId, id)
  if (!entry) throw new Error('the delivery was not scheduled')
  const result = { outcome: 'delivered', status: 200, excerpt: null } as const
  await recordAttempt(ports, entry, { startedAt: '2026-03-01T12:00:00.000Z', durationMs: 1, result }, origin)
  return id
}

const Credit = z.looseObject({ creditId: z.string() })

/** A meter of a license and one that a customer shares, each with a credit and a use. */
async function usedMeters({ ask }: TestApi, token: string) {
  const meter = { meter: 'calls', unit: 'calls', included: '100', period: 'license', overage: 'block' }
  await makeProduct(ask, token, 'metered', { keyTypes: [{ name: 'Pro', meters: [meter] }] })
  const sharer = await makeCustomer(ask, token, { email: 'eli@example.com', meters: [meter] })
  const own = await mint(ask, token, 'metered')
  const sharing = await mint(ask, token, 'metered', { customerId: sharer })
  const use = { product_id: 'metered', meter: 'calls', amount: '5', idempotency_key: 'used' }
  for (const { licenseKey } of [own, sharing])
    await ask('POST', '/v1/licenses/consume', { token, body: { ...use, license_key: licenseKey } })
  const credit = async (of: string) => {
    const body = { meter: 'calls', amount: '10', idempotencyKey: 'credited' }
    return Credit.parse((await ask('POST', `/v1/${of}/credits`, { token, body })).body).creditId
  }
  return {
    metered: own.id,
    credit: await credit(`licenses/${own.id}`),
    sharer,
    sharedCredit: await credit(`customers/${sharer}`),
  }
}

async function revokedLicense({ ledger }: TestApi, { tenantId }: TestTenant, id: string): Promise<string> {
  await revokeLicense(ledger.ports, tenantId, id, null, origin)
  return id
}

const url = 'https://public.example.com/other'

const ofMeter = (
  holders: 'customers' | 'licenses',
  id: string,
  creditId: string,
): Record<string, [path: string, body: object]> => ({
  [`POST /v1/${holders}/{id}/credits`]: [
    `/v1/${holders}/${id}/credits`,
    { meter: 'calls', amount: '5', idempotencyKey: 'another' },
  ],
  [`POST /v1/${holders}/{id}/meters/{meter}/credits/{creditId}/withdraw`]: [
    `/v1/${holders}/${id}/meters/calls/credits/${creditId}/withdraw`,
    { reason: 'refunded' },
  ],
  [`POST /v1/${holders}/{id}/meters/{meter}/corrections`]: [
    `/v1/${holders}/${id}/meters/calls/corrections`,
    { amount: '1', reason: 'counted twice', idempotencyKey: 'another' },
  ],
})

/** A request of each write that offers a dry run, by its method and path in the description. */
export const rehearsals = ({ ids }: Shelf): Record<string, [path: string, body?: object]> => ({
  'POST /v1/tokens/{id}/revoke': [`/v1/tokens/${ids.token}/revoke`],
  'POST /v1/logout': ['/v1/logout'],
  'POST /v1/products': ['/v1/products', { name: 'Another', keyTypes: [{ name: 'Pro' }] }],
  'PATCH /v1/products/{productId}': ['/v1/products/editor', { name: 'Other' }],
  'POST /v1/products/{productId}/key-types': ['/v1/products/editor/key-types', { name: 'Yearly' }],
  'PATCH /v1/products/{productId}/key-types/{keyTypeId}': [
    '/v1/products/editor/key-types/monthly',
    { name: 'Other' },
  ],
  'DELETE /v1/products/{productId}/key-types/{keyTypeId}': ['/v1/products/editor/key-types/forever'],
  'PUT /v1/products/{productId}/releases': [
    '/v1/products/editor/releases',
    { releases: [{ version: '1', builtAt: '2026-03-01T00:00:00.000Z' }] },
  ],
  'PUT /v1/products/{productId}/mail': ['/v1/products/editor/mail', { subject: 'Your key' }],
  'PUT /v1/mail-templates': ['/v1/mail-templates', { kind: 'expired', subject: 'Gone', text: 'Gone' }],
  'DELETE /v1/mail-templates/{templateId}': ['/v1/mail-templates/fell_back.*.*'],
  'PUT /v1/mail-style': ['/v1/mail-style', { footer: 'London' }],
  'PUT /v1/mail-sender': ['/v1/mail-sender', { sender: 'postmark' }],
  'DELETE /v1/mail-sender': ['/v1/mail-sender'],
  'PUT /v1/portal': ['/v1/portal', { enabled: true }],
  'PUT /v1/portal/logo': ['/v1/portal/logo', { data: 'iVBORw0KGgo=' }],
  'DELETE /v1/portal/logo': ['/v1/portal/logo'],
  'PUT /v1/portal/languages/{tag}': ['/v1/portal/languages/it', { name: 'Italiano', texts: {} }],
  'DELETE /v1/portal/languages/{tag}': ['/v1/portal/languages/fr'],
  'POST /v1/products/{productId}/free-tier': ['/v1/products/editor/free-tier', { enabled: true }],
  'POST /v1/products/{productId}/test-mode': [
    '/v1/products/editor/test-mode',
    { publishableKey: 'pk_test_1', secretKey: 'rk_test_1' },
  ],
  'DELETE /v1/products/{productId}/test-mode': ['/v1/products/editor/test-mode'],
  'POST /v1/licenses': [
    '/v1/licenses',
    { productId: 'keeping', email: 'new@example.com', sendKey: true, customerId: ids.customer },
  ],
  'PATCH /v1/workspace': ['/v1/workspace', { name: 'Acme Tools' }],
  'PATCH /v1/licenses/{id}': [`/v1/licenses/${ids.license}`, { deviceLimit: 9, email: 'new@example.com' }],
  'POST /v1/licenses/{id}/revoke': [`/v1/licenses/${ids.license}/revoke`],
  'POST /v1/licenses/{id}/remint': [`/v1/licenses/${ids.kept}/remint`, { sendKey: true }],
  'POST /v1/licenses/{id}/send-key': [`/v1/licenses/${ids.kept}/send-key`],
  'POST /v1/licenses/{id}/suspend': [`/v1/licenses/${ids.license}/suspend`],
  'POST /v1/licenses/{id}/resume': [`/v1/licenses/${ids.suspended}/resume`],
  'DELETE /v1/licenses/{id}/people/{personId}': [`/v1/licenses/${ids.teamLicense}/people/${ids.person}`],
  'POST /v1/licenses/{id}/allow-sharing': [`/v1/licenses/${ids.license}/allow-sharing`, { allowed: true }],
  'POST /v1/licenses/published-keys': ['/v1/licenses/published-keys', { found: ['OLD-4711-XKCD-2049'] }],
  'POST /v1/licenses/{id}/reinstate': [`/v1/licenses/${ids.revoked}/reinstate`],
  ...ofMeter('licenses', ids.metered, ids.credit),
  ...ofMeter('customers', ids.sharer, ids.sharedCredit),
  'POST /v1/licenses/{id}/reseat-device': [`/v1/licenses/${ids.license}/reseat-device`, { deviceId: 'desk' }],
  'POST /v1/licenses/{id}/take-back-import': [`/v1/licenses/${ids.imported}/take-back-import`],
  'POST /v1/licenses/{id}/deactivate-device': [
    `/v1/licenses/${ids.license}/deactivate-device`,
    { deviceId: 'laptop' },
  ],
  'POST /v1/licenses/import': [
    '/v1/licenses/import',
    { productId: 'keeping', licenses: [{ licenseKey: 'OLD-1234-ABCD-5678', email: 'grace@example.com' }] },
  ],
  'POST /v1/customers': ['/v1/customers', { email: 'new@example.com' }],
  'POST /v1/customers/link-licenses': ['/v1/customers/link-licenses'],
  'POST /v1/customers/{id}/merge': [`/v1/customers/${ids.customer}/merge`, { into: ids.sharer }],
  'POST /v1/customers/{id}/unmerge': [`/v1/customers/${ids.merged}/unmerge`],
  'PATCH /v1/customers/{id}': [`/v1/customers/${ids.customer}`, { email: 'other@example.com' }],
  'DELETE /v1/customers/{id}': [`/v1/customers/${ids.customer}`],
  'POST /v1/customers/{id}/link-license': [
    `/v1/customers/${ids.customer}/link-license`,
    { licenseId: ids.license },
  ],
  'POST /v1/customers/{id}/unlink-license': [
    `/v1/customers/${ids.customer}/unlink-license`,
    { licenseId: ids.linked },
  ],
  'POST /v1/customers/{id}/notes': [`/v1/customers/${ids.customer}/notes`, { text: 'Pays by invoice.' }],
  'DELETE /v1/customers/{id}/notes/{noteId}': [`/v1/customers/${ids.customer}/notes/${ids.note}`],
  'POST /v1/customers/{id}/organization': [`/v1/customers/${ids.customer}/organization`],
  'DELETE /v1/customers/{id}/organization': [`/v1/customers/${ids.team}/organization`],
  'POST /v1/customers/{id}/people': [
    `/v1/customers/${ids.team}/people`,
    { people: [{ email: 'lovelace@example.com' }], invite: false },
  ],
  'PATCH /v1/customers/{id}/people/{personId}': [
    `/v1/customers/${ids.team}/people/${ids.person}`,
    { role: 'administrator' },
  ],
  'DELETE /v1/customers/{id}/people/{personId}': [`/v1/customers/${ids.team}/people/${ids.person}`],
  'POST /v1/customers/{id}/people/{personId}/invite': [
    `/v1/customers/${ids.team}/people/${ids.person}/invite`,
    {},
  ],
  'PATCH /v1/customers/{id}/entitlements': [
    `/v1/customers/${ids.customer}/entitlements`,
    { overrides: [{ entitlement: 'export', effect: 'grant' }] },
  ],
  'POST /v1/resellers': [
    '/v1/resellers',
    { name: 'Northwind', quotas: [{ productId: 'editor', keyTypeId: 'forever', licenses: 5 }] },
  ],
  'PATCH /v1/resellers/{id}': [`/v1/resellers/${ids.reseller}`, { name: 'Sunrise' }],
  'POST /v1/resellers/{id}/close': [`/v1/resellers/${ids.reseller}/close`],
  'POST /v1/sdk-key/rotate': ['/v1/sdk-key/rotate'],
  'POST /v1/roles': ['/v1/roles', { name: 'Reporting', scopes: ['usage:read'] }],
  'PATCH /v1/roles/{id}': [`/v1/roles/${ids.role}`, { scopes: ['usage:read'] }],
  'DELETE /v1/roles/{id}': [`/v1/roles/${ids.role}`],
  'POST /v1/sign-in-providers': [
    '/v1/sign-in-providers',
    {
      id: 'entra',
      issuer: 'https://public.example.com',
      clientId: 'keyledger',
      clientSecret: 'a secret',
      name: 'Login',
      domains: ['acme.example'],
    },
  ],
  'PATCH /v1/sign-in-providers/{id}': ['/v1/sign-in-providers/login', { name: 'Login' }],
  'DELETE /v1/sign-in-providers/{id}': ['/v1/sign-in-providers/login'],
  'PUT /v1/scim': ['/v1/scim', { roles: [{ group: 'Admins', role: 'admin' }], defaultRole: null }],
  'PUT /v1/webhook': ['/v1/webhook', { url }],
  'POST /v1/webhook-endpoints': ['/v1/webhook-endpoints', { url }],
  'PATCH /v1/webhook-endpoints/{id}': ['/v1/webhook-endpoints/first', { paused: true }],
  'DELETE /v1/webhook-endpoints/{id}': ['/v1/webhook-endpoints/first'],
  'POST /v1/webhook-endpoints/{id}/rotate-secret': ['/v1/webhook-endpoints/first/rotate-secret'],
  'POST /v1/webhook/deliveries/{id}/redeliver': [`/v1/webhook/deliveries/${ids.delivery}/redeliver`],
  'POST /v1/webhook/replays': ['/v1/webhook/replays', { from: '2026-01-01T00:00:00Z' }],
  'POST /v1/webhook/replays/{id}/pause': [`/v1/webhook/replays/${ids.replay}/pause`],
  'POST /v1/webhook/replays/{id}/resume': [`/v1/webhook/replays/${ids.replay}/resume`],
  'POST /v1/webhook/replays/{id}/cancel': [`/v1/webhook/replays/${ids.replay}/cancel`],
  'POST /v1/integrations/{provider}/connect': [
    '/v1/integrations/polar/connect',
    { webhookSecret: 'polar_1' },
  ],
  'PUT /v1/integrations/stripe/use-reports': ['/v1/integrations/stripe/use-reports', { on: true }],
  'DELETE /v1/integrations/{provider}': ['/v1/integrations/gumroad'],
  'POST /v1/integrations/{provider}/rotate-secret': ['/v1/integrations/gumroad/rotate-secret'],
  'POST /v1/products/{productId}/integrations/{provider}': [
    '/v1/products/editor/integrations/paddle',
    { prices: { pri_2: 'forever' } },
  ],
  'POST /v1/products/{productId}/integrations/{provider}/credit-packs': [
    '/v1/products/editor/integrations/paddle/credit-packs',
    { packs: [{ id: 'pri_pack', meter: 'calls', amount: '500' }] },
  ],
  'POST /v1/sales/{id}/replay': [`/v1/sales/${ids.sale}/replay`],
  'POST /v1/sales/{id}/map': [`/v1/sales/${ids.unmapped}/map`, { productId: 'editor', keyTypeId: 'forever' }],
})

/** Those of which the request changes nothing: a replay that runs is resumed, and there are no logo and no test mode. */
export const unchanging: ReadonlySet<string> = new Set([
  'POST /v1/webhook/replays/{id}/resume',
  'DELETE /v1/portal/logo',
  'DELETE /v1/products/{productId}/test-mode',
])
