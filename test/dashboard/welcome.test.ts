/**
 * Guarantee: a one-time link lets a member set up sign-in once. Opening it and typing errors do not use it up;
 * using it replaces earlier sign-in methods and ends every session.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addMember, issueLink, removeMember } from '../../src/commands/members/members.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { memberStream } from '../../src/domain/streams.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { eventsIn, origin, uniqueId } from '../harness/ledger.ts'
import { clientOf } from './client.ts'
import { codesOf, makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let email: string
let memberId: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())
beforeEach(async () => {
  email = `${uniqueId('ada')}@example.com`
  memberId = await addMember(api.ledger.ports, { tenantId: tenant.tenantId, role: 'owner', email }, origin)
})

const link = (of = memberId) =>
  issueLink(api.ledger.ports, tenant.tenantId, of, 'invitation', origin).then(({ secret }) => secret)
let addresses = 0
const stranger = () => clientOf(api.app, `192.0.2.${++addresses}`)
const pathOf = (secret: string) => `/dashboard/welcome/${secret}`
const password = 'correct horse battery staple'

/** Opens the link and reads the key for the authenticator app. */
async function opened(secret: string) {
  const client = stranger()
  const { status, text } = await client.get(pathOf(secret))
  const key = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
  return { client, status, text, key, newCode: codesOf(key, api.ledger.clock) }
}

async function used(secret: string) {
  const { client, newCode } = await opened(secret)
  const seen = await client.post(pathOf(secret), { password, code: newCode() })
  return { client, seen, newCode }
}

test('a link leads to a password and an authenticator app, and signs in', async () => {
  const secret = await link()
  const { status, text } = await opened(secret)
  expect(status).toBe(200)
  expect(text).toContain(email)
  expect(text).toContain('aria-label="QR code for your authenticator app"')
  const { client, seen, newCode } = await used(secret)
  expect(seen).toMatchObject({ status: 303, location: '/dashboard' })
  expect((await client.get('/dashboard')).text).toContain('Sign-in is set up')
  const again = stranger()
  expect((await again.signIn({ memberId, tenantId: tenant.tenantId, email, password, newCode })).status).toBe(
    303,
  )
})

test('only a later link says that it replaces sign-in methods', async () => {
  const first = await link()
  expect((await opened(first)).text).not.toContain('This replaces')
  await used(first)
  expect((await opened(await link())).text).toContain('This replaces your earlier sign-in methods.')
})

test('it has the same key each time it is opened', async () => {
  const secret = await link()
  expect((await opened(secret)).key).toBe((await opened(secret)).key)
})

test('it works once, also among racers, and not again', async () => {
  const secret = await link()
  const { newCode } = await opened(secret)
  const code = newCode()
  const clients = await Promise.all(Array.from({ length: 5 }, () => opened(secret)))
  const seen = await Promise.all(clients.map(({ client }) => client.post(pathOf(secret), { password, code })))
  expect(seen.map(({ status }) => status).sort()).toStrictEqual([303, 404, 404, 404, 404])
  expect((await opened(secret)).status).toBe(404)
})

describe('a typing error', () => {
  test('is shown at its field, and does not use the link up', async () => {
    const secret = await link()
    const { client, newCode } = await opened(secret)
    for (const [fields, told] of [
      [{ password: 'short', code: newCode() }, 'id="password-error"'],
      [{ password: `${email} is me`, code: newCode() }, 'id="password-error"'],
      [{ password, code: '000000' }, 'id="code-error"'],
    ] as const) {
      const { status, text } = await client.post(pathOf(secret), fields)
      expect(status).toBe(422)
      expect(text).toContain(told)
    }
    expect((await client.post(pathOf(secret), { password, code: newCode() })).status).toBe(303)
  })
})

describe('a link does not work', () => {
  const isOfNone = async (secret: string) => {
    expect((await opened(secret)).status).toBe(404)
    const client = stranger()
    await client.get('/dashboard/sign-in')
    expect((await client.post(pathOf(secret), { password, code: '000000' })).status).toBe(404)
    expect((await client.post(`${pathOf(secret)}/challenge`)).status).toBe(404)
    expect((await client.post(`${pathOf(secret)}/passkey`, { credential: '{}' })).status).toBe(404)
  }
  test('after 72 hours, and not a moment sooner', async () => {
    const secret = await link()
    api.ledger.clock.advance(72 * 3_600_000 - 1)
    expect((await opened(secret)).status).toBe(200)
    api.ledger.clock.advance(1)
    await isOfNone(secret)
  })
  test('once a newer one exists', async () => {
    const older = await link()
    const newer = await link()
    await isOfNone(older)
    expect((await used(newer)).seen.status).toBe(303)
  })
  test('once its member was removed', async () => {
    await makeMember(api.ledger, tenant.tenantId, 'owner')
    const secret = await link()
    await removeMember(api.ledger.ports, tenant.tenantId, memberId, origin)
    await isOfNone(secret)
  })
  test.each(['', 'a', 'A'.repeat(43), '%00'.repeat(10), '..%2f..'])('when it is %j', (secret) =>
    isOfNone(secret),
  )
})

test('a recovery link replaces everything that was set up before, and ends every session', async () => {
  const member = await makeMember(api.ledger, tenant.tenantId, 'owner')
  const before = stranger()
  await before.signIn(member)
  await api.ledger.db.query(
    `insert into vault.member_passkeys (credential_id, member_id, public_key, counter, transports, name, created_at)
     values ($1, $2, '\\x00', 0, '{}', 'Lost phone', now())`,
    [uniqueId('credential'), member.memberId],
  )
  expect((await before.get('/dashboard/account')).text).toContain('Lost phone')
  const secret = await link(member.memberId)
  expect((await before.get('/dashboard/account')).status).toBe(200)
  const { client, seen, newCode } = await used(secret)
  expect(seen.status).toBe(303)
  expect((await before.get('/dashboard/account')).status).toBe(303)
  expect((await client.get('/dashboard/account')).text).not.toContain('Lost phone')
  expect((await stranger().signIn({ ...member })).status).toBe(401)
  expect((await stranger().signIn({ ...member, newCode })).status).toBe(303)
  const { rows } = await api.ledger.db.query<{ name: string }>(
    "select name from vault.secrets where name like 'member-totp.' || $1 || '.%'",
    [member.memberId],
  )
  expect(rows).toHaveLength(1)
})

test('the creation of a link is recorded, without its content and without the choice', async () => {
  const secret = await link()
  const { key } = await opened(secret)
  await used(secret)
  const events = await eventsIn(api.ledger.ports.ledger, memberStream(memberId))
  expect(events.map((entry) => (entry.readable ? entry.event.type : ''))).toStrictEqual([
    'MemberAdded',
    'MemberLinkIssued',
  ])
  const text = JSON.stringify(events, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const hidden of [secret, sha256(secret), key, password, email]) expect(text).not.toContain(hidden)
})
