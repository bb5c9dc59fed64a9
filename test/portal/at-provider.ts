import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { z } from 'zod'
import { changeProvider } from '../../src/commands/sign-in-providers.ts'
import type { ProviderSettings } from '../../src/domain/sign-in-providers/events.ts'
import type { Client, Seen } from '../dashboard/client.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { openProvider, type ProviderBrowser, type TestProvider } from '../harness/openid-provider.ts'
import { addTestProvider, noRoles, organizationSettings } from '../harness/sign-in-providers.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

export const base = 'http://localhost:8080'

const People = z.object({ items: z.array(z.object({ id: z.string(), email: z.string(), role: z.string() })) })

/**
 * A portal with an organization and two providers for customers: `team`, of the organization, and `everyone`. Both are at one issuer, at
 * which members sign in to the dashboard, too; it knows a further one, `solo`, that a test may add.
 */
export function portalAtProvider() {
  let portal: TestPortal
  let provider: TestProvider
  let organization: string
  const at = (id = 'team', home = portal.home) => `${home}/sign-in/${id}`
  const ofDashboard = () => `/dashboard/sign-in/${portal.tenant.tenantId}/members`
  const change = (to: Partial<ProviderSettings>, id = 'team') =>
    changeProvider(portal.api.ledger.ports, portal.tenant.tenantId, id, to, uniqueId('req'), origin)

  beforeAll(async () => {
    portal = await openTestPortal()
    const { token, tenantId } = portal.tenant
    await makeProduct(portal.api.ask, token, 'editor')
    organization = await makeOrganization('buyer@acme.example')
    const callbacks = [at(), at('everyone'), at('solo'), ofDashboard()].map(
      (path) => `${base}${path}/callback`,
    )
    provider = await openProvider(callbacks)
    const { ledger } = portal.api
    const ofTeam = { audience: { customerId: organization }, settings: organizationSettings }
    await addTestProvider(ledger, tenantId, 'team', provider.issuer, ofTeam)
    const ofAll = { audience: { customerId: null }, settings: { ...noRoles, name: 'Everyone' } }
    await addTestProvider(ledger, tenantId, 'everyone', provider.issuer, ofAll)
    await addTestProvider(ledger, tenantId, 'members', provider.issuer)
  })
  afterAll(async () => {
    await provider.close()
    await portal.close()
  })

  let people = 0
  beforeEach(async () => {
    portal.api.ledger.clock.advance(3_600_000)
    provider.tamper = undefined
    await change(organizationSettings)
    person({})
  })

  /** An organization with a license. */
  async function makeOrganization(email: string): Promise<string> {
    const { ask } = portal.api
    const { token } = portal.tenant
    const customerId = await makeCustomer(ask, token, { email })
    await mint(ask, token, 'editor', { customerId, email })
    await ask('POST', `/v1/customers/${customerId}/organization`, { token })
    return customerId
  }

  /** A new person at the provider, who signs in next. */
  function person(claims: { email?: string; email_verified?: boolean; groups?: string[] }): string {
    const sub = `person-${++people}`
    provider.who = sub
    provider.accounts.set(sub, { email: `${sub}@acme.example`, email_verified: true, ...claims })
    return claims.email ?? `${sub}@acme.example`
  }

  /** Goes to the provider, and returns what the provider sends the browser back with. */
  async function answered(
    client: Client,
    path = at(),
    browser: ProviderBrowser = provider.browser(),
  ): Promise<URL> {
    const begun = await client.get(path)
    expect(begun.status).toBe(303)
    return browser.follow(begun.location ?? '')
  }

  const bring = (client: Client, { pathname, search }: URL): Promise<Seen> =>
    client.get(`${pathname}${search}`)

  async function signIn(client = portal.visitor(), path = at()): Promise<Seen> {
    return bring(client, await answered(client, path))
  }

  const isIn = async (client: Client) => (await client.get(portal.home)).status === 200

  /** The role of a person in the organization; undefined for one who is not in it. */
  async function roleOf(email: string, of = organization): Promise<string | undefined> {
    return (await personWith(email, of))?.role
  }

  async function personWith(email: string, of = organization) {
    const { token } = portal.tenant
    const { body } = await portal.api.ask('GET', `/v1/customers/${of}/people?limit=100`, { token })
    return People.parse(body).items.find((one) => one.email === email)
  }

  async function remove(email: string, of = organization): Promise<void> {
    const { id = '' } = (await personWith(email, of)) ?? {}
    const { token } = portal.tenant
    const gone = await portal.api.ask('DELETE', `/v1/customers/${of}/people/${id}`, { token })
    expect(gone.status, gone.text).toBeLessThan(300)
  }

  return {
    get portal() {
      return portal
    },
    get provider() {
      return provider
    },
    get organization() {
      return organization
    },
    ...{ at, ofDashboard, change, person, answered, bring, signIn, isIn, roleOf, personWith, remove },
    makeOrganization,
  }
}
