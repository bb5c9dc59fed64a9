/**
 * Guarantee: a person whom a provider of OpenID Connect knows signs in as the member that they are, with the role that the
 * provider gives; an answer is accepted once, only in the browser that asked, and only from the provider that was asked.
 */
import { describe, expect, test } from 'vitest'
import { listMembers } from '../../projections/members.ts'
import { changeUser } from '../../src/commands/members/directory.ts'
import { addMember, removeMember } from '../../src/commands/members/members.ts'
import { removeProvider } from '../../src/commands/sign-in-providers.ts'
import { changeSignInRule } from '../../src/commands/tenants.ts'
import { makeTenant } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { clientId, openProvider } from '../harness/openid-provider.ts'
import { refusing, testAttacks } from '../harness/provider-attacks.ts'
import { base, shopAtProvider } from './at-provider.ts'
import type { Seen } from './client.ts'
import { makeMember } from './members.ts'

const shop = shopAtProvider()
const { ofProvider, add, change, person, stranger, answered, bring, signIn, isIn, memberWith } = shop

describe('a sign-in', () => {
  test('sends the browser to the provider with a code challenge, a state and a nonce of its own', async () => {
    const client = stranger()
    const begun = await client.get(ofProvider())
    const { origin: at, searchParams } = new URL(begun.location ?? '')
    expect(at).toBe(shop.provider.issuer)
    expect(Object.fromEntries(searchParams)).toStrictEqual({
      client_id: clientId,
      redirect_uri: `${base}${ofProvider()}/callback`,
      response_type: 'code',
      scope: 'openid email',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    })
    const cookie = begun.setCookies.find((line) => line.startsWith('keyledger-provider-sign-in='))
    expect(cookie).toMatch(/Max-Age=600; Path=\/; HttpOnly; SameSite=Lax/)
    const { rows } = await shop.api.ledger.db.query('select * from vault.provider_sign_ins')
    expect(JSON.stringify(rows)).not.toContain(searchParams.get('state'))
    expect(JSON.stringify(rows)).not.toContain(searchParams.get('nonce'))
  })

  test('makes a new member with the role of the claims, and leads back to the page that was asked for', async () => {
    const email = person({ groups: ['staff', 'developers'] })
    const client = stranger()
    const seen = await signIn(client, '?return=/dashboard/licenses')
    expect(seen).toMatchObject({ status: 303, location: '/dashboard/licenses' })
    expect(await isIn(client)).toBe(true)
    expect(await memberWith(email)).toMatchObject({ role: 'developer' })
  })

  test('of a known person is by what the provider calls them, whatever their address has become', async () => {
    const email = person({})
    await signIn()
    const member = await memberWith(email)
    shop.provider.accounts.set(shop.provider.who, { email: 'other@elsewhere.example', email_verified: false })
    const client = stranger()
    expect((await signIn(client)).status).toBe(303)
    expect((await client.get('/dashboard/account')).text).toContain(email)
    expect(await memberWith(email)).toStrictEqual(member)
  })

  test('finds a member who was invited, and gives the role of the claims', async () => {
    const email = person({ groups: ['developers'] })
    const memberId = await addMember(
      shop.api.ledger.ports,
      { tenantId: shop.tenant.tenantId, role: 'support', email },
      origin,
    )
    expect((await signIn()).status).toBe(303)
    expect(await memberWith(email)).toMatchObject({ memberId, role: 'developer' })
  })

  test('follows the claims: the role changes, and without one the person is refused', async () => {
    const email = person({ groups: ['developers'] })
    await signIn()
    shop.provider.accounts.set(shop.provider.who, { email, email_verified: true, groups: [] })
    await signIn()
    expect(await memberWith(email)).toMatchObject({ role: 'auditor' })
    await change({ defaultRole: null })
    const client = stranger()
    expect((await signIn(client)).status).toBe(403)
    expect(await isIn(client)).toBe(false)
    expect(await memberWith(email)).toMatchObject({ role: 'auditor' })
  })

  test('keeps the roles of members where the provider says nothing of roles, and makes none', async () => {
    await change({ roleClaim: null, defaultRole: null })
    const email = person({ groups: ['owners'] })
    expect((await signIn()).status).toBe(403)
    await addMember(shop.api.ledger.ports, { tenantId: shop.tenant.tenantId, role: 'support', email }, origin)
    expect((await signIn()).status).toBe(303)
    expect(await memberWith(email)).toMatchObject({ role: 'support' })
  })

  test('of a removed member makes a new member, and never the former one', async () => {
    const email = person({})
    await signIn()
    const former = await memberWith(email)
    await removeMember(shop.api.ledger.ports, shop.tenant.tenantId, former?.memberId ?? '', origin)
    expect((await signIn()).status).toBe(303)
    const member = await memberWith(email)
    expect(member?.memberId).toMatch(/^mem_/)
    expect(member?.memberId).not.toBe(former?.memberId)
  })

  test('that was killed between two writes is finished by the next one', async () => {
    const email = person({ groups: ['developers'] })
    await signIn()
    // After the member was added, and before they were linked.
    await shop.api.ledger.db.query('delete from vault.member_identities')
    const before = await memberWith(email)
    expect((await signIn()).status).toBe(303)
    expect(await memberWith(email)).toStrictEqual(before)
  })

  test('stands in the audit log', async () => {
    const email = person({})
    await signIn()
    const { memberId } = (await memberWith(email)) ?? { memberId: '' }
    const { rows } = await shop.api.ledger.db.query(`select action from audit where actor = $1`, [
      `member:${memberId}`,
    ])
    expect(rows).toContainEqual({ action: 'signed_in' })
  })
})

