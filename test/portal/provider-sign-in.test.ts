/**
 * Guarantee: a customer whom a provider of OpenID Connect vouches for sees in the portal what a mailed link to their address would show.
 * The provider of an organization adds people to it at their first sign-in, and does not bring back who was removed. An answer is
 * accepted once, only in the browser that asked, and only from the provider that was asked.
 */
import { describe, expect, test } from 'vitest'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { addPeople, dissolveOrganization } from '../../src/commands/organizations/people.ts'
import { removeProvider } from '../../src/commands/sign-in-providers.ts'
import type { Client, Seen } from '../dashboard/client.ts'
import { makeTenant } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { clientId } from '../harness/openid-provider.ts'
import { refusing, testAttacks } from '../harness/provider-attacks.ts'
import { addTestProvider, noRoles, organizationSettings } from '../harness/sign-in-providers.ts'
import { mint } from '../http/samples.ts'
import { base, portalAtProvider } from './at-provider.ts'
import { openPortalOf } from './customer.ts'

const shop = portalAtProvider()
const { at, ofDashboard, change, person, answered, bring, signIn, isIn, roleOf, remove } = shop

const visitor = () => shop.portal.visitor()

const addToOrganization = (email: string, role: 'administrator' | 'member' = 'member') => {
  const { tenantId } = shop.portal.tenant
  const place = { tenantId, customerId: shop.organization }
  return addPeople(shop.portal.api.ledger.ports, place, [{ email, role }], undefined, origin)
}

const subjectOf = async (email: string) =>
  (await shop.portal.api.ledger.ports.subjects.findSubject(shop.portal.tenant.tenantId, email)) ?? ''

const identities = async (email: string) =>
  (
    await shop.portal.api.ledger.db.query('select from vault.customer_identities where subject_id = $1', [
      await subjectOf(email),
    ])
  ).rowCount

