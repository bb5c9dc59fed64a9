/**
 * Guarantee: a tenant has up to ten webhook endpoints, and a new URL needs an approval, as for `/v1/webhook`,
 * which is the first of them. Pausing, describing and choosing events need none. Each endpoint has its own secret,
 * shown once.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createKeyedMutex } from '../../../src/async/keyed-mutex.ts'
import { addEndpoint } from '../../../src/commands/webhook-endpoints.ts'
import { maxEndpoints } from '../../../src/domain/webhooks/endpoint.ts'
import { showApproval } from '../../../src/gate/approvals.ts'
import { createExecute } from '../../../src/ledger/execute.ts'
import { signatureHeaders } from '../../../src/webhooks/signature.ts'
import { createTestSender } from '../../../src/webhooks/test-event.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { addTestEndpoint, pointWebhook } from '../../harness/dispatch.ts'
import { askApproveRepeat, pendingId } from '../../harness/gate.ts'
import { beginning, origin } from '../../harness/ledger.ts'
import { type StandIn, startStandIn } from '../../harness/stand-in.ts'

let api: TestApi
let tenant: TestTenant
let receiver: StandIn
beforeAll(async () => {
  api = await openTestApi()
  receiver = await startStandIn(() => ({ status: 202, body: { taken: 'yes' } }))
})
afterAll(async () => {
  await receiver.close()
  await api.close()
})
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  receiver.health = 'well'
  receiver.asked.length = 0
  tenant = await makeTenant(api.ledger)
})

const url = 'https://public.example.com/hook'
const path = '/v1/webhook-endpoints'
const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', at: string, body?: unknown) =>
  api.ask(method, at, { token: tenant.token, ...(body !== undefined && { body }) })
const approved = (method: 'POST' | 'PATCH' | 'DELETE', at: string, body?: unknown) =>
  askApproveRepeat(api, tenant, method, at, body === undefined ? {} : { body })

const Endpoint = z.looseObject({ id: z.string(), url: z.string(), paused: z.boolean(), secret: z.string() })
const Changed = z.strictObject({ endpoint: Endpoint, secret: z.string().optional() })
const add = async (more: object = {}) => Changed.parse((await approved('POST', path, { url, ...more })).body)
const read = async (id: string) => (await ask('GET', `${path}/${id}`)).body
const list = async () =>
  z.looseObject({ items: z.array(Endpoint) }).parse((await ask('GET', path)).body).items

describe('a webhook endpoint', () => {
  test('is added after an approval, and its secret is returned once', async () => {
    const { endpoint: first, secret } = await add()
    expect(first).toMatchObject({ id: 'first', description: '', paused: false })
    expect((await ask('GET', '/v1/webhook')).body).toMatchObject({ webhook: { url } })
    const second = await add({ events: ['license.revoked'], description: 'CRM' })
    expect(second.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(second.secret).not.toBe(secret)
    expect(second.endpoint).toStrictEqual({
      id: expect.stringMatching(/^whe_[0-9a-z]{26}$/) as string,
      url,
      description: 'CRM',
      events: ['license.revoked'],
      ordering: 'license',
      paused: false,
      pausedAt: null,
      secret: expect.stringMatching(/^whsec_…/) as string,
      formerSecretValidUntil: null,
      version: '2026-11-01',
      createdAt: beginning,
      updatedAt: beginning,
    })
    expect(await read(second.endpoint.id)).toStrictEqual({ endpoint: second.endpoint })
    expect(await list()).toStrictEqual([first, second.endpoint])
  })

  test('is shown to the approver with its host', async () => {
    const pending = pendingId(await ask('POST', path, { url, events: ['license.created'] }))
    const { description, effect } = await showApproval(api.ledger.ports, tenant.tenantId, pending)
    expect(description).toStrictEqual({
      summary: 'Also deliver license events to public.example.com',
      target: { host: 'public.example.com', url },
    })
    expect(effect?.sentences).toStrictEqual([
      'New webhook deliveries go to public.example.com: license.created',
      'Each license.created contains the raw license key of its sale',
      'Its signing secret is returned once, to the requester',
    ])
  })

  test('needs an approval for a new URL, and none for its pause, description and events', async () => {
    const { endpoint } = await add()
    const at = `${path}/${endpoint.id}`
    const moved = { url: `${url}2`, description: 'Moved' }
    expect(await ask('PATCH', at, moved)).toMatchObject({ status: 202 })
    expect(await list()).toStrictEqual([endpoint])
    expect((await approved('PATCH', at, moved)).body).toMatchObject({ endpoint: moved })
    const quiet = { paused: true, description: 'Quiet', events: ['license.revoked'] }
    expect(await ask('PATCH', at, quiet)).toMatchObject({
      status: 200,
      body: { endpoint: { ...moved, ...quiet, pausedAt: beginning } },
    })
    expect(await ask('PATCH', at, { url: moved.url, paused: false })).toMatchObject({
      status: 200,
      body: { endpoint: { url: moved.url, paused: false } },
    })
  })

  test('gets the events of a license in order, or chooses speed without an approval', async () => {
    expect((await add()).endpoint).toMatchObject({ ordering: 'license' })
    const { endpoint } = await add({ ordering: 'none' })
    expect(endpoint).toMatchObject({ ordering: 'none' })
    const at = `${path}/${endpoint.id}`
    expect((await ask('PATCH', at, { description: 'CRM' })).body).toMatchObject({
      endpoint: { ordering: 'none' },
    })
    expect(await ask('PATCH', at, { ordering: 'license' })).toMatchObject({
      status: 200,
      body: { endpoint: { ordering: 'license', description: 'CRM' } },
    })
    expect(await read(endpoint.id)).toMatchObject({ endpoint: { ordering: 'license' } })
    expect(await ask('PATCH', at, { ordering: 'product' })).toMatchObject({ status: 400 })
    expect((await ask('GET', '/v1/webhook')).text).not.toContain('ordering')
  })

  test('can be paused by a token without danger, which cannot change its URL', async () => {
    await add()
    const token = await tenant.tokenWith('integrations:write')
    const patch = (body: unknown) => api.ask('PATCH', `${path}/first`, { token, body })
    expect(await patch({ paused: true })).toMatchObject({ status: 200 })
    expect(await patch({ url: `${url}2` })).toMatchObject({
      status: 403,
      body: { error: 'the token lacks the scope danger; create one that has it' },
    })
  })

  test('gets a new secret by a rotation, and the previous one also signs for a day', async () => {
    const { endpoint, secret } = await add()
    const rotated = Changed.parse((await approved('POST', `${path}/${endpoint.id}/rotate-secret`)).body)
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.endpoint).toMatchObject({ formerSecretValidUntil: '2026-03-02T12:00:00.000Z' })
    api.ledger.clock.advance(86_400_000)
    expect(await read(endpoint.id)).toMatchObject({ endpoint: { formerSecretValidUntil: null } })
  })

  test('is deleted with its secret; other endpoints stay', async () => {
    await add()
    const { endpoint } = await add()
    expect(await ask('DELETE', `${path}/${endpoint.id}`)).toMatchObject({ status: 202 })
    expect(await approved('DELETE', `${path}/${endpoint.id}`)).toMatchObject({
      status: 200,
      body: { deleted: true },
    })
    expect((await list()).map(({ id }) => id)).toStrictEqual(['first'])
    const { rows } = await api.ledger.db.query<{ name: string }>(
      `select name from vault.secrets where tenant_id = $1 and name like 'webhook-secret.%'`,
      [tenant.tenantId],
    )
    expect(rows).toHaveLength(1)
    expect(await read(endpoint.id)).toStrictEqual({ error: 'webhook endpoint not found' })
  })
})

test.each<[object, number, RegExp]>([
  [{ url: 'https://127.0.0.1/' }, 422, /public addresses/],
  [{ url: 'http://public.example.com/' }, 422, /https:\/\//],
  [{ url: 'https://ada:x@public.example.com/' }, 422, /user name or a password/],
  [{ url, events: [] }, 400, /^events (?:must|is) /],
  [{ url, description: 'a'.repeat(201) }, 400, /^description (?:must|is) /],
  [{}, 400, /^url (?:must|is) /],
])('%j cannot be added', async (body, status, message) => {
  const answer = await ask('POST', path, body)
  expect(answer.status).toBe(status)
  expect(z.object({ error: z.string() }).parse(answer.body).error).toMatch(message)
})

test('an eleventh endpoint is refused, also when several processes add eleven concurrently', async () => {
  const { ports, readModels } = api.ledger
  const racer = (n: number) => {
    const execute = createExecute(ports.ledger, readModels, createKeyedMutex())
    const asked = { url, events: undefined, description: '', ordering: 'license' } as const
    const operationId = ports.newId('cnf')
    return addEndpoint({ ...ports, execute }, tenant.tenantId, asked, operationId, origin).then(
      () => n,
      (error: Error) => error.message,
    )
  }
  const outcomes = await Promise.all(Array.from({ length: maxEndpoints + 1 }, (_, n) => racer(n)))
  expect(outcomes.filter((outcome) => outcome === 'webhook_endpoint_limit')).toHaveLength(1)
  expect(await list()).toHaveLength(maxEndpoints)
  expect(await ask('POST', path, { url })).toMatchObject({
    status: 409,
    body: { error: 'a workspace has at most 10 webhook endpoints; delete one first' },
  })
})

describe('a test event', () => {
  test('is signed and marked as a test, and returns the response of the endpoint', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, 'https://public.example.com/')
    const { endpointId, secret = '' } = await addTestEndpoint(
      api.ledger,
      tenant.tenantId,
      `${receiver.url}/hook`,
    )
    const answer = await ask('POST', `${path}/${endpointId}/test`, { event: 'license.activated' })
    const [asked] = receiver.asked
    const body = z.looseObject({ id: z.string() }).parse(JSON.parse(asked?.body ?? ''))
    expect(answer).toMatchObject({
      status: 200,
      body: {
        test: {
          id: body.id,
          event: 'license.activated',
          ok: true,
          status: 202,
          error: null,
          excerpt: '{"taken":"yes"}',
        },
      },
    })
    expect(body).toMatchObject({
      event: 'license.activated',
      test: true,
      tenant_id: tenant.tenantId,
      device_id: 'machine-7f3a',
    })
    expect(body.id).toMatch(/^whd_test_/)
    const timestamp = Number(asked?.headers['webhook-timestamp'])
    expect(asked?.headers).toMatchObject({
      'x-service-test': 'true',
      ...signatureHeaders([secret], { id: body.id, timestamp, body: asked?.body ?? '' }),
    })
    expect((await ask('GET', '/v1/webhook/deliveries')).body).toMatchObject({ items: [] })
  })

  test('reports a failure', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    receiver.health = 500
    expect((await ask('POST', `${path}/first/test`)).body).toMatchObject({
      test: { ok: false, status: 500, error: 'status', event: 'license.created' },
    })
  })

  test('is sent to public addresses only', async () => {
    const { ports } = api.ledger
    await pointWebhook(api.ledger, tenant.tenantId, 'https://hooks.example.com/')
    const sender = createTestSender(ports, {
      resolve: async () => ['10.0.0.1'],
      rules: { allowPrivate: false },
    })
    const [endpoint] = await api.ledger.db
      .query<{ state: { endpoints: Parameters<typeof sender.send>[1][] } }>(
        'select state from webhooks where tenant_id = $1',
        [tenant.tenantId],
      )
      .then(({ rows }) => rows[0]?.state.endpoints ?? [])
    if (!endpoint) throw new Error('there is one')
    expect(await sender.send(tenant.tenantId, endpoint, 'license.created')).toMatchObject({
      ok: false,
      error: 'target_refused',
      status: null,
    })
    await sender.close()
  })
})
