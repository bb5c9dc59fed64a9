/**
 * Guarantee: a session that began at a provider of OpenID Connect ends with the provider, by its logout token and by signing out, and
 * what needs a fresh proof is proved at the provider again.
 */
import { describe, expect, test } from 'vitest'
import { removeProvider } from '../../src/commands/sign-in-providers.ts'
import { makeTenant } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { clientId, openProvider, type TestProvider } from '../harness/openid-provider.ts'
import { anotherKey, unsigned } from '../harness/provider-attacks.ts'
import { base, shopAtProvider } from './at-provider.ts'

const shop = shopAtProvider()
const { ofProvider, add, person, stranger, answered, bring, signIn, isIn } = shop

describe('the end of a session', () => {
  test('comes with the end of its provider, also when another is added with its id', async () => {
    const of = await makeTenant(shop.api.ledger)
    const own = await openProvider([`${base}${ofProvider('login', of)}/callback`])
    const client = stranger()
    await add(of, own.issuer)
    const begun = await client.get(ofProvider('login', of))
    await bring(client, await own.browser().follow(begun.location ?? ''))
    expect(await isIn(client)).toBe(true)
    await removeProvider(shop.api.ledger.ports, of.tenantId, 'login', uniqueId('req'), origin)
    expect(await isIn(client)).toBe(false)
    shop.api.ledger.clock.advance(1000)
    await add(of, own.issuer)
    expect(await isIn(client)).toBe(false)
    await own.close()
  })

  test('by signing out leads on to the provider', async () => {
    /** What the vault keeps for the ends of sessions. */
    const kept = async () =>
      (
        await shop.api.ledger.db.query(
          `select from vault.secrets where name like 'provider-session.%' and tenant_id = $1`,
          [shop.tenant.tenantId],
        )
      ).rows.length
    const before = await kept()
    const client = stranger()
    await signIn(client)
    expect(await kept()).toBe(before + 1)
    await client.get('/dashboard')
    const seen = await client.post('/dashboard/sign-out')
    expect(seen.status).toBe(200)
    const [, target = ''] = /^0; url=(.*)$/.exec(String(seen.headers.refresh)) ?? []
    const { origin: at, searchParams } = new URL(target)
    expect(at).toBe(shop.provider.issuer)
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${base}/dashboard/sign-in`)
    expect(searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(await isIn(client)).toBe(false)
    expect(await kept()).toBe(before)
  })
})

describe('a logout token', () => {
  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const claims = (more: object) => {
    const now = Math.floor(Date.now() / 1000)
    return {
      iss: shop.provider.issuer,
      aud: clientId,
      iat: now,
      exp: now + 120,
      jti: uniqueId('jti'),
      events: event,
      sub: shop.provider.who,
      ...more,
    }
  }
  const path = () => `/login/${shop.tenant.tenantId}/login/logout`
  const send = (token: string, url = path()) => stranger().postBare(url, { logout_token: token })

  test('of a person ends their sessions that began at the provider, once', async () => {
    const [one, two, other] = [stranger(), stranger(), stranger()]
    await signIn(other)
    person({})
    await signIn(one)
    await signIn(two)
    const token = await shop.provider.sign(claims({}))
    const seen = await send(token)
    expect(seen).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
    expect(await isIn(one)).toBe(false)
    expect(await isIn(two)).toBe(false)
    expect(await isIn(other)).toBe(true)
    await signIn(one)
    expect((await send(token)).status).toBe(400)
    expect(await isIn(one)).toBe(true)
  })

  test('of a session at the provider ends that one', async () => {
    const [one, two] = [stranger(), stranger()]
    let sid: unknown
    shop.provider.tamper = (said) => {
      sid = said.sid
      return said
    }
    await signIn(two)
    await signIn(one)
    expect(sid).toStrictEqual(expect.any(String))
    expect((await send(await shop.provider.sign(claims({ sub: undefined, sid })))).status).toBe(200)
    expect(await isIn(one)).toBe(false)
    expect(await isIn(two)).toBe(true)
  })

  test.each<[string, object]>([
    ['with a nonce', { nonce: 'n' }],
    ['without its event', { events: {} }],
    ['without events', { events: undefined }],
    ['of another issuer', { iss: 'https://another.example' }],
    ['for another client', { aud: 'another' }],
    ['without a time', { iat: undefined }],
    ['that is old', { iat: 1000 }],
    ['that has expired', { exp: 1000 }],
    ['without an id', { jti: undefined }],
    ['about nothing', { sub: undefined }],
  ])('%s is refused', async (_, more) => {
    const client = stranger()
    await signIn(client)
    const seen = await send(await shop.provider.sign(claims(more)))
    expect(seen).toMatchObject({ status: 400, text: '{"error":"invalid_request"}' })
    expect(await isIn(client)).toBe(true)
  })

  test('that is signed with another key, or not at all, is refused, and so is an ID token', async () => {
    const client = stranger()
    let idToken = ''
    shop.provider.tamper = async (said) => {
      idToken = await shop.provider.sign(said)
      return idToken
    }
    await signIn(client)
    const tokens = [
      await shop.provider.sign(claims({}), await anotherKey()),
      unsigned(claims({})),
      idToken,
      'nothing',
    ]
    for (const token of tokens) expect((await send(token)).status).toBe(400)
    expect(await isIn(client)).toBe(true)
  })

  test('at the address of another workspace ends nothing', async () => {
    const other = await makeTenant(shop.api.ledger)
    const client = stranger()
    await signIn(client)
    const token = await shop.provider.sign(claims({}))
    const at = `/login/${other.tenantId}/login/logout`
    expect((await send(token, at)).status).toBe(404)
    await add(other, shop.provider.issuer)
    expect((await send(token, at)).status).toBe(200)
    expect(await isIn(client)).toBe(true)
  })
})

describe('a member who signed in at the provider', () => {
  const page = '/dashboard/settings/sign-in/new'

  test('confirms who they are by signing in there again, and is asked no more for ten minutes', async () => {
    person({ groups: ['owners'] })
    // The clock of these tests is ahead of that of the provider.
    shop.provider.tamper = (claims) => ({
      ...claims,
      auth_time: Math.floor(shop.api.ledger.clock.now().getTime() / 1000),
    })
    const client = stranger()
    await signIn(client)
    expect(await client.get(page)).toMatchObject({ status: 200 })
    shop.api.ledger.clock.advance(11 * 60_000)
    expect(await client.get(page)).toMatchObject({ status: 303 })
    const asked = await client.get(`/dashboard/confirm?return=${encodeURIComponent(page)}`)
    const href = /href="([^"]*confirm=yes[^"]*)"/.exec(asked.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const begun = await client.get(href)
    const query = new URL(begun.location ?? '').searchParams
    expect([query.get('prompt'), query.get('max_age')]).toStrictEqual(['login', '0'])
    const answer = await shop.provider.browser().follow(begun.location ?? '')
    expect(await bring(client, answer)).toMatchObject({ status: 303, location: page })
    expect(await client.get(page)).toMatchObject({ status: 200 })
  })

  test.each<[string, TestProvider['tamper'], boolean]>([
    ['an old sign-in there', (claims) => ({ ...claims, auth_time: 1000 }), false],
    ['no time of it', ({ auth_time: _, ...claims }) => claims, false],
    ['the sign-in of another person', undefined, true],
  ])('does not confirm it with %s', async (_, tamper, isOther) => {
    person({ groups: ['owners'] })
    const client = stranger()
    shop.provider.tamper = ({ auth_time: __, ...claims }) => claims
    await signIn(client)
    expect(await client.get(page)).toMatchObject({ status: 303 })
    if (isOther) person({ groups: ['owners'] })
    shop.provider.tamper = tamper
    const answer = await answered(client, '?confirm=yes')
    expect((await bring(client, answer)).status).toBe(401)
    expect(await client.get(page)).toMatchObject({ status: 303 })
  })
})