describe('a sign-in', () => {
  test('sends the browser to the provider with a code challenge, a state, a nonce and a redirect URI of the portal', async () => {
    const client = visitor()
    const begun = await client.get(at())
    const { origin: issuer, searchParams } = new URL(begun.location ?? '')
    expect(issuer).toBe(shop.provider.issuer)
    expect(Object.fromEntries(searchParams)).toStrictEqual({
      client_id: clientId,
      redirect_uri: `${base}${at()}/callback`,
      response_type: 'code',
      scope: 'openid email',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    })
    const cookie = begun.setCookies.find((line) => line.startsWith('keyledger-portal-provider='))
    expect(cookie).toContain(`Max-Age=600; Path=${shop.portal.home}; HttpOnly; SameSite=Lax`)
  })

  test('adds a new person to the organization with the role of the claims, and shows its licenses', async () => {
    const email = person({ groups: ['owners'] })
    const client = visitor()
    expect(await signIn(client)).toMatchObject({ status: 303, location: shop.portal.home })
    const { text } = await client.get(shop.portal.home)
    expect(text).toContain('Acme Editor')
    expect(text).toContain(`Signed in as ${email}`)
    expect(await roleOf(email)).toBe('administrator')
    const acts = await client.get(`${shop.portal.home}/organizations/${shop.organization}/acts`)
    expect(acts.text).toContain('by a sign-in with the account of the organization')
  })

  test('shows what a mailed link to the address shows', async () => {
    const email = person({})
    const byProvider = visitor()
    await signIn(byProvider)
    await mint(shop.portal.api.ask, shop.portal.tenant.token, 'editor', { email })
    const byLink = await shop.portal.signedIn(email)
    const shown = async (client: Client) =>
      (await client.get(shop.portal.home)).text.replace(/name="_csrf" value="[^"]+"/g, '')
    expect(await shown(byProvider)).toBe(await shown(byLink))
  })

  test('ends the session of another person in the same browser', async () => {
    const email = person({})
    const client = visitor()
    await signIn(client)
    const before = client.cookies.get('keyledger-portal-session') ?? ''
    const next = person({})
    await signIn(client)
    expect((await client.get(shop.portal.home)).text).toContain(next)
    const former = visitor()
    former.cookies.set('keyledger-portal-session', before)
    expect(await isIn(former)).toBe(false)
    expect(await roleOf(email)).toBe('member')
  })

  test('of a known person is by what the provider calls them, whatever their address has become', async () => {
    const email = person({})
    await signIn()
    shop.provider.accounts.set(shop.provider.who, { email: 'new@acme.example', email_verified: true })
    const client = visitor()
    await signIn(client)
    expect((await client.get(shop.portal.home)).text).toContain(email)
    expect(await roleOf('new@acme.example')).toBeUndefined()
  })

  test('follows the claims, and leaves the last administrator', async () => {
    const email = person({ groups: ['owners'] })
    await signIn()
    shop.provider.accounts.set(shop.provider.who, { email, email_verified: true, groups: [] })
    await signIn()
    expect(await roleOf(email)).toBe('member')
    const last = person({ email: 'last@acme.example' })
    const solo = await shop.makeOrganization(last)
    const { tenant, api } = shop.portal
    const ofSolo = { audience: { customerId: solo }, settings: organizationSettings }
    await addTestProvider(api.ledger, tenant.tenantId, 'solo', shop.provider.issuer, ofSolo)
    expect((await signIn(visitor(), at('solo'))).status).toBe(303)
    expect(await roleOf(last, solo)).toBe('administrator')
    await removeProvider(api.ledger.ports, tenant.tenantId, 'solo', uniqueId('req'), origin)
  })

  test('keeps the roles of people where the provider says nothing of roles, and adds nobody', async () => {
    await change(noRoles)
    const email = person({ groups: ['owners'] })
    expect((await signIn()).status).toBe(403)
    await addToOrganization(email)
    expect((await signIn()).status).toBe(303)
    expect(await roleOf(email)).toBe('member')
  })

  test('does not bring back who was removed, with this account or another one of the same address', async () => {
    const email = person({})
    const client = visitor()
    await signIn(client)
    await remove(email)
    expect((await signIn()).status).toBe(403)
    person({ email })
    expect((await signIn()).status).toBe(403)
    expect(await roleOf(email)).toBeUndefined()
    await addToOrganization(email)
    expect((await signIn()).status).toBe(303)
  })

  test('by two browsers at the same moment, for the first time, is one person and one link', async () => {
    const email = person({})
    const browsers = [visitor(), visitor(), visitor()]
    const answers = await Promise.all(
      browsers.map(async (client) => ({ client, answer: await answered(client) })),
    )
    const seen = await Promise.all(answers.map(async ({ client, answer }) => bring(client, answer)))
    expect(seen.map(({ status }) => status)).toStrictEqual([303, 303, 303])
    expect(await roleOf(email)).toBe('member')
    expect(await identities(email)).toBe(1)
  })

  test('that was killed between two writes is finished by the next one', async () => {
    const email = person({})
    await signIn()
    // After the person was added, and before they were linked.
    await shop.portal.api.ledger.db.query('delete from vault.customer_identities')
    expect((await signIn()).status).toBe(303)
    expect(await roleOf(email)).toBe('member')
    expect(await identities(email)).toBe(1)
  })

  test('of an erased person makes a new one, and leaves nothing of the former', async () => {
    const email = person({})
    await signIn()
    const subjectId = await subjectOf(email)
    await eraseSubject(shop.portal.api.ledger.ports, shop.portal.tenant.tenantId, subjectId, origin)
    const { rows } = await shop.portal.api.ledger.db.query(
      `select from vault.customer_identities where subject_id = $1
       union all select from vault.customer_sessions where subject_id = $1`,
      [subjectId],
    )
    expect(rows).toStrictEqual([])
    expect((await signIn()).status).toBe(303)
    expect(await subjectOf(email)).not.toBe(subjectId)
  })

  test('with the provider of all customers needs a license, and adds nobody to anything', async () => {
    const email = person({})
    expect((await signIn(visitor(), at('everyone'))).status).toBe(403)
    expect(await identities(email)).toBe(0)
    await mint(shop.portal.api.ask, shop.portal.tenant.token, 'editor', { email })
    const client = visitor()
    expect((await signIn(client, at('everyone'))).status).toBe(303)
    expect((await client.get(shop.portal.home)).text).toContain('Acme Editor')
    expect(await roleOf(email)).toBeUndefined()
  })

  test('ends with access to what the person has no more', async () => {
    const email = person({})
    const client = visitor()
    await signIn(client)
    await remove(email)
    expect((await client.get(shop.portal.home)).text).not.toContain('Acme Editor')
  })

  test('is a visit of the customer', async () => {
    const email = person({})
    await signIn()
    const { rowCount } = await shop.portal.api.ledger.db.query(
      'select from vault.customer_sessions where subject_id = $1',
      [await subjectOf(email)],
    )
    expect(rowCount).toBe(1)
  })
})

