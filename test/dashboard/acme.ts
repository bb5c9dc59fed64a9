import { z } from 'zod'
import { createBeaconReceiver } from '../../src/commands/devices/beacons.ts'
import { addMember, issueLink } from '../../src/commands/members/members.ts'
import { mintForReseller } from '../../src/commands/resellers/licenses.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { combinableScopes, resellerScopes, type Scope } from '../../src/domain/tokens/events.ts'
import type { TestTenant } from '../harness/api.ts'
import { origin, type TestLedger, uniqueId } from '../harness/ledger.ts'
import { addTestProvider } from '../harness/sign-in-providers.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { meterSome } from './acme-meters.ts'
import type { TestDashboard } from './dashboard.ts'
import { makeMember, makeReseller, makeRole, type TestMember } from './members.ts'

export type Acme = {
  tenantId: string
  owner: TestMember
  auditor: TestMember
  /** Paths of pages by their content. */
  paths: Record<string, string>
  userCode: string
  welcome: string
}

/** More than the page of a customer shows. */
const notes = [
  'Met at the fair in Cologne.',
  'Pays by invoice.',
  'Renders at night: call before noon.',
  'Asked for a quote over 25 more seats.',
  'Sent the quote.',
  'Ordered the seats.\nWants one invoice for both.',
]

