/**
 * Guarantee: a passkey's signature counts only for a recent, unused challenge that was made for this session and
 * purpose, in any process.
 */
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { type Authenticator, passkeyOf } from './authenticator.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

let api: TestApi
let another: FastifyInstance
let tenant: TestTenant
let member: TestMember
let authenticator: Authenticator
beforeAll(async () => {
  api = await openTestApi()
  another = await createTestApp(api.ledger, api.ledger.ports)
  tenant = await makeTenant(api.ledger)
})
afterAll(async () => {
  await another.close()
  await api.close()
})
beforeEach(async () => {
  member = await makeMember(api.ledger, tenant.tenantId, 'owner')
  authenticator = await passkeyOf(api.ledger.db, member.memberId)
})

let addresses = 0
const stranger = (app = api.app): Client => clientOf(app, `192.0.2.${++addresses}`)

/** A browser with a challenge for signing in. */
async function challenged(): Promise<{ client: Client; challenge: string }> {
  const client = stranger()
  await client.get('/dashboard/sign-in')
  return { client, challenge: await challengeFrom(client, '/dashboard/sign-in/challenge') }
}

async function challengeFrom(client: Client, path: string): Promise<string> {
  const { status, text } = await client.post(path)
  expect(status).toBe(200)
  return (JSON.parse(text) as { challenge: string }).challenge
}

const present = (client: Client, challenge: string, path = '/dashboard/sign-in/passkey') =>
  client.post(path, { credential: authenticator.assertion(challenge) })

/** The same browser with another server. */
async function sameBrowser(client: Client, app: FastifyInstance): Promise<Client> {
  const twin = stranger(app)
  for (const [name, value] of client.cookies) twin.cookies.set(name, value)
  await twin.get('/dashboard/sign-in')
  return twin
}

test('the issued challenge signs the member in, and is random', async () => {
  const { client, challenge } = await challenged()
  expect(Buffer.from(challenge, 'base64url').length).toBeGreaterThanOrEqual(16)
  expect((await challenged()).challenge).not.toBe(challenge)
  expect(await present(client, challenge)).toMatchObject({ status: 303, location: '/dashboard' })
})

test('of two servers with the same assertion at the same time, one accepts it', async () => {
  for (let round = 0; round < 8; round++) {
    const { client, challenge } = await challenged()
    const twin = await sameBrowser(client, another)
    const answers = await Promise.all([present(client, challenge), present(twin, challenge)])
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([303, 401])
  }
})

describe('no sign-in', () => {
  test('without a challenge: before one was issued, and after it was used', async () => {
    const client = stranger()
    await client.get('/dashboard/sign-in')
    expect((await present(client, '')).status).toBe(401)
    const { client: given, challenge } = await challenged()
    expect((await present(given, '')).status).toBe(401)
    expect((await present(given, challenge)).status).toBe(401)
    expect((await present(given, '')).status).toBe(401)
  })

  test('with a used challenge, successful or not', async () => {
    const { client, challenge } = await challenged()
    const twin = await sameBrowser(client, another)
    expect((await client.post('/dashboard/sign-in/passkey', { credential: '{}' })).status).toBe(401)
    expect((await present(twin, challenge)).status).toBe(401)
  })

  test("with another session's challenge", async () => {
    const { challenge } = await challenged()
    const { client: own } = await challenged()
    expect((await present(own, challenge)).status).toBe(401)
  })

  test('with one that is five minutes old', async () => {
    const { client, challenge } = await challenged()
    api.ledger.clock.advance(5 * 60_000)
    expect((await present(client, challenge)).status).toBe(401)
    const { client: quick, challenge: fresh } = await challenged()
    api.ledger.clock.advance(5 * 60_000 - 1)
    expect((await present(quick, fresh)).status).toBe(303)
  })

  test('with one for another purpose', async () => {
    const client = stranger()
    await client.signIn(member)
    await client.get('/dashboard/confirm')
    const registering = await challengeFrom(client, '/dashboard/account/passkeys/challenge')
    const prove = (challenge: string) =>
      client.post('/dashboard/confirm', { 'identity-credential': authenticator.assertion(challenge) })
    expect((await prove(registering)).status).toBe(401)
    const confirming = await challengeFrom(client, '/dashboard/confirm/challenge')
    expect(await prove(confirming)).toMatchObject({ status: 303 })
  })
})
