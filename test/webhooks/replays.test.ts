/**
 * Guarantee: a replay redelivers the events of a range under the same ids: those that failed, or all, also to an
 * endpoint that was added later. Each event is redelivered once, even when the replay is killed after any write, and
 * only as fast as the endpoint accepts them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { findReplay } from '../../projections/replays.ts'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { advanceReplay } from '../../src/commands/replays.ts'
import { removeEndpoint } from '../../src/commands/webhook-endpoints.ts'
import { deliveryStream } from '../../src/domain/streams.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import { runReplays } from '../../src/reactions/replays.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { addTestEndpoint, pointWebhook, sellLicense, startDispatch } from '../harness/dispatch.ts'
import { beginning, eventsIn, origin } from '../harness/ledger.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'

let api: TestApi
let tenant: TestTenant
let receiver: StandIn
beforeAll(async () => {
  api = await openTestApi()
  receiver = await startStandIn(() => ({ status: 200, body: {} }))
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

const path = '/v1/webhook/replays'
const ports = () => api.ledger.ports
const ask = (method: 'GET' | 'POST', at: string, body?: unknown) =>
  api.ask(method, at, { token: tenant.token, ...(body !== undefined && { body }) })
const Replay = z.looseObject({
  id: z.string(),
  status: z.string(),
  progress: z.strictObject({
    total: z.int(),
    started: z.int(),
    delivered: z.int(),
    pending: z.int(),
    failed: z.int(),
  }),
})
const replayIn = ({ body }: { body: unknown }) => z.strictObject({ replay: Replay }).parse(body).replay
const request = async (body: object) => replayIn(await ask('POST', path, { from: beginning, ...body }))
const read = async (id: string) => replayIn(await ask('GET', `${path}/${id}`))
const idsReceived = () =>
  receiver.asked
    .map(({ body }) => z.looseObject({ id: z.string(), tenant_id: z.string() }).parse(JSON.parse(body)))
    .filter(({ tenant_id }) => tenant_id === tenant.tenantId)
    .map(({ id }) => id)
const mail = { deliver: async () => ({ outcome: 'unwanted' }) as const }

/** Runs a dispatcher and the replays while something is done. */
async function whileDelivering(work: () => Promise<void>): Promise<void> {
  const dispatch = await startDispatch(api.ledger, { channels: { mail }, lostAfterMs: 500 })
  try {
    await work()
  } finally {
    await dispatch.stop()
  }
  expect(dispatch.failures).toStrictEqual([])
}

const poll = () =>
  runReplays(ports(), ({ error }) => {
    throw error
  }).poll()

const finished = (id: string) =>
  expect
    .poll(async () => {
      await poll()
      const { status, progress } = await read(id)
      return [status, progress.pending]
    })
    .toStrictEqual(['finished', 0])

const deliveries = async (endpointId: string) =>
  (
    await listDeliveries(
      api.ledger.db,
      tenant.tenantId,
      { channel: 'webhook', endpointId },
      { after: undefined, limit: 100 },
    )
  ).items

/** Sells licenses; their deliveries fail four times and are abandoned. */
async function failedDeliveries(count: number): Promise<void> {
  receiver.health = 500
  for (let n = 0; n < count; n++) await sellLicense(api.ledger, tenant.tenantId)
  await whileDelivering(async () => {
    for (const [tries, minutes] of [1, 5, 30, 0].entries()) {
      await expect
        .poll(async () => (await deliveries('first')).map(({ attempts }) => attempts.length))
        .toStrictEqual(Array(count).fill(tries + 1))
      api.ledger.clock.advance(minutes * 60_000)
    }
    await expect
      .poll(async () => (await deliveries('first')).map(({ status }) => status))
      .toStrictEqual(Array(count).fill('abandoned'))
  })
  receiver.health = 'well'
  receiver.asked.length = 0
}