/** A vendor some weeks after their first license, so that every page has content. */
export async function makeAcme({ api }: Pick<TestDashboard, 'api'>): Promise<Acme> {
  const { ask, ledger } = api
  const { ports, clock } = ledger
  const tenantId = uniqueId('acme')
  await createTenant(ports, { tenantId, name: 'Acme Tools', plan: 'team' }, origin)
  const makeToken = (name: string, scopes: readonly Scope[], expiresAt: string | null = null) =>
    createToken(ports, { tenantId, name, scopes, expiresAt }, origin)
  const { token, tokenId } = await makeToken('Fulfillment server', combinableScopes)
  await makeToken('Website', ['licenses:runtime'])
  await makeToken('Reports', ['usage:read', 'licenses:read', 'customers:read'], '2026-06-30T00:00:00.000Z')
  const tenant: Pick<TestTenant, 'token'> = { token }

  const metered = await meterSome(api, token)
  await makeProduct(ask, token, 'acme-editor', {
    name: 'Acme Editor',
    keyPrefix: 'ACME',
    trialDurationDays: 14,
    keyTypes: keyTypes,
  })
  await makeProduct(ask, token, 'acme-render', {
    name: 'Acme Render Farm',
    keyPrefix: 'RENDER',
    keyTypes: [{ name: 'Default' }, farm, team],
  })
  await countUsage(ports, clock, tenantId)
  await reportInstalls(ports, tenantId)
  const licenses = await mintSome(ask, tenant.token, clock)
  const floating = await renderSome(ask, tenant.token, clock)

  const owner = await makeMember(ledger, tenantId, 'owner', 'ada@acme.example')
  await makeMember(ledger, tenantId, 'approver', 'grace@acme.example')
  const auditor = await makeMember(ledger, tenantId, 'auditor', 'margaret@acme.example')
  const invited = await addMember(ports, { tenantId, role: 'support', email: 'linus@acme.example' }, origin)
  const { secret } = await issueLink(ports, tenantId, invited, 'invitation', origin)

  const customer = await ask('POST', '/v1/customers', {
    token,
    body: {
      email: 'studio@northwind.example',
      name: 'Northwind Studio',
      meters: [{ meter: 'support-hours', unit: 'hours', included: '20', period: 'month', overage: 'notify' }],
    },
  })
  const customerId = /cus_\w+/.exec(customer.text)?.[0] ?? ''
  for (const { id } of [...licenses.slice(0, 2), floating, metered])
    await ask('POST', `/v1/customers/${customerId}/link-license`, { token, body: { licenseId: id } })
  const overrides = [
    { entitlement: 'beta', effect: 'grant', reason: 'early access', productId: 'acme-editor' },
  ]
  await ask('PATCH', `/v1/customers/${customerId}/entitlements`, { token, body: { overrides } })
  await ask('POST', `/v1/customers/${customerId}/organization`, { token })
  const colleagues = ['Ines', 'Jonas', 'Karl', 'Liam', 'Mona'].map((name) => ({
    email: `${name.toLowerCase()}@northwind.example`,
    name,
  }))
  await ask('POST', `/v1/customers/${customerId}/people`, {
    token,
    body: { people: [...colleagues, { email: 'render@northwind.example' }], invite: false },
  })
  const { items: people } = PeopleOf.parse(
    (await ask('GET', `/v1/customers/${customerId}/people`, { token })).body,
  )
  const namedLicense = await mint(ask, token, 'acme-render', { keyTypeId: 'team', customerId })
  for (const { id: personId } of people.slice(0, 3))
    await ask('POST', `/v1/licenses/${namedLicense.id}/people`, { token, body: { personId } })
  for (const text of notes) await ask('POST', `/v1/customers/${customerId}/notes`, { token, body: { text } })

  const reseller = await resellAtAcme(ledger, tenantId)
  const headers = { 'user-agent': 'keyledger-cli/1.4.2 (linux; build-1)' }
  const revoke = await ask('POST', `/v1/licenses/${licenses[1]?.id}/revoke`, {
    token,
    body: { reason: 'charged back' },
    headers,
  })
  await ask('DELETE', '/v1/products/acme-editor/key-types/team', { token, headers })
  const { confirmation } = z.object({ confirmation: z.object({ id: z.string() }) }).parse(revoke.body)
  const login = await ask('POST', '/v1/login/device', {
    body: { client_name: 'keyledger on ada-laptop', scopes: ['licenses:read', 'licenses:write', 'danger'] },
  })
  const { user_code: userCode } = z.object({ user_code: z.string() }).parse(login.body)
  ports.tokenUse.record(tokenId)
  await ports.tokenUse.flush()
  const role = await makeRole(ledger, tenantId, ['licenses:read', 'customers:read'], 'License clerk')
  // Nobody answers there, at once.
  await addTestProvider(ledger, tenantId, 'login', 'http://localhost:1')
  return {
    tenantId,
    owner,
    auditor,
    userCode,
    welcome: `/dashboard/welcome/${secret}`,
    paths: {
      home: '/dashboard',
      roles: '/dashboard/members/roles',
      role: `/dashboard/members/roles/${role.roleId}`,
      devices: '/dashboard/devices',
      insights: '/dashboard/insights',
      start: '/dashboard/start',
      audit: '/dashboard/audit',
      system: '/dashboard/system',
      'provable-history': '/dashboard/system/proof',
      approvals: '/dashboard/approvals',
      approval: `/dashboard/approvals/${confirmation.id}`,
      licenses: '/dashboard/licenses',
      license: `/dashboard/licenses/${licenses[1]?.id}`,
      'floating-license': `/dashboard/licenses/${floating.id}?use=day`,
      'floating-product': '/dashboard/products/acme-render',
      'metered-license': `/dashboard/licenses/${metered.id}`,
      'metered-product': '/dashboard/products/acme-api',
      'meter-lines': `/dashboard/licenses/${metered.id}/meters/render-minutes`,
      'add-credit': `/dashboard/licenses/${metered.id}/change/add-credit?meter=render-minutes`,
      'meters-of-key-type': '/dashboard/products/acme-api/key-types/metered/edit',
      'named-license': `/dashboard/licenses/${namedLicense.id}`,
      'person-seats': `/dashboard/licenses/${namedLicense.id}/people`,
      'license-proofs': `/dashboard/licenses/${licenses[1]?.id}/proofs`,
      'suspend-license': `/dashboard/licenses/${licenses[0]?.id}/change/suspend`,
      'edit-license': `/dashboard/licenses/${licenses[0]?.id}/change/edit`,
      import: '/dashboard/import-licenses',
      export: '/dashboard/export-licenses?status=active',
      'new-license': '/dashboard/new-license?product=acme-editor',
      customers: '/dashboard/customers',
      customer: `/dashboard/customers/${customerId}`,
      'new-customer': '/dashboard/new-customer',
      'edit-customer': `/dashboard/customers/${customerId}/edit`,
      links: `/dashboard/customers/${customerId}/links`,
      merge: `/dashboard/customers/${customerId}/merge`,
      overrides: `/dashboard/customers/${customerId}/entitlements`,
      resellers: '/dashboard/resellers',
      reseller,
      'new-reseller': '/dashboard/new-reseller',
      'edit-reseller': `${reseller}/edit`,
      products: '/dashboard/products',
      product: '/dashboard/products/acme-editor',
      'new-product': '/dashboard/new-product',
      'edit-product': '/dashboard/products/acme-editor/edit',
      'product-mail': '/dashboard/products/acme-editor/mail',
      'product-releases': '/dashboard/products/acme-editor/releases',
      selling: '/dashboard/products/acme-editor/selling',
      'sdk-key': '/dashboard/settings/sdk-key',
      'test-mode': '/dashboard/products/acme-editor/test-mode',
      'new-key-type': '/dashboard/products/acme-editor/new-key-type',
      'edit-key-type': '/dashboard/products/acme-editor/key-types/pro/edit',
      sales: '/dashboard/sales',
      deliveries: '/dashboard/deliveries',
      integrations: '/dashboard/integrations',
      stripe: '/dashboard/integrations/stripe',
      gumroad: '/dashboard/integrations/gumroad',
      refusals: '/dashboard/refusals',
      mailbox: '/dashboard/mailbox',
      tokens: '/dashboard/tokens',
      token: `/dashboard/tokens/${tokenId}`,
      'new-token': '/dashboard/tokens/new',
      members: '/dashboard/members',
      member: `/dashboard/members/${auditor.memberId}`,
      'new-member': '/dashboard/members/new',
      settings: '/dashboard/settings',
      webhooks: '/dashboard/webhooks',
      'new-webhook': '/dashboard/webhooks/new',
      webhook: '/dashboard/webhooks/first',
      'new-replay': '/dashboard/webhooks/replays/new',
      'checkout-key': '/dashboard/settings/checkout-key',
      'signing-keys': '/dashboard/settings/signing-keys',
      mails: '/dashboard/settings/mails',
      'mail-sender': '/dashboard/settings/mails/sender',
      'mail-text': '/dashboard/settings/mails/expiring.acme-editor.de',
      directory: '/dashboard/settings/directory',
      'sign-in-providers': '/dashboard/settings/sign-in',
      'sign-in-provider': '/dashboard/settings/sign-in/login',
      account: '/dashboard/account',
      'new-password': '/dashboard/account/password',
      'new-passkey': '/dashboard/account/passkeys/new',
      confirm: '/dashboard/confirm',
      device: '/dashboard/device',
      nothing: '/dashboard/nothing',
    },
  }
}

