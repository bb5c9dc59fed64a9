/**
 * Guarantee: a session begins with a new id, ends permanently, and never outlives the member's access. Before a
 * dangerous action a member signs in again.
 */

import Fastify from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { saveSession } from '../../src/access/sessions.ts'
import { createReadiness } from '../../src/app/readiness.ts'
import { changeRole, removeMember } from '../../src/commands/members/members.ts'
import { closeTenant } from '../../src/commands/tenants.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { dashboard } from '../../src/dashboard/dashboard.ts'
import { createCursors } from '../../src/http/cursor.ts'
import { noLimits } from '../../src/limits/limits.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf } from './forms.ts'
import { makeMember, type TestMember } from './members.ts'
import { dashboardRoutes, urlOf } from './routes.ts'

let api: TestApi
let tenant: TestTenant
let member: TestMember
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

let addresses = 0
const stranger = (): Client => clientOf(api.app, `192.0.2.${++addresses}`)

beforeEach(async () => {
  member = await makeMember(api.ledger, tenant.tenantId, 'owner')
})

const signedIn = async (who = member): Promise<Client> => {
  const client = stranger()
  expect(await client.signIn(who)).toMatchObject({ status: 303, location: '/dashboard' })
  return client
}
const isIn = async (client: Client) => (await client.get('/dashboard/account')).status === 200

describe('a session', () => {
  const cookie = (client: Client) => client.cookies.get('keyledger-session') ?? ''

  test('begins with a new id', async () => {
    const client = stranger()
    await client.get('/dashboard/sign-in')
    const challenge = await client.post('/dashboard/sign-in/challenge')
    expect(challenge.status).toBe(200)
    const before = cookie(client)
    expect(before).not.toBe('')
    await client.signIn(member)
    expect(cookie(client)).not.toBe(before)
    const planted = stranger()
    planted.cookies.set('keyledger-session', before)
    expect(await isIn(planted)).toBe(false)
  })

  test('does not begin with a planted id', async () => {
    const client = stranger()
    const planted = `${'A'.repeat(32)}.${'B'.repeat(43)}`
    client.cookies.set('keyledger-session', planted)
    await client.signIn(member)
    expect(cookie(client)).not.toBe(planted)
    expect(await isIn(client)).toBe(true)
  })

  test('has a cookie that scripts and other sites cannot use', async () => {
    const client = stranger()
    const { setCookies } = await client.signIn(member)
    const [session = ''] = setCookies.filter((text) => text.startsWith('keyledger-session='))
    expect(session.split('; ').slice(1).sort()).toStrictEqual(['HttpOnly', 'Path=/', 'SameSite=Lax'])
  })

  test('with TLS, also behind a proxy, has a cookie that is bound to this host', async () => {
    const app = await createTestApp(api.ledger, api.ledger.ports, { baseUrl: 'https://keys.example' })
    const client = clientOf(app, '192.0.2.250')
    const { status, setCookies, headers } = await client.signIn(member)
    expect(status).toBe(303)
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    const [session = ''] = setCookies.filter((text) => text.startsWith('__Host-keyledger-session='))
    expect(session.split('; ').slice(1).sort()).toStrictEqual([
      'HttpOnly',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ])
    expect([...client.cookies.keys()].sort()).toStrictEqual([
      '__Host-keyledger-device',
      '__Host-keyledger-form',
      '__Host-keyledger-session',
    ])
    expect(await isIn(client)).toBe(true)
    await client.get('/dashboard/tokens?show=all')
    const { location } = await client.post('/dashboard/account/sessions/end-others')
    expect(location).toBe('/dashboard/account')
    expect((await client.get('/dashboard/account')).text).toContain('All other sessions have ended.')
    await app.close()
  })

  test('ends permanently, even when a running request still writes to it', async () => {
    const client = await signedIn()
    const stolen = stranger()
    for (const [name, value] of client.cookies) stolen.cookies.set(name, value)
    expect(await isIn(stolen)).toBe(true)
    const { rows } = await api.ledger.db.query<{ data: unknown; session_hash: string }>(
      'select session_hash, data from vault.sessions where member_id = $1 and ended_at is null',
      [member.memberId],
    )
    const kept = rows.find(({ session_hash }) => session_hash === sha256(idIn(cookie(client))))
    expect(kept).toBeDefined()
    await client.get('/dashboard/account')
    const out = await client.post('/dashboard/sign-out')
    expect(out).toMatchObject({ status: 303, location: '/dashboard/sign-in' })
    expect(client.cookies.has('keyledger-session')).toBe(false)
    const owner = { memberId: member.memberId, tenantId: member.tenantId }
    await saveSession(api.ledger.db, kept?.session_hash ?? '', owner, kept?.data, api.ledger.clock.now())
    expect(await isIn(stolen)).toBe(false)
  })

  test('ends after eight idle hours, and after three days in any case', async () => {
    const { clock } = api.ledger
    const idle = await signedIn()
    clock.advance(8 * 3_600_000 - 61_000)
    expect(await isIn(idle)).toBe(true)
    clock.advance(8 * 3_600_000)
    expect(await isIn(idle)).toBe(false)
    const busy = await signedIn()
    for (let hours = 0; hours < 70; hours += 7) {
      clock.advance(7 * 3_600_000)
      expect(await isIn(busy)).toBe(true)
    }
    clock.advance(2 * 3_600_000)
    expect(await isIn(busy)).toBe(false)
  })

  test('is not extended by a page that updates itself', async () => {
    const client = await signedIn()
    for (let hours = 0; hours < 2; hours++) {
      api.ledger.clock.advance(4 * 3_600_000)
      await client.get('/dashboard/approvals', { 'hx-request': 'true', 'hx-trigger': 'approvals' })
    }
    expect(await isIn(client)).toBe(false)
  })

  test('can be ended from another one, and only by its own member', async () => {
    const one = await signedIn()
    const two = await signedIn()
    const hash = sha256(idIn(cookie(two)))
    const stranger_ = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
    await stranger_.get('/dashboard/account')
    await stranger_.post('/dashboard/account/sessions/end', { session: hash })
    expect(await isIn(two)).toBe(true)
    const { text } = await one.get('/dashboard/account')
    expect(text).toContain(hash)
    await one.post('/dashboard/account/sessions/end', { session: hash })
    expect(await isIn(two)).toBe(false)
    expect(await isIn(one)).toBe(true)
  })

  test('is stored without any credential', async () => {
    const client = await signedIn()
    const { rows } = await api.ledger.db.query<{ text: string }>(
      `select s::text as text from vault.sessions s
       union all select c::text from vault.member_credentials c union all select l::text from vault.member_links l`,
    )
    const all = rows.map(({ text }) => text).join('\n')
    for (const secret of [idIn(cookie(client)), member.password, member.email])
      expect(all).not.toContain(secret)
    expect(all).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
  })

  /** The part of the cookie that is the session's id; the rest is its signature. */
  const idIn = (value: string) => decodeURIComponent(value).split('.')[0] ?? ''
})

