/**
 * Guarantee: a browser in which a member has signed in is recognized by a cookie that grants no access. It is
 * recognized for that member only, gets a new cookie with each sign-in, and is forgotten when the member signs out
 * everywhere or changes the password.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isKnownDevice } from '../../src/access/known-devices.ts'
import { removeMember } from '../../src/commands/members/members.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { type Client, clientOf } from './client.ts'
import { codesOf, makeMember, type TestMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let member: TestMember
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())
beforeEach(async () => {
  member = await makeMember(api.ledger, tenant.tenantId, 'owner')
})

let addresses = 0
const stranger = (): Client => clientOf(api.app, `198.51.100.${++addresses}`)

async function signedIn(who = member, client = stranger()): Promise<Client> {
  expect((await client.signIn(who)).status).toBe(303)
  await client.get('/dashboard/account')
  return client
}

const cookieOf = (client: Client) => client.cookies.get('keyledger-device') ?? ''
const isKnownAs = (cookie: string, { memberId }: TestMember) => {
  const [secret = ''] = decodeURIComponent(cookie).split('.')
  return isKnownDevice(api.ledger.db, sha256(secret), api.ledger.clock.now(), memberId)
}

test('is recognized for its member, for half a year, by a cookie that scripts and other sites cannot use', async () => {
  const client = stranger()
  const { setCookies } = await client.signIn(member)
  const [cookie = ''] = setCookies.filter((text) => text.startsWith('keyledger-device='))
  expect(cookie.split('; ').slice(1).sort()).toStrictEqual([
    'HttpOnly',
    'Max-Age=15552000',
    'Path=/',
    'SameSite=Lax',
  ])
  expect(await isKnownAs(cookieOf(client), member)).toBe(true)
  const colleague = await makeMember(api.ledger, tenant.tenantId, 'owner')
  expect(await isKnownAs(cookieOf(client), colleague)).toBe(false)
  api.ledger.clock.advance(180 * 86_400_000)
  expect(await isKnownAs(cookieOf(client), member)).toBe(false)
})

test('grants no access, and is ignored when it was not signed here', async () => {
  const known = await signedIn()
  const thief = stranger()
  thief.cookies.set('keyledger-device', cookieOf(known))
  expect(await thief.get('/dashboard/account')).toMatchObject({ status: 303 })
  const forger = stranger()
  const [secret = ''] = cookieOf(known).split('.')
  forger.cookies.set('keyledger-device', secret)
  const guess = { ...member, password: 'a wrong password', newCode: () => '000000' }
  for (let n = 0; n < 8; n++) expect((await forger.signIn(guess)).status).toBe(401)
  expect((await forger.signIn(guess)).status).toBe(429)
  await known.post('/dashboard/sign-out')
  expect((await known.signIn(member)).status).toBe(303)
})

test('gets a new cookie after each sign-in, also for other members; the previous one no longer works', async () => {
  const colleague = await makeMember(api.ledger, tenant.tenantId, 'support')
  const client = await signedIn(colleague)
  const before = cookieOf(client)
  await client.post('/dashboard/sign-out')
  await signedIn(member, client)
  expect(cookieOf(client)).not.toBe(before)
  for (const who of [member, colleague]) {
    expect(await isKnownAs(cookieOf(client), who)).toBe(true)
    expect(await isKnownAs(before, who)).toBe(false)
  }
})

test('is forgotten when the member signs out everywhere else, except the current browser', async () => {
  const lost = await signedIn()
  const here = await signedIn()
  await here.post('/dashboard/account/sessions/end-others')
  expect(await isKnownAs(cookieOf(lost), member)).toBe(false)
  expect(await isKnownAs(cookieOf(here), member)).toBe(true)
})

test('is forgotten when an owner signs the member out, and when the member is removed', async () => {
  const owner = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  const lost = await signedIn()
  await owner.get(`/dashboard/members/${member.memberId}`)
  const ended = await owner.post(`/dashboard/members/${member.memberId}/sessions/end`)
  expect(ended.location).toBe(`/dashboard/members/${member.memberId}`)
  expect(await isKnownAs(cookieOf(lost), member)).toBe(false)
  const again = await signedIn()
  await removeMember(api.ledger.ports, tenant.tenantId, member.memberId, origin)
  expect(await isKnownAs(cookieOf(again), member)).toBe(false)
})

test('is forgotten when the password is changed, except the current browser', async () => {
  const lost = await signedIn()
  const here = await signedIn()
  const { text } = await here.get('/dashboard/account/password')
  const secret = /<code[^>]*>([A-Z2-7 ]{16,})<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
  expect(secret).not.toBe('')
  const code = codesOf(secret, api.ledger.clock)()
  const changed = await here.post('/dashboard/account/password', { password: 'another long password', code })
  expect(changed.location).toBe('/dashboard/account')
  expect(await isKnownAs(cookieOf(lost), member)).toBe(false)
  expect(await isKnownAs(cookieOf(here), member)).toBe(true)
})
