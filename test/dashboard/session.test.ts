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
import { origin } from '../harness/ledger.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

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
    const app = await createTestApp(api.ledger, api.ledger.services, { baseUrl: 'https://keys.example' })
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
    await changeRole(api.ledger.services, tenantId, memberId, 'support', origin)
    expect((await client.get('/dashboard/tokens/new')).status).toBe(403)
    await removeMember(api.ledger.services, tenantId, memberId, origin)
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
    await closeTenant(api.ledger.services, other.tenantId, null, origin)
    expect((await client.get('/dashboard/licenses')).status).toBe(403)
  })
})

describe('before a dangerous action', () => {
  test('a member signs in again, with an unused code, and returns', async () => {
    const client = await signedIn()
    expect((await client.get('/dashboard/tokens/new')).status).toBe(200)
    api.ledger.clock.advance(5 * 60_000)
    const led = await client.get('/dashboard/tokens/new')
    expect(led).toMatchObject({
      status: 303,
      location: '/dashboard/confirm?return=%2Fdashboard%2Ftokens%2Fnew',
    })
    const back = { return: '/dashboard/tokens/new' }
    await client.get(led.location ?? '')
    const { password, newCode } = member
    expect(
      (await client.post('/dashboard/confirm', { password: 'not this one', code: newCode(), ...back }))
        .status,
    ).toBe(401)
    const code = newCode()
    expect(await client.post('/dashboard/confirm', { password, code, ...back })).toMatchObject({
      status: 303,
      location: '/dashboard/tokens/new',
    })
    expect((await client.get('/dashboard/tokens/new')).status).toBe(200)
    expect((await client.post('/dashboard/confirm', { password, code, ...back })).status).toBe(401)
  })

  test('attempts are limited, too', async () => {
    const client = await signedIn()
    await client.get('/dashboard/confirm')
    const statuses = []
    for (let tries = 0; tries < 9; tries++)
      statuses.push((await client.post('/dashboard/confirm', { password: 'guess', code: '000000' })).status)
    expect(statuses.at(-1)).toBe(429)
    expect(statuses.filter((status) => status === 401)).toHaveLength(8)
  })
})

test('a failure before the request was read has a page, too', async () => {
  const { services, masterKey } = api.ledger
  const app = Fastify()
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['x-fail'] !== undefined) throw new Error('a secret of the house')
  })
  const cursors = createCursors(masterKey.cursors)
  await dashboard(app, {
    services,
    cursors,
    cookieKey: masterKey.cookies,
    baseUrl: 'http://localhost:8080',
    readiness: createReadiness(services, undefined),
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
