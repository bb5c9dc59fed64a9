import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { listMembers } from '../../projections/members.ts'
import { changeProvider } from '../../src/commands/sign-in-providers.ts'
import type { RecordedRole } from '../../src/domain/members/roles.ts'
import type { ProviderSettings } from '../../src/domain/sign-in-providers/events.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { openProvider, type ProviderBrowser, type TestProvider } from '../harness/openid-provider.ts'
import { addTestProvider, testSettings } from '../harness/sign-in-providers.ts'
import { type Client, clientOf, type Seen } from './client.ts'

export const base = 'http://localhost:8080'

/** A workspace with a sign-in provider, for the tests of a file, and what people do there. */
export function shopAtProvider() {
  let api: TestApi
  let tenant: TestTenant
  let provider: TestProvider
  const ofProvider = (id = 'login', of = tenant) => `/dashboard/sign-in/${of.tenantId}/${id}`
  const add = (of: TestTenant, issuer: string, providerId = 'login') =>
    addTestProvider(api.ledger, of.tenantId, providerId, issuer)
  const change = (to: Partial<ProviderSettings>) =>
    changeProvider(api.ledger.ports, tenant.tenantId, 'login', to, uniqueId('req'), origin)

  beforeAll(async () => {
    api = await openTestApi()
    tenant = await makeTenant(api.ledger)
    provider = await openProvider([`${base}${ofProvider()}/callback`])
    await add(tenant, provider.issuer)
  })
  afterAll(async () => {
    await provider.close()
    await api.close()
  })

  let people = 0
  beforeEach(async () => {
    provider.tamper = undefined
    await change(testSettings)
    person({})
  })

  /** A new person at the provider, who signs in next. */
  function person(claims: { email?: string; email_verified?: boolean; groups?: string[] }): string {
    const sub = `person-${++people}`
    provider.who = sub
    provider.accounts.set(sub, { email: `${sub}@acme.example`, email_verified: true, ...claims })
    return `${sub}@acme.example`
  }

  let addresses = 0
  const stranger = (): Client => clientOf(api.app, `192.0.3.${++addresses % 250}`)

  /** Goes to the provider, and returns what the provider sends the browser back with. */
  async function answered(
    client: Client,
    query = '',
    at: ProviderBrowser = provider.browser(),
  ): Promise<URL> {
    const begun = await client.get(`${ofProvider()}${query}`)
    expect(begun.status).toBe(303)
    return at.follow(begun.location ?? '')
  }

  const bring = (client: Client, { pathname, search }: URL): Promise<Seen> =>
    client.get(`${pathname}${search}`)

  async function signIn(client = stranger(), query = ''): Promise<Seen> {
    return bring(client, await answered(client, query))
  }

  const isIn = async (client: Client) => (await client.get('/dashboard/account')).status === 200

  async function memberWith(email: string): Promise<{ memberId: string; role: RecordedRole } | undefined> {
    const { subjects, db } = api.ledger.ports
    const subjectId = await subjects.findSubject(tenant.tenantId, email)
    return (await listMembers(db, tenant.tenantId)).find((member) => member.subjectId === subjectId)
  }

  return {
    get api() {
      return api
    },
    get tenant() {
      return tenant
    },
    get provider() {
      return provider
    },
    ...{ ofProvider, add, change, person, stranger, answered, bring, signIn, isIn, memberWith },
  }
}