/** A reseller with a customer, a member and a token. @returns the path of their page */
async function resellAtAcme(ledger: TestLedger, tenantId: string): Promise<string> {
  const quotas = [{ productId: 'acme-editor', keyTypeId: 'team', licenses: 25 }]
  const { resellerId } = await makeReseller(ledger, tenantId, quotas)
  const { ports } = ledger
  const whose = { tenantId, resellerId }
  const sold = { productId: 'acme-editor', email: 'lab@sunrise.example', name: 'Sunrise Lab' }
  await mintForReseller(ports, whose, sold, origin)
  await makeMember(ledger, tenantId, { role: 'reseller', resellerId }, 'sam@northwind-software.example')
  const token = { tenantId, name: 'Northwind shop', scopes: resellerScopes, expiresAt: null, resellerId }
  await createToken(ports, token, origin)
  return `/dashboard/resellers/${resellerId}`
}

const keyTypes = [
  { name: 'Pro', deviceLimit: 3, entitlements: ['export', 'pro'] },
  {
    name: 'Team',
    deviceLimit: 10,
    duration: { count: 1, unit: 'year' },
    onExpiry: 'fallback',
    entitlements: ['export', 'pro', 'team'],
  },
]

/** The period is long: seats end by the clock of the database. */
const farm = {
  name: 'Farm',
  deviceLimit: 10,
  seatPolicy: 'floating',
  floatingSeats: { seatSeconds: 7_776_000, overdraft: { share: 0.1 }, scope: 'device' },
}

