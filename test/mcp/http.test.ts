/** Guarantee: an agent over HTTP does what its token may do, through the same checks as every other caller. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { approve } from '../../src/gate/approvals.ts'
import { allTools } from '../../src/mcp/server.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import type { Keyset } from '../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver } from '../harness/gate.ts'
import { makeProduct } from '../http/samples.ts'
import { type Agent, connectAgent } from './agent.ts'

let api: TestApi
let address: string
let tenant: TestTenant
let agent: Agent
beforeAll(async () => {
  api = await openTestApi()
  address = await api.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', deviceLimit: 2 }] })
  agent = await agentWith(tenant.token)
  return () => agent.close()
})

const agentWith = (token: string): Promise<Agent> =>
  connectAgent(
    new StreamableHTTPClientTransport(new URL('/mcp', address), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )

const Minted = z.object({ license: z.looseObject({ id: z.string() }), licenseKey: z.string() })
const mint = async () =>
  Minted.parse((await agent.use('mint_license', { productId: 'editor', email: 'ada@example.com' })).data)

test('all tools are listed, with what they may do', async () => {
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(allTools.map(({ name }) => name))
  const annotations = (name: string) => tools.find((tool) => tool.name === name)?.annotations
  expect(annotations('find_license')).toMatchObject({ readOnlyHint: true, destructiveHint: false })
  expect(annotations('revoke_license')).toMatchObject({ readOnlyHint: false, destructiveHint: true })
  expect(annotations('mint_license')).toMatchObject({ destructiveHint: false, idempotentHint: false })
  expect(annotations('redeliver_webhook')).toMatchObject({ openWorldHint: true })
})

test('support finds a license, sees why it is refused, and frees a seat', async () => {
  const { license, licenseKey } = await mint()
  for (const device_id of ['laptop', 'desktop'])
    await api.ask('POST', '/v1/licenses/activate', {
      token: tenant.token,
      body: { license_key: licenseKey, product_id: 'editor', device_id },
    })
  const found = await agent.use('find_license', { text: 'ada@ex' })
  expect(found.text).toContain(license.id)
  const explained = await agent.use('explain_license', { licenseId: license.id, deviceId: 'new' })
  expect(explained.text).toContain('seat_limit_reached')
  const freed = await agent.use('free_seat', { licenseId: license.id, deviceId: 'laptop', reason: 'lost' })
  expect(freed).toMatchObject({ refused: false })
  const history = await agent.use('read_license_history', { licenseId: license.id })
  expect(history.text).toContain('lost')
})

test('the key is in the result of the mint alone', async () => {
  const { license, licenseKey } = await mint()
  const reading = ['get_license', 'explain_license', 'read_license_history', 'list_refused_calls']
  const results = await Promise.all([
    ...reading.map((name) => agent.use(name, { licenseId: license.id })),
    agent.use('find_license', { text: licenseKey }),
    agent.use('list_licenses'),
  ])
  for (const { refused, text } of results) {
    expect(refused).toBe(false)
    expect(text).not.toContain(licenseKey)
  }
})

test('a mint that is repeated with its idempotency key creates one license', async () => {
  const once = { productId: 'editor', idempotencyKey: 'the-only-one' }
  const first = Minted.parse((await agent.use('mint_license', once)).data)
  expect(Minted.parse((await agent.use('mint_license', once)).data)).toEqual(first)
})

test('support answers the request of a device without a network, and takes its file back', async () => {
  const { tenantId, token } = tenant
  const offlineFiles = { maxDays: 90, perSeatPerYear: 2 }
  await makeProduct(api.ask, token, 'mill', {
    keyTypes: [{ name: 'Pro', offlineFiles, updates: { count: 1, unit: 'year' }, graceSeconds: 3600 }],
  })
  const types = await agent.use('list_key_types', { productId: 'mill' })
  expect(types.data).toMatchObject({ keyTypes: [{ offlineFiles, graceSeconds: 3600 }] })
  const minted = await agent.use('mint_license', { productId: 'mill' })
  expect(minted.data).toMatchObject({ license: { updatesUntil: expect.any(String) as unknown } })
  const { license, licenseKey } = Minted.parse(minted.data)
  const { keys } = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const device = createClient({
    tenantId,
    productId: 'mill',
    keys,
    storage: memoryStorage(),
    identity: () => ({ machineHash: 'a-hash-of-a-mill-000000' }),
    deviceName: 'Mill 3',
    clock: { now: () => api.ledger.clock.now().getTime(), after: () => () => undefined },
  })
  const { text: request, token: bare } = await device.createOfflineRequest(licenseKey)
  const licenseId = license.id
  const made = await agent.use('create_license_file', { licenseId, request, days: 30 })
  expect(await agent.use('create_license_file', { licenseId, request: bare, days: 30 })).toStrictEqual(made)
  const file = z.object({ file: z.string() }).parse(made.data)
  expect(await device.importLicense(file.file)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  const read = await agent.use('get_license', { licenseId })
  expect(read.data).toMatchObject({
    license: { devices: [{ identifiedBy: ['machine'], fileEndsAt: expect.any(String) as unknown }] },
  })
  const deviceId = z
    .object({ license: z.object({ devices: z.tuple([z.object({ deviceId: z.string() })]) }) })
    .parse(read.data).license.devices[0].deviceId
  const held = await agent.use('free_seat', { licenseId, deviceId })
  expect(held.text).toContain('seat_has_file')
  const release = (await device.release())?.token ?? ''
  expect(await agent.use('release_license_file', { licenseId, release: request })).toMatchObject({
    refused: true,
    text: expect.stringContaining('file_release_unreadable') as unknown,
  })
  const released = await agent.use('release_license_file', { licenseId, release })
  expect(released.data).toStrictEqual({ released: true })
  const files = await agent.use('list_license_files', { licenseId })
  expect(files.data).toMatchObject({ files: [{ state: 'released', deviceName: 'Mill 3' }] })
})

describe('a tool that needs an approval', () => {
  const Approval = z.object({ approval: z.object({ id: z.string(), approveUrl: z.string() }) })

  test('returns the address first, and changes something once a person has approved', async () => {
    const { license } = await mint()
    const given = { licenseId: license.id, reason: 'fraud' }
    const rehearsed = await agent.use('revoke_license', { ...given, dryRun: true })
    expect(rehearsed.data).toMatchObject({ dryRun: true, effect: { licenses: { count: 1 } } })
    const first = await agent.use('revoke_license', given)
    const { approval } = Approval.parse(first.data)
    expect(first.text).toContain(approval.approveUrl)
    const check = () => agent.use('check_approval', { confirmationId: approval.id })
    expect((await check()).data).toMatchObject({ status: 'pending' })
    const early = await agent.use('revoke_license', { ...given, confirmationId: approval.id })
    expect(early.refused).toBe(true)
    expect(early.text).toContain('not approved yet')

    await approve(api.ledger.ports, tenant.tenantId, approval.id, approver)
    expect((await check()).data).toMatchObject({ status: 'approved' })
    const other = await agent.use('revoke_license', {
      ...given,
      reason: 'another',
      confirmationId: approval.id,
    })
    expect(other.text).toContain('different request')
    const last = await agent.use('revoke_license', { ...given, confirmationId: approval.id })
    expect(last.data).toMatchObject({ license: { status: 'revoked' } })
  })
})

describe('a call is refused', () => {
  test('beyond the scopes of the token', async () => {
    const reader = await agentWith(await tenant.tokenWith('licenses:read'))
    const refused = await reader.use('mint_license', { productId: 'editor' })
    expect(refused.text).toContain('licenses:write')
    await reader.close()
  })

  test("for another tenant's license exactly as for an absent one", async () => {
    const { license } = await mint()
    const stranger = await agentWith((await makeTenant(api.ledger)).token)
    const [foreign, absent] = await Promise.all([
      stranger.use('get_license', { licenseId: license.id }),
      stranger.use('get_license', { licenseId: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    ])
    expect(foreign).toMatchObject({
      refused: true,
      text: 'Refused (404, license_not_found): license not found',
    })
    expect(absent).toEqual(foreign)
    await stranger.close()
  })

  test('when an id would lead to another path', async () => {
    const { refused, text } = await agent.use('get_license', { licenseId: '../products' })
    expect({ refused, text }).toEqual({
      refused: true,
      text: 'Refused (404, license_not_found): license not found',
    })
  })

  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }
  const post = (headers: Record<string, string>, body: unknown = initialize) =>
    fetch(new URL('/mcp', address), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('without a valid token', async () => {
    for (const headers of [{}, { authorization: 'Bearer kl_pat_nobody' }]) {
      const answer = await post(headers)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('from a page of another origin', async () => {
    const headers = { authorization: `Bearer ${tenant.token}` }
    expect((await post({ ...headers, origin: 'https://evil.example' })).status).toBe(403)
    expect((await post({ ...headers, origin: 'http://localhost:8080' })).status).toBe(200)
  })

  test('with anything but a message of the protocol', async () => {
    const headers = { authorization: `Bearer ${tenant.token}` }
    expect((await post(headers, '{"a":')).status).toBe(400)
    expect((await post(headers, { hello: 'you' })).status).toBe(400)
    expect((await post({ ...headers, accept: 'text/html' })).status).toBe(406)
    const get = await fetch(new URL('/mcp', address), { headers })
    expect(get.status).toBe(405)
    expect(get.headers.get('allow')).toBe('POST')
  })
})

const post = (body: unknown, token = tenant.token) =>
  api.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    payload: JSON.stringify(body),
  })

test('several messages in one request are refused, and do nothing', async () => {
  const before = await api.ledger.ports.ledger.head()
  const message = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'mint_license', arguments: { productId: 'editor' } },
  })
  for (const batch of [[], [message(1)], [message(1), message(2)]]) {
    const { statusCode, body } = await post(batch)
    expect([statusCode, body]).toStrictEqual([400, expect.stringContaining('one message a request')])
  }
  expect(await api.ledger.ports.ledger.head()).toBe(before)
})