describe('the last owner', () => {
  test('stays one, whatever the claims say, and signs in with a password', async () => {
    const of = await makeTenant(shop.api.ledger)
    const own = await openProvider([`${base}${ofProvider('login', of)}/callback`])
    await add(of, own.issuer)
    own.accounts.set('ada', { email: 'ada@acme.example', email_verified: true, groups: ['developers'] })
    const owner = await makeMember(shop.api.ledger, of.tenantId, 'owner', 'ada@acme.example')
    const client = stranger()
    const begun = await client.get(ofProvider('login', of))
    expect((await bring(client, await own.browser().follow(begun.location ?? ''))).status).toBe(303)
    const [member] = await listMembers(shop.api.ledger.db, of.tenantId)
    expect(member).toMatchObject({ memberId: owner.memberId, role: 'owner' })
    await changeSignInRule(shop.api.ledger.ports, of.tenantId, true, origin)
    expect((await stranger().signIn(owner)).status).toBe(303)
    await own.close()
  })
})

describe('the rule that members sign in only at a provider', () => {
  test('ends other sessions of members at once, and refuses their passwords; a one-time link goes on', async () => {
    const support = await makeMember(shop.api.ledger, shop.tenant.tenantId, 'support')
    const owner = await makeMember(shop.api.ledger, shop.tenant.tenantId, 'owner')
    const [before, byOwner] = [stranger(), stranger()]
    await before.signIn(support)
    await byOwner.signIn(owner)
    const shopAtProvider = stranger()
    await signIn(shopAtProvider)
    await changeSignInRule(shop.api.ledger.ports, shop.tenant.tenantId, true, origin)
    try {
      expect(await isIn(before)).toBe(false)
      expect(await isIn(byOwner)).toBe(true)
      expect(await isIn(shopAtProvider)).toBe(true)
      const refused = await stranger().signIn(support)
      expect(refused.status).toBe(403)
      expect(refused.text).toContain('requires single sign-on')
    } finally {
      await changeSignInRule(shop.api.ledger.ports, shop.tenant.tenantId, false, origin)
    }
    expect((await stranger().signIn(support)).status).toBe(303)
  })
})