describe('refused is', () => {
  const pages = {
    ...{ browser: visitor, begins: at, answered, bring, signIn, isIn },
    provider: () => shop.provider,
    advanceClock: (ms: number) => shop.portal.api.ledger.clock.advance(ms),
  }
  const refusedWith = refusing(pages)
  testAttacks(pages)

  test('a code that the same issuer gave for another provider, and its answer at the address of this one', async () => {
    const email = person({})
    await mint(shop.portal.api.ask, shop.portal.tenant.token, 'editor', { email })
    const [client, other, third] = [visitor(), visitor(), visitor()]
    const forAll = await answered(other, at('everyone'))
    const own = await answered(client)
    own.searchParams.set('code', forAll.searchParams.get('code') ?? '')
    await refusedWith(401, bring(client, own), client)
    const elsewhere = await answered(third, at('everyone'))
    await refusedWith(400, bring(third, new URL(elsewhere.href.replace('/everyone/', '/team/'))), third)
  })

  test.each([
    ['an address that the provider has not verified', { email_verified: false }],
    ['an address of a domain that it may not vouch for', { email: 'ada@elsewhere.example' }],
    ['an address of a subdomain', { email: 'ada@sub.acme.example' }],
    ['no address', { email: undefined }],
  ])('a new person with %s, in the same words as one without access', async (_, claims) => {
    person({ groups: ['owners'], ...(claims as object) })
    const client = visitor()
    const seen = await signIn(client)
    expect(seen.status).toBe(403)
    expect(await isIn(client)).toBe(false)
    await change({ defaultRole: null })
    person({})
    const withoutRole = await signIn()
    const comparable = ({ text }: Seen) =>
      text.replace(/name="_csrf" value="[^"]+"/g, '').replace(/(?:code|state|iss|language)=[^"&]*/g, '')
    expect(comparable(withoutRole)).toBe(comparable(seen))
  })

  test('a linked person whose address is no longer of a domain of the provider', async () => {
    person({})
    await signIn()
    await change({ domains: ['elsewhere.example'] })
    const client = visitor()
    await refusedWith(403, signIn(client), client)
  })

  test('the provider of members at the portal, and that of customers at the dashboard', async () => {
    const client = visitor()
    const absent = await client.get(`${shop.portal.home}/sign-in/nothing`)
    expect(absent.status).toBe(404)
    const plain = ({ status, text }: Seen) => ({ status, text: text.replaceAll(/members|nothing/g, 'ID') })
    expect(plain(await client.get(at('members')))).toStrictEqual(plain(absent))
    expect((await client.get(`${at('members')}/callback?code=a&state=b`)).status).toBe(404)
    const { tenantId } = shop.portal.tenant
    for (const id of ['team', 'everyone', 'nothing']) {
      expect((await client.get(`/dashboard/sign-in/${tenantId}/${id}`)).status).toBe(404)
      expect((await client.get(`/dashboard/sign-in/${tenantId}/${id}/callback?code=a&state=b`)).status).toBe(
        404,
      )
    }
    const page = await client.get(`/dashboard/sign-in?workspace=${tenantId}`)
    expect(page.text).toContain(`href="${ofDashboard()}"`)
    expect(page.text).not.toContain('Everyone')
  })

  test('an answer that was asked for by the dashboard, and one by the portal there', async () => {
    const client = visitor()
    const ofMembers = await answered(client, ofDashboard())
    const here = await bring(client, new URL(ofMembers.href.replace(ofDashboard(), at())))
    expect(here.status).toBe(400)
    const ofCustomers = await answered(client)
    const there = await bring(client, new URL(ofCustomers.href.replace(at(), ofDashboard())))
    expect(there.status).toBe(400)
    expect(await isIn(client)).toBe(false)
  })

  test('a provider of another tenant, of one whose portal is closed, and of an organization that was dissolved', async () => {
    const { ledger, app } = shop.portal.api
    const other = await makeTenant(ledger)
    const home = `/portal/${other.tenantId}`
    const ofAll = { audience: { customerId: null }, settings: noRoles }
    await addTestProvider(ledger, other.tenantId, 'team', shop.provider.issuer, ofAll)
    expect((await visitor().get(at('team', home))).status).toBe(404)
    await openPortalOf(app, other.token)
    expect((await visitor().get(at('everyone', home))).status).toBe(404)
    const client = visitor()
    const answer = await answered(client)
    const cookies = new Map(client.cookies)
    const elsewhere = await bring(client, new URL(answer.href.replace(shop.portal.home, home)))
    expect(elsewhere.status).toBe(400)
    for (const [name, value] of cookies) client.cookies.set(name, value)
    expect((await bring(client, answer)).status).toBe(303)
    const { tenantId } = shop.portal.tenant
    const gone = await shop.makeOrganization('buyer@gone.example')
    const audience = { customerId: gone }
    await addTestProvider(ledger, tenantId, 'gone', undefined, { audience, settings: organizationSettings })
    await dissolveOrganization(ledger.ports, { tenantId, customerId: gone }, origin)
    expect((await visitor().get(at('gone'))).status).toBe(404)
  })

  test('too many sign-ins from one network', async () => {
    const client = visitor()
    const answers: number[] = []
    for (let n = 0; n < 61; n++) answers.push((await client.get(at())).status)
    expect(answers).toStrictEqual([...Array.from({ length: 60 }, () => 303), 429])
  })
})
