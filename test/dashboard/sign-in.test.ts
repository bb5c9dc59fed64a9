/**
 * Signing in tells nobody who is a member; every code is good once; tries are bounded by address and by mailbox. A
 * session begins with a new id, ends for good, and never outlives the member's right to be there.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { saveSession } from '../../src/access/sessions.ts'
import { changeRole, removeMember } from '../../src/commands/members.ts'
import { closeTenant } from '../../src/commands/tenants.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { type Client, clientOf, type Seen } from './client.ts'
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
/** From an address that has tried nothing yet. */
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

/** A page without what differs between any two of them. */
const comparable = ({ status, text, headers }: Seen) => ({
  status,
  text: text.replace(/name="_csrf" value="[^"]+"/g, ''),
  names: Object.keys(headers).sort(),
})

describe('who does not get in', () => {
  test('is told the same, whatever did not match', async () => {
    const { email, password, newCode } = member
    const unknown = 'nobody@example.com'
    const tries: Record<string, string>[] = [
      { email, password: 'wrong password here', code: newCode() },
      { email, password, code: '000000' },
      { email, password, code: '' },
      { email, password, code: newCode(), workspace: 'another' },
      { email, password, code: newCode(), workspace: 'No Tenant!' },
      { email: unknown, password, code: newCode() },
      { email: 'not an address', password, code: newCode() },
      { email: '', password: '', code: '' },
    ]
    const seen = []
    for (const { workspace = '', ...given } of tries) {
      const client = stranger()
      await client.get('/dashboard/sign-in')
      const answer = await client.post('/dashboard/sign-in', {
        ...given,
        ...(workspace !== '' && { workspace }),
      })
      expect(client.cookies.has('keyledger-session')).toBe(false)
      const { status, text, names } = comparable(answer)
      const shown = text.replace(/(<input id="(?:email|workspace)" .*?) value(?:="[^"]*")?(?=[ /])/g, '$1')
      seen.push({ status, text: shown, names })
    }
    expect(seen[0]?.status).toBe(401)
    for (const answer of seen) expect(answer).toStrictEqual(seen[0])
  })

  test('waits as long, member or not: a password is hashed for everybody', async () => {
    const hashing = async (email: string) => {
      const times = []
      for (let tries = 0; tries < 7; tries++) {
        const client = stranger()
        await client.get('/dashboard/sign-in')
        const start = performance.now()
        await client.post('/dashboard/sign-in', { email, password: 'a wrong password', code: '000000' })
        times.push(performance.now() - start)
      }
      return times.sort((a, b) => a - b)[3] ?? 0
    }
    const known = await hashing(member.email)
    const unknown = await hashing('who.is.this@example.com')
    // Hashing is most of the time by far: without it the answer would be there many times sooner.
    expect(unknown).toBeGreaterThan(known * 0.5)
    expect(known).toBeGreaterThan(unknown * 0.5)
  })

  test('who has only been invited is nobody yet', async () => {
    const { email } = await makeMember(api.ledger, tenant.tenantId, 'support')
    await api.ledger.db.query('delete from vault.member_credentials where member_id <> $1', [member.memberId])
    const client = stranger()
    expect((await client.signIn({ ...member, email })).status).toBe(401)
  })
})

describe('a code', () => {
  test('is taken once, also when it is sent many times at once', async () => {
    const { email, password, newCode } = member
    const code = newCode()
    const clients = Array.from({ length: 6 }, stranger)
    for (const client of clients) await client.get('/dashboard/sign-in')
    const answers = await Promise.all(
      clients.map((client) => client.post('/dashboard/sign-in', { email, password, code })),
    )
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([303, 401, 401, 401, 401, 401])
    const late = stranger()
    expect((await late.signIn({ ...member, newCode: () => code })).status).toBe(401)
    expect(await isIn(await signedIn())).toBe(true)
  })

  test('is not used up by a wrong password', async () => {
    const code = member.newCode()
    const again = { ...member, newCode: () => code }
    expect((await stranger().signIn({ ...again, password: 'a wrong password' })).status).toBe(401)
    expect((await stranger().signIn(again)).status).toBe(303)
  })

  test.each([
    [-90_000, 401],
    [-30_000, 303],
    [30_000, 303],
    [90_000, 401],
  ])('made with a clock that is %i ms off is answered %i', async (off, status) => {
    const code = member.newCode()
    api.ledger.clock.advance(-off)
    expect((await stranger().signIn({ ...member, newCode: () => code })).status).toBe(status)
    api.ledger.clock.advance(Math.max(0, off) + 120_000)
  })

  test('that was skipped by a later one is no longer taken', async () => {
    const earlier = member.newCode()
    api.ledger.clock.advance(-30_000)
    expect((await stranger().signIn({ ...member, newCode: () => earlier })).status).toBe(303)
    api.ledger.clock.advance(30_000)
    expect((await stranger().signIn({ ...member, newCode: () => earlier })).status).toBe(401)
  })
})

describe('trying', () => {
  test('one mailbox is bounded wherever from, member or not, and told when to go on', async () => {
    for (const email of [member.email, 'no-member-at-all@example.com']) {
      const wrong = { ...member, email, password: 'a wrong password' }
      const statuses = []
      for (let tries = 0; tries < 9; tries++) {
        const code = '000000'
        statuses.push((await stranger().signIn({ ...wrong, newCode: () => code })).status)
      }
      expect(statuses).toStrictEqual([401, 401, 401, 401, 401, 401, 401, 401, 429])
      const refused = await stranger().signIn({ ...wrong, newCode: () => '000000' })
      expect(Number(refused.headers['retry-after'])).toBe(180)
      expect(refused.text).toContain('Wait 3 minutes')
    }
    // Even with everything right: who guesses in parallel learns nothing.
    expect((await stranger().signIn({ ...member, newCode: () => '000000' })).status).toBe(429)
    api.ledger.clock.advance(180_000)
    expect(await isIn(await signedIn())).toBe(true)
    // And who got in has all their tries again.
    for (let tries = 0; tries < 8; tries++)
      expect((await stranger().signIn({ ...member, password: 'wrong', newCode: () => '0' })).status).toBe(401)
  })

  test('one address is bounded whomever it tries, IPv6 by its network', async () => {
    for (const addressOf of [() => '198.51.100.7', (n: number) => `2001:db8:1:2::${n.toString(16)}`]) {
      const statuses = []
      for (let tries = 0; tries < 21; tries++) {
        const client = clientOf(api.app, addressOf(tries))
        const email = `someone-${addressOf(0)}-${tries}@example.com`
        statuses.push((await client.signIn({ ...member, email, newCode: () => '000000' })).status)
      }
      expect(statuses.filter((status) => status === 401)).toHaveLength(20)
      expect(statuses.at(-1)).toBe(429)
    }
    expect(await isIn(await signedIn())).toBe(true)
  })
})

describe('a member of several workspaces with one address', () => {
  test('names the one they mean, and is somebody of their own in each', async () => {
    const other = await makeTenant(api.ledger)
    const email = 'in.both@example.com'
    const here = await makeMember(api.ledger, tenant.tenantId, 'owner', email)
    expect((await stranger().signIn(here)).status).toBe(303)
    const there = await makeMember(api.ledger, other.tenantId, 'support', 'In.Both@example.com')
    expect((await stranger().signIn(here)).status).toBe(401)
    for (const [who, tenantId] of [
      [here, tenant.tenantId],
      [there, other.tenantId],
    ] as const) {
      const client = stranger()
      expect((await client.signIn(who, { workspace: ` ${tenantId.toUpperCase()} ` })).status).toBe(303)
      expect((await client.get('/dashboard/account')).text).toContain(tenantId)
    }
    // What they chose in one workspace opens nothing in the other.
    expect((await stranger().signIn(here, { workspace: other.tenantId })).status).toBe(401)
  })
})

describe('a session', () => {
  const cookie = (client: Client) => client.cookies.get('keyledger-session') ?? ''

  test('begins with an id that nobody had before', async () => {
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

  test('is not begun under an id that somebody planted', async () => {
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

  test('with TLS, also one that ends at a proxy, has a cookie of this host alone', async () => {
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
      '__Host-keyledger-form',
      '__Host-keyledger-session',
    ])
    expect(await isIn(client)).toBe(true)
    await client.get('/dashboard/tokens?show=all')
    const { location } = await client.post('/dashboard/account/sessions/end-others')
    expect(location).toBe('/dashboard/account')
    expect((await client.get('/dashboard/account')).text).toContain('You are signed in nowhere else now.')
    await app.close()
  })

  test('ends for good, even when a request on its way still writes to it', async () => {
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

  test('is not kept alive by a page that brings itself up to date', async () => {
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

  test('stands in the database without anything that would let somebody in', async () => {
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

describe('the right to be there', () => {
  test('goes with the role, and with membership, from the next request on', async () => {
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

  test('is gone with the tenant', async () => {
    const other = await makeTenant(api.ledger)
    const client = await signedIn(await makeMember(api.ledger, other.tenantId, 'owner'))
    await closeTenant(api.ledger.services, other.tenantId, null, origin)
    expect((await client.get('/dashboard/licenses')).status).toBe(403)
  })
})

describe('before something dangerous', () => {
  test('a member proves again who they are, with a code of its own, and comes back', async () => {
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

  test('tries are bounded there too', async () => {
    const client = await signedIn()
    await client.get('/dashboard/confirm')
    const statuses = []
    for (let tries = 0; tries < 9; tries++)
      statuses.push((await client.post('/dashboard/confirm', { password: 'guess', code: '000000' })).status)
    expect(statuses.at(-1)).toBe(429)
    expect(statuses.filter((status) => status === 401)).toHaveLength(8)
  })
})
