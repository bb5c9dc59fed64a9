/**
 * Guarantee: a device gets a token once, with the scopes a person granted, and only after the approval. Codes are
 * stored as hashes. A device can revoke its own token.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { userCodeLetters } from '../../../src/access/device-codes.ts'
import { findByUserCode } from '../../../src/access/login-requests.ts'
import { approveLogin, denyLogin } from '../../../src/commands/logins.ts'
import { addMember } from '../../../src/commands/members/members.ts'
import { tokenStream } from '../../../src/domain/streams.ts'
import { combinableScopes, Scope } from '../../../src/domain/tokens/events.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const asked = { tenantId: tenant.tenantId, role: 'owner', email: 'owner@example.com' } as const
  owner.memberId = await addMember(api.ledger.ports, asked, origin)
  by.actor = `member:${owner.memberId}`
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.advance(3_600_000))

const Started = z.strictObject({
  device_code: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  user_code: z.string().regex(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
  verification_uri: z.literal('http://localhost:8080/login'),
  verification_uri_complete: z.string(),
  expires_in: z.literal(600),
  interval: z.literal(5),
})
type Started = z.infer<typeof Started>

async function start(body: object = {}): Promise<Started> {
  const { status, body: answer, headers } = await api.ask('POST', '/v1/login/device', { body })
  expect(status).toBe(200)
  expect(headers['cache-control']).toBe('no-store')
  return Started.parse(answer)
}
const poll = (deviceCode: string) =>
  api.ask('POST', '/v1/login/device/token', { body: { device_code: deviceCode } })
const answered = ({ status, body }: Answer) => ({ status, body })
const refused = (error: string) => ({ status: 400, body: { error } })
const later = () => api.ledger.clock.advance(5000)

const form = 'application/x-www-form-urlencoded'
const owner: { memberId: string; role: 'owner' } = { memberId: '', role: 'owner' }
const by = { requestId: 'req_person', actor: '' }

async function waiting({ user_code }: Started) {
  const { db, fingerprint, now } = api.ledger.ports
  const found = await findByUserCode(db, fingerprint, userCodeLetters(user_code) ?? '', now())
  if (!found) throw new Error('nobody waits')
  return found
}
async function approve(
  started: Started,
  scopes: Scope[],
  tokenExpiresAt: string | null = null,
): Promise<void> {
  const decider = { ...owner, tenantId: tenant.tenantId }
  await approveLogin(api.ledger.ports, await waiting(started), decider, { scopes, tokenExpiresAt }, by)
}

const Given = z.strictObject({
  access_token: z.string().startsWith('kl_pat_'),
  token_type: z.literal('Bearer'),
  scopes: z.array(Scope),
  scope: z.string(),
  tenant_id: z.string(),
  expires_at: z.string().nullable(),
  expires_in: z.int().optional(),
})

describe('a device', () => {
  test('waits for a decision and then gets a token with the granted scopes once', async () => {
    const started = await start({
      client_name: 'keyledger on build-1',
      scopes: ['licenses:read', 'licenses:write', 'danger'],
    })
    expect(started.verification_uri_complete).toBe(`http://localhost:8080/login?code=${started.user_code}`)
    expect(answered(await poll(started.device_code))).toStrictEqual(refused('authorization_pending'))
    const expiresAt = '2026-06-01T00:00:00.000Z'
    await approve(started, ['licenses:read'], expiresAt)
    later()
    const given = await poll(started.device_code)
    expect(given.status).toBe(200)
    expect(given.headers['cache-control']).toBe('no-store')
    const { access_token: token, ...rest } = Given.parse(given.body)
    expect(rest).toStrictEqual({
      token_type: 'Bearer',
      scopes: ['licenses:read'],
      scope: 'licenses:read',
      tenant_id: tenant.tenantId,
      expires_at: expiresAt,
      expires_in: Math.floor((Date.parse(expiresAt) - api.ledger.clock.now().getTime()) / 1000),
    })
    const verified = await api.ask('GET', '/v1/tokens/verify', { token })
    expect(verified.body).toMatchObject({
      name: 'keyledger on build-1',
      scopes: ['licenses:read'],
      expiresAt,
    })
    expect((await api.ask('GET', '/v1/licenses', { token })).status).toBe(200)
    expect((await api.ask('GET', '/v1/products', { token })).status).toBe(403)
    later()
    expect(answered(await poll(started.device_code))).toStrictEqual(refused('expired_token'))
    const tokenId = z.object({ tokenId: z.string() }).parse(verified.body).tokenId
    const events = await eventsIn(api.ledger.ports.ledger, tokenStream(tokenId))
    expect(events.map((entry) => entry.readable && entry.metadata.actor)).toStrictEqual([by.actor])
  })

  test('gets one token when it polls concurrently', async () => {
    const started = await start()
    await approve(started, ['usage:read'])
    const answers: Answer[] = []
    // A full interval apart for the rule, but simultaneously for the stores.
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        later()
        answers.push(await poll(started.device_code))
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers)
      if (status !== 200)
        expect(body).toStrictEqual({ error: expect.stringMatching(/^(expired_token|slow_down)$/) as string })
  })

  test('gets access_denied when the request was denied', async () => {
    const started = await start()
    await denyLogin(api.ledger.ports, await waiting(started), { ...owner, tenantId: tenant.tenantId }, by)
    expect(answered(await poll(started.device_code))).toStrictEqual(refused('access_denied'))
  })

  test('gets slow_down when it polls faster than the interval, approved or not', async () => {
    const started = await start()
    expect(answered(await poll(started.device_code))).toStrictEqual(refused('authorization_pending'))
    expect(answered(await poll(started.device_code))).toStrictEqual(refused('slow_down'))
    await approve(started, ['usage:read'])
    api.ledger.clock.advance(4000)
    expect(answered(await poll(started.device_code))).toStrictEqual(refused('slow_down'))
    later()
    expect((await poll(started.device_code)).status).toBe(200)
  })

  test('has ten minutes to be approved and to fetch its token', async () => {
    const pending = await start()
    const approved = await start()
    await approve(approved, ['usage:read'])
    api.ledger.clock.advance(600_000 - 1)
    expect(answered(await poll(pending.device_code))).toStrictEqual(refused('authorization_pending'))
    api.ledger.clock.advance(5001)
    for (const { device_code } of [pending, approved])
      expect(answered(await poll(device_code))).toStrictEqual(refused('expired_token'))
    await expect(waiting(pending)).rejects.toThrow('nobody waits')
  })

  test('gets an error for an unknown code', async () => {
    const { user_code } = await start()
    expect(answered(await poll('x'.repeat(43)))).toStrictEqual(refused('expired_token'))
    for (const code of ['a', user_code, '🔑', 'x'.repeat(44)])
      expect(answered(await poll(code))).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('that names no scopes requests all except licenses:runtime', async () => {
    const { scopes, clientName } = await waiting(await start())
    expect([...scopes].sort()).toStrictEqual(
      combinableScopes.filter((scope) => scope !== 'licenses:runtime').sort(),
    )
    expect(clientName).toBe('Unnamed API client')
  })

  test.each([
    [{ scopes: ['everything'] }],
    [{ scopes: [] }],
    [{ scopes: 'danger' }],
    [{ client_name: '' }],
    [{ client_name: 'a'.repeat(101) }],
    [{ client_name: 'a\0b' }],
    [{ unknown: 1 }],
    [[]],
    ['text'],
  ])('that sends %j gets 400', async (body) => {
    expect(answered(await api.ask('POST', '/v1/login/device', { body }))).toStrictEqual(
      refused('invalid_request'),
    )
  })

  test.each([{}, { raw: '' }, { raw: 'null' }, { raw: '', headers: { 'content-type': form } }])(
    'that sends no fields requests the same as one with an empty object: %j',
    async (options) => {
      const { status, body } = await api.ask('POST', '/v1/login/device', options)
      expect(status).toBe(200)
      expect(await waiting(Started.parse(body))).toMatchObject({ clientName: 'Unnamed API client' })
    },
  )

  test('that is refused answers nothing but the code', async () => {
    const scope = { scope: 'licenses:read openid' }
    const both = { scope: 'licenses:read', scopes: ['licenses:read'] }
    const ask = async (path: string, body: object) =>
      answered(await api.ask('POST', `/v1/login/device${path}`, { body }))
    expect(await ask('', scope)).toStrictEqual(refused('invalid_scope'))
    expect(await ask('', both)).toStrictEqual(refused('invalid_request'))
    const grant = { device_code: 'x'.repeat(43), grant_type: 'password' }
    expect(await ask('/token', grant)).toStrictEqual(refused('unsupported_grant_type'))
    expect(await ask('/token', { device_code: 'x' })).toStrictEqual(refused('invalid_grant'))
  })

  test.each([[{}], [{ device_code: '' }], [{ device_code: 1 }], [{ device_code: 'a', more: 1 }], [null]])(
    'that polls with %j gets 400',
    async (body) => {
      expect((await api.ask('POST', '/v1/login/device/token', { body })).status).toBe(400)
    },
  )

  test('has codes that are not readable in the database', async () => {
    const { device_code, user_code } = await start()
    const { rows } = await api.ledger.db.query<{ text: string }>(
      'select r::text as text from vault.login_requests r',
    )
    const all = rows.map(({ text }) => text).join()
    for (const secret of [device_code, user_code, user_code.replace('-', '')])
      expect(all).not.toContain(secret)
  })
})

test('an address that starts too many sign-ins gets 429', async () => {
  const statuses = []
  for (let starts = 0; starts < 21; starts++)
    statuses.push((await api.ask('POST', '/v1/login/device', { body: {} })).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  const answer = await api.ask('POST', '/v1/login/device', { body: {} })
  expect(answer.status).toBe(429)
  expect(Number(answer.headers['retry-after'])).toBe(6)
  api.ledger.clock.advance(6000)
  expect((await api.ask('POST', '/v1/login/device', { body: {} })).status).toBe(200)
})

describe('signing out', () => {
  test('revokes only the token of the request', async () => {
    const token = await tenant.tokenWith('usage:read')
    const other = await tenant.tokenWith('usage:read')
    const answer = await api.ask('POST', '/v1/logout', { token })
    expect(answered(answer)).toStrictEqual({ status: 200, body: { revoked: true } })
    expect((await api.ask('GET', '/v1/tokens/verify', { token })).status).toBe(401)
    expect((await api.ask('POST', '/v1/logout', { token })).status).toBe(401)
    expect((await api.ask('GET', '/v1/tokens/verify', { token: other })).status).toBe(200)
  })
  test('without a token returns 401', async () => {
    expect((await api.ask('POST', '/v1/logout')).status).toBe(401)
  })
})

test('the last use of a token is written in batches, not by the request', async () => {
  const { ledger } = api
  const used = await makeTenant(ledger)
  const read = async () =>
    (
      await ledger.db.query<{ at: string }>(
        'select last_used_at as at from usage.token_use where token_id = $1',
        [used.tokenId],
      )
    ).rows.map(({ at }) => at)
  for (let requests = 0; requests < 5; requests++)
    await api.ask('GET', '/v1/tokens/verify', { token: used.token })
  const moment = ledger.clock.now().toISOString()
  expect(await read()).toStrictEqual([])
  await ledger.ports.tokenUse.flush()
  expect(await read()).toStrictEqual([moment])
  ledger.clock.advance(60_000)
  expect((await api.ask('GET', '/v1/tokens/verify', { token: `${used.token.slice(0, -1)}x` })).status).toBe(
    401,
  )
  await ledger.ports.tokenUse.flush()
  expect(await read()).toStrictEqual([moment])
})