describe('refused is', () => {
  const pages = {
    ...{ browser: stranger, begins: ofProvider, answered, bring, signIn, isIn },
    provider: () => shop.provider,
    advanceClock: (ms: number) => shop.api.ledger.clock.advance(ms),
  }
  const refusedWith = refusing(pages)
  testAttacks(pages)

  test('the answer of one provider at the address of another', async () => {
    const other = await openProvider([`${base}${ofProvider('other')}/callback`])
    await add(shop.tenant, other.issuer, 'other')
    const client = stranger()
    const answer = await answered(client)
    const elsewhere = new URL(answer.href.replace('/login/callback', '/other/callback'))
    await refusedWith(400, bring(client, elsewhere), client)
    await removeProvider(shop.api.ledger.ports, shop.tenant.tenantId, 'other', uniqueId('req'), origin)
    await other.close()
  })

  test.each([
    ['an address that the provider has not verified', { email_verified: false }],
    ['an address of a domain that it may not vouch for', { email: 'ada@elsewhere.example' }],
    ['an address of a subdomain', { email: 'ada@sub.acme.example' }],
    ['an address that only looks like one of the domain', { email: 'ada@evil.example@acme.example' }],
    ['no address', { email: undefined }],
  ])('a new person with %s, in the same words as a person without a role', async (_, claims) => {
    person({ groups: ['developers'], ...(claims as object) })
    const client = stranger()
    const seen = await signIn(client)
    expect(seen.status).toBe(403)
    expect(await isIn(client)).toBe(false)
    await change({ defaultRole: null })
    person({})
    const withoutRole = await signIn()
    const comparable = ({ text }: Seen) => text.replace(/name="_csrf" value="[^"]+"/g, '')
    expect(comparable(withoutRole)).toBe(comparable(seen))
  })

  test('a second account at the provider with the address of a member who is linked', async () => {
    const email = person({ groups: ['developers'] })
    await signIn()
    person({ email })
    const client = stranger()
    await refusedWith(403, signIn(client), client)
    expect(await memberWith(email)).toMatchObject({ role: 'developer' })
  })

  test('a provider that another workspace has, or that was removed', async () => {
    const other = await makeTenant(shop.api.ledger)
    expect((await stranger().get(ofProvider('login', other))).status).toBe(404)
    expect((await stranger().get(ofProvider('nothing'))).status).toBe(404)
    expect((await stranger().get(`${ofProvider('login', other)}/callback?code=a&state=b`)).status).toBe(404)
    await add(other, shop.provider.issuer)
    const client = stranger()
    const answer = await answered(client)
    const elsewhere = new URL(answer.href.replace(shop.tenant.tenantId, other.tenantId))
    await refusedWith(400, bring(client, elsewhere), client)
  })

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', '/dashboard/../..//evil.example'])(
    'a way back to %s: the sign-in leads home',
    async (target) => {
      const seen = await signIn(stranger(), `?return=${encodeURIComponent(target)}`)
      expect(seen).toMatchObject({ status: 303, location: '/dashboard' })
    },
  )
})

describe('a provider that is not reachable', () => {
  test('gets a page with 503, and other ways of signing in work', async () => {
    await add(shop.tenant, 'http://localhost:1', 'gone')
    const seen = await stranger().get(ofProvider('gone'))
    expect(seen).toMatchObject({ status: 503, headers: { 'retry-after': '60' } })
    expect(seen.text).toContain('Acme Login cannot be reached')
    const support = await makeMember(shop.api.ledger, shop.tenant.tenantId, 'support')
    expect((await stranger().signIn(support)).status).toBe(303)
    await removeProvider(shop.api.ledger.ports, shop.tenant.tenantId, 'gone', uniqueId('req'), origin)
  })
})

describe('the sign-in page', () => {
  test('offers the providers of a workspace, and says nothing of members', async () => {
    const named = await stranger().get(`/dashboard/sign-in?workspace=${shop.tenant.tenantId}`)
    expect(named.text).toContain(`href="${ofProvider()}"`)
    expect(named.text).toContain('Sign in with Acme Login')
    const plain = await stranger().get('/dashboard/sign-in')
    expect(plain.text).not.toContain('Acme Login')
    expect(plain.text).toContain('href="/dashboard/sign-in/workspace"')
    expect((await stranger().get('/dashboard/sign-in/workspace')).status).toBe(200)
  })
})

test('a member whom a directory deactivated is refused, linked or not, and is no new member', async () => {
  const email = person({ groups: ['staff'] })
  expect((await signIn()).status).toBe(303)
  const { memberId = '' } = (await memberWith(email)) ?? {}
  const { ports, db } = shop.api.ledger
  const turn = (active: boolean) =>
    changeUser(ports, shop.tenant.tenantId, memberId, (user) => ({ ...user, active }), origin)
  await turn(false)
  const client = stranger()
  await signIn(client)
  expect(await isIn(client)).toBe(false)
  expect(await memberWith(email)).toBeUndefined()
  await db.query('delete from vault.member_identities where member_id = $1', [memberId])
  await signIn(client)
  expect(await isIn(client)).toBe(false)
  expect(await memberWith(email)).toBeUndefined()
  await turn(true)
  await signIn(client)
  expect(await isIn(client)).toBe(true)
  expect(await memberWith(email)).toMatchObject({ memberId })
})
