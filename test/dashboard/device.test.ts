/**
 * Guarantee: only a member who was shown a device's code authorizes it; `danger` is off unless they turn it on
 * after a fresh sign-in; no one grants more than their role allows; and codes cannot be guessed.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Scope } from '../../src/domain/tokens/events.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { clientOf } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: TestMember
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.advance(3_600_000))

const Started = z.object({ device_code: z.string(), user_code: z.string() })
const start = async (scopes?: Scope[], client_name = 'keyledger on build-1') =>
  Started.parse(
    (await api.ask('POST', '/v1/login/device', { body: { client_name, ...(scopes && { scopes }) } })).body,
  )
const fetched = async (deviceCode: string) => {
  api.ledger.clock.advance(5000)
  return (await api.ask('POST', '/v1/login/device/token', { body: { device_code: deviceCode } })).body
}

let addresses = 0
async function signedIn(member = owner) {
  const client = clientOf(api.app, `192.0.2.${++addresses}`)
  expect((await client.signIn(member)).status).toBe(303)
  await client.get('/dashboard/device')
  return client
}
const enter = async (client: Awaited<ReturnType<typeof signedIn>>, code: string) => {
  const seen = await client.post('/dashboard/device', { code })
  return seen.location === undefined ? seen : client.get(seen.location)
}

test('a person sees the client, its address and its request, and authorizes it', async () => {
  const { device_code, user_code } = await start(['licenses:read', 'licenses:write'])
  const client = await signedIn()
  const { status, text } = await enter(client, ` ${user_code.toLowerCase().replace('-', ' ')} `)
  expect(status).toBe(200)
  for (const shown of ['keyledger on build-1', '127.0.0.1', 'licenses:read', 'licenses:write'])
    expect(text).toContain(shown)
  expect(text).not.toContain('id="scope-danger"')
  const done = await client.post('/dashboard/device/approve', { scopes: ['licenses:read'], lifetime: '30' })
  expect(done.text).toContain('is authorized')
  const at = api.ledger.clock.now().getTime()
  expect(await fetched(device_code)).toMatchObject({
    scopes: ['licenses:read'],
    tenant_id: tenant.tenantId,
    expires_at: new Date(at + 30 * 86_400_000).toISOString(),
  })
})

test('the name that a client gives itself is marked as such, without its quotation marks', async () => {
  const { user_code } = await start(['licenses:read'], 'Acme CLI”, checked by “keyledger')
  const client = await signedIn()
  const { text } = await enter(client, user_code)
  expect(text).toContain('calls itself “Acme CLI&quot;, checked by &quot;keyledger”')
  const done = await client.post('/dashboard/device/deny')
  expect(done.text).toContain(
    'The device that calls itself “Acme CLI&quot;, checked by &quot;keyledger” was denied',
  )
})

describe('danger', () => {
  const boxOf = (text: string) => /<input[^>]*id="scope-danger"[^>]*>/.exec(text)?.[0]
  test('is offered where it was requested, and off', async () => {
    const { user_code } = await start(['licenses:write', 'danger'])
    const { text } = await enter(await signedIn(), user_code)
    expect(boxOf(text)).toBeDefined()
    expect(boxOf(text)).not.toContain('checked')
    expect(/<input[^>]*id="scope-licenses:write"[^>]*>/.exec(text)?.[0]).toContain('checked')
  })

  test('is granted when it is turned on, after a proof', async () => {
    const client = await signedIn()
    api.ledger.clock.advance(10 * 60_000)
    const { device_code, user_code } = await start(['licenses:write', 'danger'])
    await enter(client, user_code)
    const fields = { scopes: ['licenses:write', 'danger'], lifetime: 'never' }
    const asked = await client.post('/dashboard/device/approve', fields)
    expect(asked.text).toContain('Confirm your identity')
    expect(await fetched(device_code)).toStrictEqual({ error: 'authorization_pending' })
    const identity = { 'identity-password': owner.password, 'identity-code': owner.newCode() }
    await client.post('/dashboard/device/approve', { ...fields, ...identity })
    expect(await fetched(device_code)).toMatchObject({
      scopes: ['danger', 'licenses:write'],
      expires_at: null,
    })
  })

  test('cannot be granted when it was not requested', async () => {
    const { device_code, user_code } = await start(['licenses:write'])
    const client = await signedIn()
    await enter(client, user_code)
    const fields = { scopes: ['licenses:write', 'danger'], lifetime: 'never' }
    expect((await client.post('/dashboard/device/approve', fields)).status).toBe(422)
    expect(await fetched(device_code)).toStrictEqual({ error: 'authorization_pending' })
  })
})

test.each(['approver', 'support', 'auditor'] as const)(
  'the role %s grants read scopes only',
  async (role) => {
    const client = await signedIn(await makeMember(api.ledger, tenant.tenantId, role))
    const { device_code, user_code } = await start()
    const { text } = await enter(client, user_code)
    const offered = [...text.matchAll(/id="scope-([a-z:]+)"/g)].map(([, scope]) => scope)
    expect(offered.length).toBe(5)
    for (const scope of offered) expect(scope).toMatch(/:read$/)
    const more = { scopes: ['products:read', 'products:write'], lifetime: '7' }
    expect((await client.post('/dashboard/device/approve', more)).status).toBe(422)
    await client.post('/dashboard/device/approve', { scopes: ['products:read'], lifetime: '7' })
    expect(await fetched(device_code)).toMatchObject({ scopes: ['products:read'] })
  },
)

test('a device is denied, and the decision is final', async () => {
  const { device_code, user_code } = await start(['usage:read'])
  const one = await signedIn()
  const two = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  await enter(one, user_code)
  await enter(two, user_code)
  expect((await one.post('/dashboard/device/deny')).text).toContain('was denied')
  const late = await two.post('/dashboard/device/approve', { scopes: ['usage:read'], lifetime: '7' })
  expect(late.status).toBe(422)
  expect(late.text).toContain('was already approved or denied')
  expect(await fetched(device_code)).toStrictEqual({ error: 'access_denied' })
})

describe('a code', () => {
  test('must be entered in the session that decides', async () => {
    const { user_code } = await start()
    await enter(await signedIn(), user_code)
    const other = await signedIn()
    expect((await other.get('/dashboard/device/review')).status).toBe(404)
    expect(
      (await other.post('/dashboard/device/approve', { scopes: 'usage:read', lifetime: '7' })).status,
    ).toBe(404)
    expect((await other.post('/dashboard/device/deny')).status).toBe(404)
  })

  test('in the URL is only filled in', async () => {
    const { user_code } = await start()
    const client = await signedIn()
    expect(await client.get(`/login?code=${user_code}`)).toMatchObject({
      location: `/dashboard/device?code=${user_code}`,
    })
    const { text } = await client.get(`/dashboard/device?code=${user_code}`)
    expect(text).toContain(`value="${user_code}"`)
    expect((await client.get('/dashboard/device/review')).status).toBe(404)
  })

  test('that is wrong is refused five times; then this session accepts none, not even a right one', async () => {
    const { user_code } = await start()
    const client = await signedIn()
    const tries = Array.from({ length: 12 }, () => client.post('/dashboard/device', { code: 'BCDF-GHJK' }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 422)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(7)
    expect((await client.post('/dashboard/device', { code: user_code })).status).toBe(429)
    expect((await enter(await signedIn(), user_code)).status).toBe(200)
  })

  test('that is right does not count as an attempt', async () => {
    const client = await signedIn()
    for (let codes = 0; codes < 7; codes++) {
      const { user_code } = await start(['usage:read'], `program ${codes}`)
      expect((await enter(client, user_code)).text).toContain(`program ${codes}`)
    }
  })

  test('cannot be guessed by signing in repeatedly', async () => {
    const guesser = await makeMember(api.ledger, tenant.tenantId, 'support')
    let taken = 0
    for (let sessions = 0; sessions < 6; sessions++) {
      const client = await signedIn(guesser)
      for (let tries = 0; tries < 5; tries++) {
        if ((await client.post('/dashboard/device', { code: 'BCDF-GHJK' })).status === 422) taken++
      }
    }
    // Twenty at once, and a few more for the time that signing in took.
    expect(taken).toBeGreaterThanOrEqual(20)
    expect(taken).toBeLessThan(24)
  })

  test('expires after its lifetime', async () => {
    const { user_code } = await start()
    const client = await signedIn()
    await enter(client, user_code)
    api.ledger.clock.advance(600_000)
    expect((await client.get('/dashboard/device/review')).status).toBe(404)
    expect((await client.post('/dashboard/device', { code: user_code })).status).toBe(422)
  })
})
