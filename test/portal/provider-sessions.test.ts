/**
 * Guarantee: a session of the portal that began at a provider of OpenID Connect ends with the provider and by its logout token, and a
 * member who sees the portal as a customer neither begins nor finishes a sign-in.
 */
import { expect, test } from 'vitest'
import { removeProvider } from '../../src/commands/sign-in-providers.ts'
import { clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { clientId } from '../harness/openid-provider.ts'
import { addTestProvider, organizationSettings } from '../harness/sign-in-providers.ts'
import { portalAtProvider } from './at-provider.ts'
import { begin } from './viewing.ts'

const shop = portalAtProvider()
const { at, person, answered, bring, signIn, isIn } = shop
const visitor = () => shop.portal.visitor()

const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const claims = (more: object) => {
  const now = Math.floor(Date.now() / 1000)
  const times = { iat: now, exp: now + 120 }
  return { iss: shop.provider.issuer, aud: clientId, ...times, jti: uniqueId('jti'), events: event, ...more }
}
const logOut = async (more: object, id = 'team') => {
  const token = await shop.provider.sign(claims(more))
  return visitor().postBare(`/login/${shop.portal.tenant.tenantId}/${id}/logout`, { logout_token: token })
}

test('a session ends with its provider, also when another is added with its id', async () => {
  const { ledger } = shop.portal.api
  const { tenantId } = shop.portal.tenant
  const more = {
    audience: { customerId: await shop.makeOrganization('buyer@solo.example') },
    settings: organizationSettings,
  }
  await addTestProvider(ledger, tenantId, 'solo', shop.provider.issuer, more)
  const client = visitor()
  await signIn(client, at('solo'))
  expect(await isIn(client)).toBe(true)
  await removeProvider(ledger.ports, tenantId, 'solo', uniqueId('req'), origin)
  expect(await isIn(client)).toBe(false)
  ledger.clock.advance(1000)
  await addTestProvider(ledger, tenantId, 'solo', shop.provider.issuer, more)
  expect(await isIn(client)).toBe(false)
  expect((await signIn(client, at('solo'))).status).toBe(303)
  expect(await isIn(client)).toBe(true)
})

test('a logout token of a person ends their sessions that began at the provider, once, and no others', async () => {
  const [one, two, other] = [visitor(), visitor(), visitor()]
  await signIn(other)
  const email = person({})
  await signIn(one)
  await signIn(two)
  const byLink = await shop.portal.signedIn(email)
  const token = await shop.provider.sign(claims({ sub: shop.provider.who }))
  const path = `/login/${shop.portal.tenant.tenantId}/team/logout`
  const body = { logout_token: token }
  expect((await visitor().postBare(path, body)).status).toBe(200)
  const all = [one, two, other, byLink]
  expect(await Promise.all(all.map(isIn))).toStrictEqual([false, false, true, true])
  expect((await visitor().postBare(path, body)).status).toBe(400)
})

test('a logout token of a session at the provider ends that one alone', async () => {
  const [one, two] = [visitor(), visitor()]
  let sid: unknown
  shop.provider.tamper = (said) => {
    sid = said.sid
    return said
  }
  await signIn(one)
  const first = sid
  await signIn(two)
  expect((await logOut({ sid: first })).status).toBe(200)
  expect([await isIn(one), await isIn(two)]).toStrictEqual([false, true])
})

test('a logout token of one provider ends no session that began at another one of the same issuer', async () => {
  const client = visitor()
  await signIn(client)
  expect((await logOut({ sub: shop.provider.who }, 'everyone')).status).toBe(200)
  expect((await logOut({ sub: shop.provider.who }, 'members')).status).toBe(200)
  expect(await isIn(client)).toBe(true)
})

test('a member who sees the portal as a customer neither begins nor finishes a sign-in', async () => {
  const { app, ledger } = shop.portal.api
  const client = clientOf(app, '192.0.2.77')
  const answer = await answered(client)
  await client.signIn(await makeMember(ledger, shop.portal.tenant.tenantId, 'support'))
  const link = await begin(client, `/dashboard/customers/${shop.organization}`)
  expect((await client.get(link)).status).toBe(303)
  expect((await client.get(at())).status).toBe(403)
  const seen = await bring(client, answer)
  expect(seen.status).toBe(403)
  expect(seen.text).toContain('Nothing can be changed here')
  expect(client.cookies.has('keyledger-portal-session')).toBe(false)
})
