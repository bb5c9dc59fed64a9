/**
 * Guarantee: every delivery is in a log with its attempts; only its vendor can read it and request a redelivery. The
 * key of a sale is kept for the deliveries that carry it, and destroyed with the last of them.
 */
import { connect } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { KnownDelivery } from '../../src/domain/deliveries/delivery.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { destroySpentKeys } from '../../src/reactions/deliveries.ts'
import { createNatsFeed, optionsOf } from '../../src/webhooks/nats-feed.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { pointWebhook, sellLicense, startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { beginning, commandLicense, uniqueId } from '../harness/ledger.ts'
import { natsFor } from '../harness/nats-server.ts'
import { createHost } from '../harness/process.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'
import { purchase } from '../sales/notifications.ts'
import { openShop } from '../sales/shop.ts'

const host = createHost()
let api: TestApi
let tenant: TestTenant
let receiver: StandIn
let dispatch: TestDispatch | undefined
beforeAll(async () => {
  api = await openTestApi()
  receiver = await startStandIn(() => ({ status: 200, body: { ok: true } }))
})
afterAll(async () => {
  await receiver.close()
  await api.close()
})
beforeEach(async () => {
  receiver.asked.length = 0
  receiver.health = 'well'
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
})
afterEach(async () => {
  await dispatch?.stop()
  dispatch = undefined
})