describe('a replay', () => {
  test('of failed events redelivers them under the same ids, and no others', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    await failedDeliveries(2)
    await whileDelivering(async () => {
      await sellLicense(api.ledger, tenant.tenantId)
      await expect.poll(() => idsReceived().length).toBe(1)
      receiver.asked.length = 0
      const begun = await request({ only: 'failed' })
      expect(begun).toMatchObject({
        status: 'running',
        endpointId: 'first',
        progress: { total: 2, started: 0 },
      })
      await finished(begun.id)
      const failed = (await deliveries('first')).filter(({ replayIds }) => replayIds.length > 0)
      expect(idsReceived().sort()).toStrictEqual(failed.map(({ deliveryId }) => deliveryId).sort())
      expect((await read(begun.id)).progress).toStrictEqual({
        total: 2,
        started: 2,
        delivered: 2,
        pending: 0,
        failed: 0,
      })
    })
  })

  test('of all events also delivers those from before the endpoint was added', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    await whileDelivering(async () => {
      for (let n = 0; n < 3; n++) await sellLicense(api.ledger, tenant.tenantId)
      await expect.poll(() => idsReceived().length).toBe(3)
      const ids = idsReceived()
      const { endpointId } = await addTestEndpoint(api.ledger, tenant.tenantId, `${receiver.url}/new`)
      receiver.asked.length = 0
      expect(await ask('POST', path, { from: beginning })).toMatchObject({ status: 422 })
      api.ledger.clock.advance(1000)
      const begun = await request({ only: 'all', endpoint: endpointId })
      await finished(begun.id)
      expect(idsReceived().sort()).toStrictEqual(ids.sort())
      expect((await deliveries(endpointId)).map(({ sequence }) => sequence)).toStrictEqual([null, null, null])
    })
  })

  test('starts a limited number of deliveries, none while it is paused, and cannot be resumed after a cancel', async () => {
    for (let n = 0; n < 20; n++) await sellLicense(api.ledger, tenant.tenantId)
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    api.ledger.clock.advance(1000)
    const { id } = await request({ only: 'all' })
    const started = async () => (await read(id)).progress.started
    await ask('POST', `${path}/${id}/pause`)
    await poll()
    expect(await started()).toBe(0)
    await ask('POST', `${path}/${id}/resume`)
    await poll()
    await poll()
    expect(await started()).toBe(16)
    expect(replayIn(await ask('POST', `${path}/${id}/cancel`))).toMatchObject({
      status: 'canceled',
      canceledFor: 'requested',
    })
    expect(await ask('POST', `${path}/${id}/resume`)).toMatchObject({
      status: 409,
      body: { error: 'the replay has ended; start another' },
    })
    expect((await ask('GET', path)).body).toMatchObject({ items: [{ id, status: 'canceled' }] })
  })

  test('is canceled when its endpoint is removed', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    const { endpointId } = await addTestEndpoint(api.ledger, tenant.tenantId, receiver.url)
    const { id } = await request({ endpoint: endpointId })
    await removeEndpoint(ports(), tenant.tenantId, endpointId, ports().newId('req'), origin)
    await poll()
    expect(await read(id)).toMatchObject({ status: 'canceled', canceledFor: 'endpoint_removed' })
  })

  test('repeats no delivery when it is killed after any write', async () => {
    for (let n = 0; n < 3; n++) await sellLicense(api.ledger, tenant.tenantId)
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    api.ledger.clock.advance(1000)
    const { id } = await request({ only: 'all' })
    const present = async () => {
      const replay = await findReplay(api.ledger.db, tenant.tenantId, id)
      if (!replay) throw new Error('it is there')
      return replay
    }
    for (let writes = 0; writes < 5 && (await present()).status === 'running'; writes++) {
      let left = writes
      const { ledger } = ports()
      const append: typeof ledger.append = (...own) =>
        left-- > 0 ? ledger.append(...own) : Promise.reject(new Error('killed'))
      const execute = createExecute({ ...ledger, append }, api.ledger.readModels, createKeyedMutex())
      await advanceReplay({ ...ports(), execute }, await present(), origin).catch((error: Error) =>
        expect(error.message).toBe('killed'),
      )
    }
    await poll()
    expect(await read(id)).toMatchObject({ status: 'finished', progress: { started: 3, pending: 3 } })
    for (const { deliveryId } of await deliveries('first')) {
      const events = await eventsIn(ports().ledger, deliveryStream(deliveryId))
      expect(events.map((entry) => (entry.readable ? entry.event.type : ''))).toStrictEqual([
        'DeliveryScheduled',
        'ReplayAsked',
      ])
    }
  })

  test('is created once per Idempotency-Key', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
    const send = () =>
      api.ask('POST', path, {
        token: tenant.token,
        body: { from: beginning },
        headers: { 'idempotency-key': `replay-${tenant.tenantId}` },
      })
    expect(replayIn(await send()).id).toBe(replayIn(await send()).id)
  })
})

test.each([
  [{}, /^from (?:must|is) /],
  [{ from: beginning, to: beginning }, /^to must be after from/],
  [{ from: beginning, only: 'some' }, /^only (?:must|is) /],
  [{ from: '2999-01-01T00:00:00Z' }, /^from must not be in the future/],
  [{ from: '2998-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }, /^from must not be in the future/],
])('a replay of %j returns 400', async (body, message) => {
  const answer = await ask('POST', path, body)
  expect(answer.status).toBe(400)
  expect(z.object({ error: z.string() }).parse(answer.body).error).toMatch(message)
})
