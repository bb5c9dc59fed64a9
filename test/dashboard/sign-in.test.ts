/**
 * Guarantee: signing in does not reveal who is a member; every code works once; attempts are limited by address and
 * by mailbox. A session begins with a new id, ends permanently, and never outlives the member's access.
 */
import * as argon2 from '@node-rs/argon2'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { type Client, clientOf, type Seen } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

/** Hashes as usual, and counts the calls. */
vi.mock('@node-rs/argon2', { spy: true })

let api: TestApi
let tenant: TestTenant
let member: TestMember
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

let addresses = 0
/** A client with an unused address. */
const stranger = (app = api.app): Client => clientOf(app, `192.0.2.${++addresses}`)

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

describe('a failed sign-in', () => {
  test('takes the same work, member or not: as many lookups, and one password hash', async () => {
    // Failures are recorded a second later: never, while this application's intervals stand still. The other application has none
    // to record yet, since this test is the first.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const app = await createTestApp(api.ledger, api.ledger.ports)
    vi.useRealTimers()
    const workFor = async (fields: Record<string, string>) => {
      const client = stranger(app)
      await client.get('/dashboard/sign-in')
      const { verify } = vi.mocked(argon2)
      verify.mockClear()
      const query = vi.spyOn(api.ledger.db, 'query')
      await client.post('/dashboard/sign-in', {
        email: member.email,
        password: 'not it',
        code: '000000',
        ...fields,
      })
      const lookedUp = query.mock.calls.map(([statement]) => nameOf(statement)).filter(isOfRequest)
      const work = { hashed: verify.mock.calls.length, lookedUp }
      query.mockRestore()
      return work
    }
    const known = await workFor({})
    expect(known.hashed).toBe(1)
    expect(known.lookedUp.length).toBeGreaterThan(3)
    expect(await workFor({ email: 'who.is.this@example.com' })).toStrictEqual(known)
    expect(await workFor({ workspace: 'another' })).toStrictEqual(known)
    expect(await workFor({ password: member.password })).toStrictEqual(known)
    await app.close()
  })

  test('has the same response, whatever did not match', async () => {
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

  test('is that of an unknown person for an invited member', async () => {
    const { email } = await makeMember(api.ledger, tenant.tenantId, 'support')
    await api.ledger.db.query('delete from vault.member_credentials where member_id <> $1', [member.memberId])
    const client = stranger()
    expect((await client.signIn({ ...member, email })).status).toBe(401)
  })
})

/** A statement as it was given: text, or an object with it. Values are other for each attempt. */
const nameOf = (statement: unknown): string =>
  typeof statement === 'string' ? statement : JSON.stringify(statement, ['name', 'text'])

/** Counters are flushed and a freeze is looked for at any time, whoever signs in. */
const isOfRequest = (statement: string): boolean => !/usage\.|operations\.|is-frozen/.test(statement)

describe('a code', () => {
  test('works once, also when it is sent many times at once', async () => {
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
  ])('from a clock that is %i ms off gets %i', async (off, status) => {
    const code = member.newCode()
    api.ledger.clock.advance(-off)
    expect((await stranger().signIn({ ...member, newCode: () => code })).status).toBe(status)
    api.ledger.clock.advance(Math.max(0, off) + 120_000)
  })

  test('is refused after a later one was used', async () => {
    const earlier = member.newCode()
    api.ledger.clock.advance(-30_000)
    expect((await stranger().signIn({ ...member, newCode: () => earlier })).status).toBe(303)
    api.ledger.clock.advance(30_000)
    expect((await stranger().signIn({ ...member, newCode: () => earlier })).status).toBe(401)
  })
})

describe('the limit of attempts', () => {
  const wrong = (who: TestMember): TestMember => ({
    ...who,
    password: 'a wrong password',
    newCode: () => '000000',
  })
  const tries = async (clientFor: () => Client, who: TestMember, times: number) => {
    const statuses = []
    for (let n = 0; n < times; n++) statuses.push((await clientFor().signIn(who)).status)
    return statuses
  }
  const refusedLast = (times: number) => [...Array.from({ length: times - 1 }, () => 401), 429]

  test('applies to an account at each address, member or not, with Retry-After', async () => {
    for (const email of [member.email, 'no-member-at-all@example.com']) {
      const client = stranger()
      const guess = wrong({ ...member, email })
      expect(await tries(() => client, guess, 9)).toStrictEqual(refusedLast(9))
      const refused = await client.signIn(guess)
      expect(Number(refused.headers['retry-after'])).toBe(180)
      expect(refused.text).toContain('Wait 3 minutes')
      // Even correct input is refused, so that parallel guessing reveals nothing.
      expect((await client.signIn({ ...member, email, newCode: () => '000000' })).status).toBe(429)
      api.ledger.clock.advance(180_000)
      expect((await client.signIn(guess)).status).toBe(401)
    }
  })

  test('is independent of attempts from other addresses', async () => {
    const client = stranger()
    expect(await tries(() => client, wrong(member), 9)).toStrictEqual(refusedLast(9))
    expect(await isIn(await signedIn())).toBe(true)
  })

  test('is reset at an address by a successful sign-in', async () => {
    const client = stranger()
    const guess = wrong(member)
    expect(await tries(() => client, guess, 5)).not.toContain(429)
    expect((await client.signIn(member)).status).toBe(303)
    client.cookies.clear()
    expect(await tries(() => client, guess, 9)).toStrictEqual(refusedLast(9))
  })

  test('applies to an account over all unknown browsers, and lets a known browser through', async () => {
    const known = await signedIn()
    await known.get('/dashboard/account')
    await known.post('/dashboard/sign-out')
    const guesses = await tries(stranger, wrong(member), 61)
    // Each address has its own attempts, and there are more addresses than attempts.
    expect(guesses).toStrictEqual(refusedLast(61))
    const code = member.newCode()
    expect(await tries(stranger, wrong(member), 2)).toStrictEqual([401, 429])
    const right = { ...member, newCode: () => code }
    expect((await stranger().signIn(right)).status).toBe(429)
    expect((await known.signIn(right)).status).toBe(303)
  })

  test('is separate for a known browser, also at an address without attempts left', async () => {
    const known = await signedIn()
    await known.get('/dashboard/account')
    await known.post('/dashboard/sign-out')
    const neighbor = clientOf(api.app, `192.0.2.${addresses}`)
    for (let n = 0; n < 20; n++)
      await neighbor.signIn(wrong({ ...member, email: `someone-${n}@example.com` }))
    const code = member.newCode()
    expect(await tries(() => neighbor, wrong(member), 3)).toStrictEqual([401, 401, 429])
    expect((await known.signIn({ ...member, newCode: () => code })).status).toBe(303)
    await known.get('/dashboard/account')
    await known.post('/dashboard/sign-out')
    expect(await tries(() => known, wrong(member), 9)).toStrictEqual(refusedLast(9))
  })

  test('applies to an address for all accounts, with IPv6 by network', async () => {
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
  test('chooses one by its name, and is a separate member in each', async () => {
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
    // A password chosen in one workspace does not work in another.
    expect((await stranger().signIn(here, { workspace: other.tenantId })).status).toBe(401)
  })
})
