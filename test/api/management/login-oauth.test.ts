/** Guarantee: an OAuth library with RFC 8628 can authorize a device, from the first request to the token. */
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { userCodeLetters } from '../../../src/access/device-codes.ts'
import { findByUserCode } from '../../../src/access/login-requests.ts'
import { approveLogin, denyLogin } from '../../../src/commands/logins.ts'
import { addMember } from '../../../src/commands/members/members.ts'
import type { Scope } from '../../../src/domain/tokens/events.ts'
import { makeTenant, openTestApi, type TestApi } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'

let api: TestApi
let server: oauth.AuthorizationServer
let decider: { memberId: string; role: 'owner'; tenantId: string }
const client: oauth.Client = { client_id: 'build-1' }
const options = { [oauth.allowInsecureRequests]: true }
beforeAll(async () => {
  api = await openTestApi()
  const issuer = await api.app.listen({ port: 0, host: '127.0.0.1' })
  server = {
    issuer,
    device_authorization_endpoint: `${issuer}/v1/login/device`,
    token_endpoint: `${issuer}/v1/login/device/token`,
  }
  const { tenantId } = await makeTenant(api.ledger)
  const asked = { tenantId, role: 'owner', email: 'owner@example.com' } as const
  decider = { memberId: await addMember(api.ledger.ports, asked, origin), role: 'owner', tenantId }
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.advance(3_600_000))

async function start(parameters: Record<string, string> = {}): Promise<oauth.DeviceAuthorizationResponse> {
  const response = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), parameters, options)
  return oauth.processDeviceAuthorizationResponse(server, client, response)
}

async function fetchToken(deviceCode: string): Promise<oauth.TokenEndpointResponse> {
  const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), deviceCode, options)
  return oauth.processDeviceCodeResponse(server, client, response)
}

async function waiting(userCode: string) {
  const { db, fingerprint, now } = api.ledger.ports
  const found = await findByUserCode(db, fingerprint, userCodeLetters(userCode) ?? '', now())
  if (!found) throw new Error('nobody waits')
  return found
}

const refusal = (error: string) => expect.objectContaining({ error }) as Error

test('a device gets the granted scopes for the granted time', async () => {
  const { device_code, user_code, expires_in, interval } = await start({ scope: 'licenses:read usage:read' })
  expect({ expires_in, interval }).toStrictEqual({ expires_in: 600, interval: 5 })
  await expect(fetchToken(device_code)).rejects.toStrictEqual(refusal('authorization_pending'))
  await expect(fetchToken(device_code)).rejects.toStrictEqual(refusal('slow_down'))

  const asked = await waiting(user_code)
  expect(asked).toMatchObject({ clientName: 'build-1', scopes: ['licenses:read', 'usage:read'] })
  const tokenExpiresAt = new Date(api.ledger.clock.now().getTime() + 65_000).toISOString()
  const granted: Scope[] = ['licenses:read']
  await approveLogin(api.ledger.ports, asked, decider, { scopes: granted, tokenExpiresAt }, origin)
  api.ledger.clock.advance(5000)
  const { access_token, ...rest } = await fetchToken(device_code)
  expect(rest).toMatchObject({ token_type: 'bearer', scope: 'licenses:read', expires_in: 60 })
  expect((await api.ask('GET', '/v1/licenses', { token: access_token })).status).toBe(200)
  api.ledger.clock.advance(5000)
  await expect(fetchToken(device_code)).rejects.toStrictEqual(refusal('expired_token'))
})

test('a device gets a token that does not expire when no expiry was chosen', async () => {
  const { device_code, user_code } = await start()
  const granted: Scope[] = ['usage:read']
  const asked = await waiting(user_code)
  await approveLogin(api.ledger.ports, asked, decider, { scopes: granted, tokenExpiresAt: null }, origin)
  expect(await fetchToken(device_code)).not.toHaveProperty('expires_in')
})

test('a device gets access_denied when the request was denied', async () => {
  const { device_code, user_code } = await start()
  await denyLogin(api.ledger.ports, await waiting(user_code), decider, origin)
  await expect(fetchToken(device_code)).rejects.toStrictEqual(refusal('access_denied'))
})

describe('invalid input returns the OAuth error code:', () => {
  test('an unknown scope', async () =>
    expect(start({ scope: 'licenses:read openid' })).rejects.toStrictEqual(refusal('invalid_scope')))

  test('a name with a control character', async () =>
    expect(start({ client_name: 'a\u001bb' })).rejects.toStrictEqual(refusal('invalid_request')))

  test('an unknown device code', async () =>
    expect(fetchToken('nonsense')).rejects.toStrictEqual(refusal('invalid_grant')))

  test.each([
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['no grant', {}, 'invalid_request'],
    ['no device code', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }, 'invalid_request'],
  ])('%s', async (_what, fields, error) => {
    const deviceCode = { device_code: 'x'.repeat(43) }
    const body = new URLSearchParams({
      ...(error === 'invalid_request' && 'grant_type' in fields ? {} : deviceCode),
      ...fields,
    })
    const response = await fetch(server.token_endpoint ?? '', { method: 'POST', body })
    expect({ status: response.status, body: (await response.json()) as unknown }).toMatchObject({
      status: 400,
      body: { error },
    })
  })

  test('a parameter that is sent twice', async () => {
    const body = 'client_id=a&client_id=b'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetch(server.device_authorization_endpoint ?? '', {
      method: 'POST',
      body,
      headers,
    })
    expect({ status: response.status, body: (await response.json()) as unknown }).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  })
})
