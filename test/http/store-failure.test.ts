/**
 * Guarantee: when calls to the event store fail, callers get 503 with Retry-After or the requested result, never a
 * 500, and nothing is recorded twice. A proxy ends the calls with every status that a store or a network produces:
 * before the call, within its response, and after the store has executed it.
 */
import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { licenseStream } from '../../src/domain/streams.ts'
import { type Ask, askOf, createTestApp, makeTenant, type TestTenant } from '../harness/api.ts'
import { type Ending, type Fault, type GrpcProxy, startGrpcProxy } from '../harness/grpc-proxy.ts'
import { eventsIn, openTestLedger, type TestLedger, uniqueId } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

const endings: Record<string, Ending> = {
  cancelled: { status: status.CANCELLED, message: 'Operation was cancelled' },
  'not ready': { status: status.UNKNOWN, message: 'Server Is Not Ready' },
  deadline: { status: status.DEADLINE_EXCEEDED, message: 'Operation timed out' },
  'no rights': {
    status: status.PERMISSION_DENIED,
    message: 'Access Denied',
    trailers: { exception: 'access-denied' },
  },
  'no rights, in gRPC alone': { status: status.PERMISSION_DENIED, message: '' },
  exhausted: { status: status.RESOURCE_EXHAUSTED, message: 'too many' },
  aborted: { status: status.ABORTED, message: 'Commit timeout' },
  'not implemented': { status: status.UNIMPLEMENTED, message: 'Received HTTP status code 404' },
  internal: { status: status.INTERNAL, message: 'Exception was thrown by handler' },
  unavailable: { status: status.UNAVAILABLE, message: 'Server is shutting down' },
  'data loss': { status: status.DATA_LOSS, message: '' },
  'no such user': { status: status.UNAUTHENTICATED, message: '' },
  'not leader': {
    status: status.NOT_FOUND,
    message: 'Leader info available',
    trailers: {
      exception: 'not-leader',
      'leader-endpoint-host': '127.0.0.1',
      'leader-endpoint-port': '1',
    },
  },
  reset: 'reset',
}
const moments = ['before', 'midway', 'answered'] as const

/** Short limits for calls that must fail. */
const limits = { tryMs: 20_000, callMs: 20_000 }
const visible = { timeLimitMs: 20_000 }
const shorten = (toMs: number) => {
  limits.callMs = toMs
  visible.timeLimitMs = toMs
}

const undo: (() => unknown)[] = []
let proxy: GrpcProxy
let ledger: TestLedger
let tenant: TestTenant
let ask: Ask
beforeAll(async () => {
  ledger = await openTestLedger({
    limits,
    visible,
    through: async (url) => {
      proxy = await startGrpcProxy(Number(/:(\d+)\?/.exec(url)?.[1]))
      undo.push(() => proxy.close())
      return `esdb://127.0.0.1:${proxy.port}?tls=false`
    },
  })
  undo.push(() => ledger.close())
  tenant = await makeTenant(ledger)
  const app = await createTestApp(ledger, ledger.ports)
  undo.push(() => app.close())
  ask = askOf(app)
  await makeProduct(ask, tenant.token, 'editor')
})
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})
afterEach(() => {
  proxy.fault = undefined
  shorten(20_000)
})

const mintOnce = (key: string) =>
  ask('POST', '/v1/licenses', {
    token: tenant.token,
    body: { productId: 'editor' },
    headers: { 'idempotency-key': key },
  })

function expectUnavailable({ status: found, headers }: { status: number; headers: object }): void {
  expect({ found, headers }).toMatchObject({
    found: 503,
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) as unknown },
  })
}

describe.each(Object.keys(endings))('event store calls that end as %s', (name) => {
  const ending = endings[name] ?? 'reset'

  test.each(moments)('%s: requests get 503, and a repeated mint issues one license', async (moment) => {
    const { id, licenseKey } = await mint(ask, tenant.token, 'editor')
    const key = uniqueId('key')
    proxy.fault = { moment, ending }
    shorten(300)
    const at = '2026-03-01T12:00:00.000Z'
    const validate = { product_id: 'editor', license_key: licenseKey }
    const [minted, asOf, history, events, valid] = await Promise.all([
      mintOnce(key),
      ask('GET', `/v1/licenses/${id}?asOf=${at}`, { token: tenant.token }),
      ask('GET', `/v1/licenses/${id}/history`, { token: tenant.token }),
      ask('GET', '/v1/events', { token: tenant.token }),
      ask('POST', '/v1/licenses/validate', { token: tenant.token, body: validate }),
    ])
    // A response that is cut off after its first bytes may have been complete.
    if (moment !== 'midway' || minted.status !== 201) expectUnavailable(minted)
    expectUnavailable(asOf)
    for (const answer of [history, events, valid]) expect(answer.status).toBe(200)

    proxy.fault = undefined
    shorten(20_000)
    const again = await mintOnce(key)
    expect(again.status).toBe(201)
    const { license } = again.body as { license: { id: string } }
    expect(await eventsIn(ledger.ports.ledger, licenseStream(license.id))).toHaveLength(1)
  })

  test.each(moments)('%s, once: the mint succeeds by a retry where one is possible', async (moment) => {
    const fault: Fault = { method: 'BatchAppend', moment, ending, times: 1 }
    proxy.fault = { ...fault }
    const { status: found, body } = await mintOnce(uniqueId('key'))
    // Missing rights do not appear by themselves; a call that was answered before is done.
    if (name.startsWith('no ') && moment !== 'midway') expect(found).toBe(503)
    else {
      expect(found).toBe(201)
      const { license } = body as { license: { id: string } }
      expect(await eventsIn(ledger.ports.ledger, licenseStream(license.id))).toHaveLength(1)
    }
  })
})