const team = {
  ...{ keyTypeId: 'team', name: 'Team', deviceLimit: 5, seatPolicy: 'named' },
  namedSeats: { devicesPerPerson: 2, reassignEveryDays: 30 },
}

const PeopleOf = z.object({ items: z.array(z.object({ id: z.string() })) })

/** Ten hours of a render farm, whose nodes need more seats than there are for some time. */
async function renderSome(ask: TestDashboard['api']['ask'], token: string, clock: Ledger['clock']) {
  const license = await mint(ask, token, 'acme-render', { keyTypeId: 'farm', email: 'farm@example.com' })
  const running: number[] = []
  const call = (what: 'activate' | 'deactivate', node: number) =>
    ask('POST', `/v1/licenses/${what}`, {
      token,
      body: {
        product_id: 'acme-render',
        license_key: license.licenseKey,
        device_id: `node-${node}`,
        name: `Node ${node}`,
      },
    })
  for (let step = 0; step < 30; step++) {
    clock.advance(20 * 60_000)
    const wanted = Math.round(7 + 6 * Math.sin(step / 4))
    while (running.length > wanted) await call('deactivate', running.shift() ?? 0)
    for (let node = step * 20; running.length < wanted; node++) {
      running.push(node)
      await call('activate', node)
    }
  }
  return license
}

type Ledger = TestDashboard['api']['ledger']

/** Thirty days of validates, fewer at weekends, until the clock's time. */
async function countUsage(ports: Ledger['ports'], clock: Ledger['clock'], tenantId: string): Promise<void> {
  const end = clock.now().getTime()
  for (let ago = 29; ago >= 0; ago--) {
    const day = new Date(end - ago * 86_400_000)
    clock.set(day.toISOString())
    const weekend = day.getUTCDay() % 6 === 0
    const validations = Math.round((weekend ? 90 : 260) + 40 * Math.sin(ago) + (29 - ago) * 4)
    for (let n = 0; n < validations; n++) ports.usage.count(tenantId, 'acme-editor', 'validations')
    for (let n = 0; n < 6 + ((ago * 7) % 11); n++) ports.usage.count(tenantId, 'acme-editor', 'rejected')
  }
  await ports.usage.flush()
}

/** Some on trial, more on the free tier, and a machine hash that too many installations share. */
async function reportInstalls(ports: Ledger['ports'], tenantId: string): Promise<void> {
  const report = createBeaconReceiver(ports, {
    admitNew: () => undefined,
    onShared: () => undefined,
    onFailure: () => undefined,
  })
  for (let install = 0; install < 90; install++) {
    const state = install < 24 ? 'trial' : install % 3 === 0 ? 'expired' : 'free_tier'
    const telemetry = { appVersion: '4.2.0', sdkVersion: '0.12.1', platform: 'macos', sdk: 'swift' }
    const machineHash = install < 22 ? 'the-image-of-a-build-server' : undefined
    const place = { tenantId, productId: 'acme-editor', instanceId: `install-${install}` }
    await report({ ...place, state, machineHash, telemetry, trialDays: 14 }, origin)
  }
  await ports.installs.flush()
}

async function mintSome(ask: TestDashboard['api']['ask'], token: string, clock: Ledger['clock']) {
  const holders = [
    'hedy@example.com',
    'a.turing@example.org',
    'katherine@example.net',
    'joan@example.com',
    'barbara@example.org',
    'frances@example.net',
  ]
  const licenses = []
  for (const [index, email] of holders.entries()) {
    clock.advance(7_200_000)
    const keyTypeId = index % 3 === 2 ? 'team' : 'pro'
    const license = await mint(ask, token, 'acme-editor', {
      email,
      keyTypeId,
      metadata: { order: `A-10${index}` },
    })
    // All seats of one of them are taken.
    const devices = ['Studio PC', 'MacBook', 'Render node'].slice(0, index === 1 ? 3 : 1 + (index % 2))
    for (const device of devices) {
      const body = {
        product_id: 'acme-editor',
        license_key: license.licenseKey,
        device_id: `${device}-${index}`,
        name: device,
      }
      await ask('POST', '/v1/licenses/activate', { token, body })
    }
    licenses.push(license)
  }
  return licenses
}