const Attempt = z.strictObject({
  attempt: z.int(),
  at: z.string(),
  durationMs: z.int().nullable(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  excerpt: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
})
const Delivery = z.looseObject({
  id: z.string(),
  event: z.string(),
  sequence: z.int(),
  status: z.string(),
  attempts: z.array(Attempt),
})
const Page = z.strictObject({ items: z.array(Delivery), nextCursor: z.string().nullable() })
const list = async (query = '') =>
  Page.parse((await api.ask('GET', `/v1/webhook/deliveries${query}`, { token: tenant.token })).body)
const bodies = () =>
  receiver.asked.map(({ body }) => z.looseObject({ id: z.string() }).parse(JSON.parse(body)))
const point = () => pointWebhook(api.ledger, tenant.tenantId, `${receiver.url}/hook`)
const delivered = (count = 1) =>
  expect.poll(async () => (await list('?status=delivered&limit=100')).items.length).toBe(count)

describe('the log of deliveries', () => {
  test('contains every attempt, and shows the payload with the key masked', async () => {
    dispatch = await startDispatch(api.ledger)
    await point()
    const { licenseId, licenseKey, saleId } = await sellLicense(api.ledger, tenant.tenantId)
    await delivered()
    const { items } = await list(`?event=license.created&license=${licenseId}`)
    expect(items).toMatchObject([
      { event: 'license.created', sequence: 1, attempts: [{ attempt: 1, status: 200, error: null }] },
    ])
    const { body, text } = await api.ask('GET', `/v1/webhook/deliveries/${items[0]?.id}`, {
      token: tenant.token,
    })
    expect(text).not.toContain(licenseKey)
    expect(body).toMatchObject({
      delivery: {
        payload: { key: `ACME…${licenseKey.slice(-7, -2).replace('-', '').slice(-4)}`, session_id: saleId },
      },
    })
    expect((await list('?status=abandoned')).items).toStrictEqual([])
  })

  test('redelivers under the same id, with null instead of a destroyed key', async () => {
    const mail = { deliver: async () => ({ outcome: 'unwanted' }) as const }
    dispatch = await startDispatch(api.ledger, { channels: { mail } })
    await point()
    const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
    await delivered()
    const keyKept = () => api.ledger.ports.secrets.open(tenant.tenantId, saleKeyName(licenseId))
    await expect.poll(keyKept).toBe(undefined)
    const [{ id = '' } = {}] = (await list()).items
    const again = await api.ask('POST', `/v1/webhook/deliveries/${id}/redeliver`, { token: tenant.token })
    expect(again).toMatchObject({ status: 202, body: { delivery: { id, status: 'pending' } } })
    await expect.poll(() => bodies().length).toBe(2)
    const [first, second] = bodies()
    expect(second).toStrictEqual({ ...first, key: null })
    await delivered()
    expect((await list()).items[0]?.attempts).toHaveLength(2)
  })

  describe('after an abandoned delivery of a sale', () => {
    const keyIs = (licenseId: string) => () =>
      api.ledger.ports.secrets.open(tenant.tenantId, saleKeyName(licenseId))
    const minutes = (count: number) => count * 60_000

    /** Sells, and lets the four attempts fail. @returns also the delivery's id */
    async function givenUp() {
      receiver.health = 500
      dispatch = await startDispatch(api.ledger, { channels: { mail: delivering } })
      await point()
      const sold = await sellLicense(api.ledger, tenant.tenantId)
      for (const [tries, pause] of [1, 5, 30, 0].entries()) {
        await expect.poll(async () => (await list()).items[0]?.attempts.length).toBe(tries + 1)
        api.ledger.clock.advance(minutes(pause))
      }
      await expect.poll(async () => (await list()).items[0]?.status).toBe('abandoned')
      receiver.health = 'well'
      const [{ id = '' } = {}] = (await list()).items
      return { ...sold, id, sweep: destroySpentKeys(api.ledger.ports, () => undefined).poll }
    }
    const delivering = {
      deliver: async () => ({ outcome: 'delivered', status: 250, excerpt: null }) as const,
    }
    const redeliver = (id: string) =>
      api.ask('POST', `/v1/webhook/deliveries/${id}/redeliver`, { token: tenant.token })

    test('sends the key with a redelivery, which then destroys it', async () => {
      const { id, licenseId, licenseKey, sweep } = await givenUp()
      api.ledger.clock.advance(minutes(30 * 24 * 60) - 1)
      await sweep()
      await redeliver(id)
      await delivered()
      expect(bodies().at(-1)).toMatchObject({ id, key: licenseKey })
      await expect.poll(keyIs(licenseId)).toBe(undefined)
    })

    test('destroys the key after 30 days; a redelivery contains null', async () => {
      const { id, licenseId, licenseKey, sweep } = await givenUp()
      await sweep()
      expect(await keyIs(licenseId)()).toBe(licenseKey)
      api.ledger.clock.advance(minutes(30 * 24 * 60))
      await sweep()
      expect(await keyIs(licenseId)()).toBe(undefined)
      await redeliver(id)
      await delivered()
      expect(bodies().at(-1)).toMatchObject({ id, key: null })
    })

    test('destroys a key that was replaced', async () => {
      const { licenseId, sweep } = await givenUp()
      await commandLicense(api.ledger, licenseId, {
        type: 'RemintLicense',
        keyHash: 'f'.repeat(64),
        displayKey: 'ACME…ABCD',
        keepDevices: true,
        at: beginning,
      })
      await sweep()
      expect(await keyIs(licenseId)()).toBe(undefined)
    })

    test('leaves the key to the sweep when the dispatcher dies after the successful attempt', async () => {
      const { id, licenseId, licenseKey, sweep } = await givenUp()
      const { ports } = api.ledger
      const { destroy } = ports.secrets
      const killed = vi.fn(() => Promise.reject(new Error('killed')))
      ports.secrets.destroy = killed
      await redeliver(id)
      await delivered()
      await expect.poll(() => killed).toHaveBeenCalled()
      ports.secrets.destroy = destroy
      expect(await keyIs(licenseId)()).toBe(licenseKey)
      await sweep()
      expect(await keyIs(licenseId)()).toBe(undefined)
    })
  })

  test('rejects invalid filters, and can be paged', async () => {
    const { token } = tenant
    for (const query of ['?status=lost', '?event=license.exploded', '?cursor=nonsense', '?limit=0', '?a=1']) {
      expect((await api.ask('GET', `/v1/webhook/deliveries${query}`, { token })).status).toBe(400)
    }
    dispatch = await startDispatch(api.ledger)
    await point()
    await Promise.all([1, 2, 3].map(() => sellLicense(api.ledger, tenant.tenantId)))
    await delivered(3)
    const first = await list('?limit=2')
    const rest = await list(`?limit=2&cursor=${first.nextCursor}`)
    expect(new Set([...first.items, ...rest.items].map(({ id }) => id)).size).toBe(3)
    expect(rest.nextCursor).toBe(null)
  })
})

test('a sale is delivered to the vendor and the customer with one key, which is then destroyed', async () => {
  const shop = await openShop(api)
  tenant = shop
  const mailed: KnownDelivery[] = []
  const mail = {
    deliver: async (delivery: KnownDelivery) => {
      // Pending deliveries of other tests' tenants are made by this one too.
      if (delivery.tenantId === shop.tenantId) mailed.push(delivery)
      return { outcome: 'delivered', status: 250, excerpt: null } as const
    },
  }
  dispatch = await startDispatch(api.ledger, { channels: { mail } })
  await point()
  const { sold, refunded } = purchase('ada')
  const outcome = await shop.tell(sold())
  if (outcome.outcome !== 'issued') throw new Error(`the sale was ${outcome.outcome}`)
  const { licenseId } = outcome.license
  await delivered()
  expect(bodies()).toMatchObject([
    {
      event: 'license.created',
      key: outcome.licenseKey,
      session_id: sold().sessionId,
      license_id: licenseId,
    },
  ])
  await expect.poll(() => mailed.map((delivery) => delivery.licenseId)).toStrictEqual([licenseId])
  const keyKept = () => api.ledger.ports.secrets.open(shop.tenantId, saleKeyName(licenseId))
  await expect.poll(keyKept).toBe(undefined)
  await shop.tell(refunded('re_1'))
  await delivered(3)
  expect(
    bodies()
      .slice(1)
      .toSorted((a, b) => Number(a.sequence) - Number(b.sequence)),
  ).toMatchObject([
    { event: 'license.refunded', sequence: 2, sale_id: sold().saleId, amount: 4900, currency: 'usd' },
    { event: 'license.revoked', sequence: 3 },
  ])
})

test('a sale without a known buyer is delivered to the vendor but not mailed, and the key is destroyed', async () => {
  const shop = await openShop(api)
  tenant = shop
  const mailed: string[] = []
  const mail = {
    deliver: async ({ licenseId }: KnownDelivery) => {
      mailed.push(licenseId)
      return { outcome: 'delivered', status: 250, excerpt: null } as const
    },
  }
  dispatch = await startDispatch(api.ledger, { channels: { mail } })
  await point()
  const outcome = await shop.tell(purchase('ghost', { customer: null }).sold())
  if (outcome.outcome !== 'issued') throw new Error(`the sale was ${outcome.outcome}`)
  const { licenseId } = outcome.license
  await delivered()
  expect(bodies()).toMatchObject([
    { event: 'license.created', key: outcome.licenseKey, customer_email: null, license_id: licenseId },
  ])
  const keyKept = () => api.ledger.ports.secrets.open(shop.tenantId, saleKeyName(licenseId))
  await expect.poll(keyKept).toBe(undefined)
  expect(mailed).not.toContain(licenseId)
})

test('a delivery is repeated under the same id when its result cannot be recorded, and both attempts are in the log', async () => {
  const dying = (ports: AllPorts): AllPorts => {
    let left = 3
    const execute: Execute = async (...args) => {
      const [{ category }, , , , options] = args
      if (category === 'delivery' && options?.loaded?.revision === 0 && left-- > 0)
        throw new Error('no store')
      return ports.execute(...args)
    }
    return { ...ports, execute }
  }
  dispatch = await startDispatch({ ...api.ledger, ports: dying(api.ledger.ports) })
  await point()
  await sellLicense(api.ledger, tenant.tenantId)
  await delivered()
  expect(bodies()).toHaveLength(2)
  expect(new Set(receiver.asked.map(({ body }) => body)).size).toBe(1)
  expect((await list()).items[0]?.attempts).toMatchObject([
    { attempt: 1, durationMs: null, status: null, error: 'unknown', excerpt: null },
    { attempt: 2, status: 200, error: null },
  ])
})

test('no delivery is lost or overtaken when NATS loses its stream', async () => {
  const nats = await connect({ ...optionsOf(await natsFor(host)), waitOnFirstConnect: true })
  try {
    const stream = uniqueId('keyledger')
    const feed = createNatsFeed(() => nats, stream, { pauseMs: 50, onFailure: () => undefined })
    dispatch = await startDispatch(api.ledger, { feed, lostAfterMs: 500 })
    await point()
    const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
    const activate = (device: number) =>
      commandLicense(api.ledger, licenseId, {
        type: 'ActivateDevice',
        deviceId: `device-${device % 5}`,
        instanceId: `ins_${device}`,
        installId: null,
        name: `Device ${device}`,
        platform: null,
        at: beginning,
      })
    const deactivate = (device: number) =>
      commandLicense(api.ledger, licenseId, {
        type: 'DeactivateDevice',
        deviceId: `device-${device % 5}`,
        at: beginning,
      })
    const manager = await nats.jetstreamManager()
    for (let device = 0; device < 20; device++) {
      await activate(device)
      if (device % 5 === 2) await manager.streams.delete(stream).catch(() => undefined)
      await deactivate(device)
    }
    await delivered(41)
    const sequences = (await list('?limit=100')).items.map(({ sequence }) => sequence)
    const all = Array.from({ length: 41 }, (_, index) => index + 1)
    expect(sequences.toSorted((a, b) => a - b)).toStrictEqual(all)
    const come = bodies().flatMap(({ license_id, sequence }) => (license_id === licenseId ? [sequence] : []))
    expect([...new Set(come)]).toStrictEqual(all)
    await dispatch.stop()
    dispatch = undefined
  } finally {
    await nats.close()
  }
})
