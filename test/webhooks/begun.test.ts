/**
 * Guarantee: an attempt of a delivery is known before it is made, so every request at a receiver is in the log of its
 * delivery, also when the process that made it was killed. No two runs make the same attempt.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStartedAttempts, forgetRecordedAttempts } from '../../projections/deliveries/begun.ts'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { createLog } from '../../src/app/log.ts'
import { openStores, type Stores } from '../../src/app/stores.ts'
import { askRedelivery } from '../../src/commands/deliveries.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { parseConfig } from '../../src/config.ts'
import type { AttemptResult, KnownDelivery } from '../../src/domain/deliveries/delivery.ts'
import { scheduleDeliveries } from '../../src/reactions/deliveries.ts'
import type { DeliveryChannel } from '../../src/webhooks/channel.ts'
import { createAttempts } from '../../src/webhooks/dispatcher.ts'
import { pointWebhook, sellLicense, startDispatch } from '../harness/dispatch.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { createHost, type Environment } from '../harness/process.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'

const host = createHost()
let environment: Environment
let stores: Stores
let receiver: StandIn
let tenantId: string
beforeAll(async () => {
  environment = { ...(await host.stores()).environment, KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true' }
  stores = await openStores(parseConfig(environment), createLog('silent'))
  receiver = await startStandIn(() => ({ status: 200, body: {} }))
})
afterAll(async () => {
  await receiver.close()
  await stores.close()
})
beforeEach(async () => {
  receiver.asked.length = 0
  receiver.health = 'well'
  tenantId = uniqueId('acme')
  await createTenant(stores.ports, { tenantId, name: 'Acme', plan: 'unlimited' }, origin)
  await pointWebhook(stores, tenantId, `${receiver.url}/hook`)
})

/** The only delivery of this test's tenant. */
async function delivery(): Promise<KnownDelivery> {
  const filter = { channel: 'webhook' } as const
  const { items } = await listDeliveries(stores.db, tenantId, filter, { after: undefined, limit: 2 })
  const [one] = items
  if (!one || items.length > 1) throw new Error(`there are ${items.length} deliveries`)
  return one
}
const errorsOf = ({ attempts }: KnownDelivery) => attempts.map(({ error }) => error)

test('the request of a process that is killed before it records the result is in the log', async () => {
  receiver.health = 'silent'
  const server = await host.serve(environment)
  await sellLicense(stores, tenantId)
  await expect.poll(() => receiver.asked.length).toBe(1)
  // The request may be sent before the read model knows its delivery, and nothing projects after the kill.
  await expect.poll(async () => (await delivery()).status).toBe('pending')
  await server.end('SIGKILL')
  expect((await delivery()).attempts).toStrictEqual([])

  receiver.health = 'well'
  const dispatch = await startDispatch(stores, { overAfterMs: 100 })
  await expect.poll(async () => (await delivery()).status).toBe('delivered')
  await dispatch.stop()
  expect(dispatch.failures).toStrictEqual([])
  const { attempts, attemptsInSchedule } = await delivery()
  expect(attempts).toMatchObject([
    { attempt: 1, error: 'unknown', status: null, durationMs: null },
    { attempt: 2, error: null, status: 200 },
  ])
  expect(attemptsInSchedule).toBe(1)
  expect(attempts).toHaveLength(receiver.asked.length)
})

describe('an attempt', () => {
  const delivered: AttemptResult = { outcome: 'delivered', status: 200, excerpt: null }
  const dispatcherOf = (webhook: DeliveryChannel, overAfterMs = 60_000) =>
    createAttempts(stores.ports, { webhook }, () => undefined, { overAfterMs })
  const job = async (attempt: number) => ({
    deliveryId: (await delivery()).deliveryId,
    attempt,
    channel: 'webhook' as const,
    tenantId,
    endpointId: 'first',
  })
  /** Sends one request when the attempt has begun, and then gets no answer. */
  const hanging = (): DeliveryChannel & { sent: Promise<void> } => {
    const { promise: sent, resolve } = Promise.withResolvers<void>()
    return {
      sent,
      async deliver(_, begin) {
        await begin()
        resolve()
        return new Promise(() => undefined)
      },
    }
  }
  beforeEach(async () => {
    await sellLicense(stores, tenantId)
    await scheduleDeliveries(stores.ports, ({ error }) => {
      throw error
    }).poll()
  })

  test('that another process makes is not made a second time', async () => {
    const other = hanging()
    void dispatcherOf(other).make(await job(1))
    await other.sent
    let sent = 0
    const own = dispatcherOf({
      async deliver(_, begin) {
        await begin()
        sent++
        return delivered
      },
    })
    await expect(own.make(await job(1))).rejects.toThrow('has begun already')
    expect(sent).toBe(0)
    expect((await delivery()).attempts).toStrictEqual([])
  })

  test('that has no result in time is recorded as unknown, and its process does not record another', async () => {
    const frozen = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const slow = dispatcherOf({
      async deliver(_, begin) {
        await begin()
        begun.resolve()
        await frozen.promise
        return delivered
      },
    })
    const ended = slow.make(await job(1))
    const own = dispatcherOf({ deliver: async (_, begin) => begin().then(() => delivered) }, 0)
    await begun.promise
    await own.make(await job(1))
    await own.make(await job(2))
    frozen.resolve()
    await ended
    expect(errorsOf(await delivery())).toStrictEqual(['unknown', null])
  })

  test('is recorded before its delivery is abandoned, and a redelivery begins the next', async () => {
    const other = hanging()
    void dispatcherOf(other).make(await job(1))
    await other.sent
    const removed = dispatcherOf({ deliver: async () => ({ outcome: 'unwanted' }) }, 0)
    await removed.make(await job(1))
    await removed.make(await job(2))
    expect(await delivery()).toMatchObject({ status: 'abandoned', abandonedFor: 'unwanted' })
    await askRedelivery(stores.ports, tenantId, (await delivery()).deliveryId, origin)
    await dispatcherOf({ deliver: async (_, begin) => begin().then(() => delivered) }).make(await job(2))
    expect(errorsOf(await delivery())).toStrictEqual(['unknown', null])
  })

  test('is noted until its result has long been recorded', async () => {
    const noted = async () =>
      (await stores.db.query<{ attempt: number }>('select attempt from vault.begun_attempts')).rows
    const old = () =>
      stores.db.query(`update vault.begun_attempts set begun_at = begun_at - interval '21 minutes'`)
    await stores.db.query('delete from vault.begun_attempts')
    const { deliveryId } = await delivery()
    const { begin } = createStartedAttempts(stores.db, 0)
    await begin({ deliveryId, attempt: 1, startedAt: stores.ports.now().toISOString() })
    await old()
    await forgetRecordedAttempts(stores.db)
    expect(await noted()).toStrictEqual([{ attempt: 1 }])
    const own = dispatcherOf({ deliver: async (_, proceed) => proceed().then(() => delivered) }, 0)
    await own.make(await job(1))
    await own.make(await job(2))
    await forgetRecordedAttempts(stores.db)
    expect(await noted()).toStrictEqual([{ attempt: 2 }])
    await old()
    await forgetRecordedAttempts(stores.db)
    expect(await noted()).toStrictEqual([])
  })
})