describe('access', () => {
  test('ends with the role, and with membership, from the next request on', async () => {
    const { tenantId, memberId } = member
    const client = await signedIn()
    await makeMember(api.ledger, tenantId, 'owner')
    expect((await client.get('/dashboard/tokens/new')).status).toBe(200)
    await changeRole(api.ledger.ports, tenantId, memberId, 'support', origin)
    expect((await client.get('/dashboard/tokens/new')).status).toBe(403)
    await removeMember(api.ledger.ports, tenantId, memberId, origin)
    expect(await isIn(client)).toBe(false)
    expect((await stranger().signIn(member)).status).toBe(401)
    const { rows } = await api.ledger.db.query('select from vault.member_credentials where member_id = $1', [
      memberId,
    ])
    expect(rows).toStrictEqual([])
  })

  test('ends with the tenant', async () => {
    const other = await makeTenant(api.ledger)
    const client = await signedIn(await makeMember(api.ledger, other.tenantId, 'owner'))
    await closeTenant(api.ledger.ports, other.tenantId, null, origin)
    expect((await client.get('/dashboard/licenses')).status).toBe(403)
  })
})

describe('before a dangerous action', () => {
  const identity = (code: string, password = member.password) => ({
    'identity-password': password,
    'identity-code': code,
  })

  test('a member signs in again, with an unused code, and the form that was sent has its effect', async () => {
    const client = await signedIn()
    api.ledger.clock.advance(10 * 60_000 - 1)
    const form = await client.get('/dashboard/tokens/new')
    expect(form.status).toBe(200)
    const name = uniqueId('late')
    const typed = fieldsOf(form)
    const fields = { ...typed, name, scopes: ['licenses:read', 'usage:read'] }
    api.ledger.clock.advance(1)
    const referer = { referer: 'http://localhost:8080/dashboard/tokens/new' }
    const asked = await client.post('/dashboard/tokens', fields, referer)
    expect(asked.status).toBe(401)
    expect(asked.text).toContain('Confirm your identity')
    expect(asked.text).toContain('href="/dashboard/tokens/new"')
    const isMade = async () => (await client.get('/dashboard/tokens')).text.includes(name)
    expect(await isMade()).toBe(false)

    const held = { ...fieldsOf(asked), scopes: ['licenses:read', 'usage:read'] }
    expect(held).toMatchObject({ name, lifetime: typed.lifetime, tokenId: typed.tokenId })
    const wrong = await client.post('/dashboard/tokens', {
      ...held,
      ...identity(member.newCode(), 'not this one'),
    })
    expect(wrong.status).toBe(401)
    expect(fieldsOf(wrong)).toMatchObject({ name, 'identity-back': '/dashboard/tokens/new' })
    expect(await isMade()).toBe(false)
    const code = member.newCode()
    const made = await client.post('/dashboard/tokens', { ...held, ...identity(code) })
    expect(made.status).toBe(200)
    expect(made.text).toMatch(/kl_pat_\w+/)
    expect(made.text).not.toContain(member.password)
    expect(await isMade()).toBe(true)

    // One proof lasts ten minutes, and its code works once.
    await client.get('/dashboard/tokens/new')
    expect((await client.post('/dashboard/confirm', identity(code))).status).toBe(401)
    api.ledger.clock.advance(9 * 60_000)
    const next = { ...fieldsOf(await client.get('/dashboard/tokens/new')), name: 'CI', scopes: 'usage:read' }
    expect((await client.post('/dashboard/tokens', next)).status).toBe(200)
  })

  test('no page asks who looks at it, except those that show or take a secret', async () => {
    const client = await signedIn()
    api.ledger.clock.advance(60 * 60_000)
    const asking: string[] = []
    for (const route of dashboardRoutes(api.app).filter(({ method }) => method === 'GET')) {
      const { location } = await client.get(urlOf(route))
      if (location?.startsWith('/dashboard/confirm')) asking.push(route.path)
    }
    expect(asking.toSorted()).toStrictEqual([
      '/dashboard/account/passkeys/new',
      '/dashboard/account/password',
      '/dashboard/integrations/:provider/secret',
      '/dashboard/settings/sign-in/:id',
      '/dashboard/settings/sign-in/new',
    ])
    expect(await client.get('/dashboard/account/password')).toMatchObject({
      status: 303,
      location: '/dashboard/confirm?return=%2Fdashboard%2Faccount%2Fpassword',
    })
    const page = await client.get('/dashboard/confirm?return=%2Fdashboard%2Faccount%2Fpassword')
    const sent = { ...fieldsOf(page), ...identity(member.newCode()) }
    expect(await client.post('/dashboard/confirm', sent)).toMatchObject({
      status: 303,
      location: '/dashboard/account/password',
    })
    expect((await client.get('/dashboard/account/password')).status).toBe(200)
  })

  test('the code that a member has just signed in with proves it once more, in that session alone', async () => {
    const other = await signedIn()
    const client = stranger()
    const code = member.newCode()
    expect((await client.signIn({ ...member, newCode: () => code })).status).toBe(303)
    for (const [browser, status] of [
      [other, 401],
      [client, 303],
      [client, 401],
    ] as const) {
      await browser.get('/dashboard/confirm')
      expect((await browser.post('/dashboard/confirm', identity(code))).status).toBe(status)
    }
    expect((await stranger().signIn({ ...member, newCode: () => code })).status).toBe(401)
  })

  test('a form of another site or session is refused, and never held', async () => {
    const client = await signedIn()
    api.ledger.clock.advance(11 * 60_000)
    await client.get('/dashboard/tokens/new')
    const evil = { name: 'evil', scopes: 'danger' }
    const site = { 'sec-fetch-site': 'cross-site' }
    for (const refused of [
      await client.post('/dashboard/tokens', evil, site),
      await client.postBare('/dashboard/tokens', evil),
    ]) {
      expect(refused.status).toBe(403)
      expect(refused.text).not.toContain('evil')
      expect(refused.text).not.toContain('Confirm your identity')
    }
  })

  test('attempts are limited, too', async () => {
    const client = await signedIn()
    await client.get('/dashboard/confirm')
    const statuses = []
    for (let tries = 0; tries < 9; tries++)
      statuses.push((await client.post('/dashboard/confirm', identity('000000', 'guess'))).status)
    expect(statuses.at(-1)).toBe(429)
    expect(statuses.filter((status) => status === 401)).toHaveLength(8)
  })
})

test('a failure before the request was read has a page, too', async () => {
  const { ports, masterKey } = api.ledger
  const app = Fastify()
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['x-fail'] !== undefined) throw new Error('a secret of the house')
  })
  const cursors = createCursors(masterKey.cursors)
  await dashboard(app, {
    ports,
    cursors,
    cookieKey: masterKey.cookies,
    baseUrl: 'http://localhost:8080',
    readiness: createReadiness(ports, undefined),
    limits: noLimits,
  })
  const client = clientOf(app)
  const { status, text } = await client.get('/dashboard/sign-in', { 'x-fail': 'yes' })
  expect(status).toBe(500)
  expect(text).toContain('Something went wrong')
  expect(text).not.toContain('a secret of the house')
  expect((await client.get('/dashboard/sign-in')).status).toBe(200)
  await app.close()
})
