/**
 * Guarantee: every license event of a webhook is delivered at least once, under one id and with a sequence that
 * shows gaps, signed so that public verifiers accept it. A failed attempt is repeated after 1, 5 and 30 minutes.
 */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { removeWebhook } from '../../src/commands/webhooks.ts'
import type { KnownDelivery } from '../../src/domain/deliveries/delivery.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import { attemptsAtOnce } from '../../src/webhooks/dispatcher.ts'
import { createConnections } from '../../src/webhooks/post.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { pointWebhook, sellLicense, startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { beginning, commandLicense, origin } from '../harness/ledger.ts'
import { type Answered, type Asked, type StandIn, startStandIn } from '../harness/stand-in.ts'

let api: TestApi
let tenant: TestTenant
let receiver: StandIn
let dispatch: TestDispatch
let answer: (asked: Asked) => Answered
beforeAll(async () => {
  api = await openTestApi()
  receiver = await startStandIn((asked) => answer(asked))
})
afterAll(async () => {
  await receiver.close()
  await api.close()
})
beforeEach(async () => {
  answer = () => ({ status: 200, body: { ok: true } })
  receiver.asked.length = 0
  receiver.health = 'well'
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  dispatch = await startDispatch(api.ledger)
})
afterEach(async () => {
  await dispatch.stop()
  expect(dispatch.failures).toStrictEqual([])
})

const hook = () => `${receiver.url}/hook?from=keyledger`
/**
 * The requests of this test's tenant only: deliveries of other tests are still attempted when the clock
 * moves.
 */
const asked = () => receiver.asked.filter(({ body }) => body.includes(`"${tenant.tenantId}"`))
const bodies = () => asked().map(({ body }) => JSON.parse(body) as Record<string, unknown>)
const received = (count: number) => expect.poll(() => asked().length).toBe(count)
const settled = (status: KnownDelivery['status'], count = 1) =>
  expect
    .poll(async () => (await deliveries()).filter((delivery) => delivery.status === status).length)
    .toBe(count)
const deliveries = async () =>
  (
    await listDeliveries(
      api.ledger.db,
      tenant.tenantId,
      { channel: 'webhook' },
      { after: undefined, limit: 100 },
    )
  ).items
const activate = (licenseId: string, device: string) =>
  commandLicense(api.ledger, licenseId, {
    type: 'ActivateDevice',
    deviceId: device,
    instanceId: `ins_${device}`,
    installId: null,
    name: `The ${device}`,
    platform: null,
    at: beginning,
  })
const revoke = (licenseId: string) =>
  commandLicense(api.ledger, licenseId, { type: 'RevokeLicense', reason: null, at: beginning })

describe('a sale', () => {
  test('sends license.created with the raw key, which is kept while the mail is pending', async () => {
    await pointWebhook(api.ledger, tenant.tenantId, hook())
    const { licenseId, licenseKey, saleId } = await sellLicense(api.ledger, tenant.tenantId)
    await received(1)
    await settled('delivered')
    const [delivery] = await deliveries()
    expect(bodies()[0]).toStrictEqual({
      id: delivery?.deliveryId,
      created: Date.parse(beginning) / 1000,
      version: '2026-11-01',
      event: 'license.created',
      tenant_id: tenant.tenantId,
      license_id: licenseId,
      product_id: 'editor',
      key_type_id: 'pro',
      customer_email: 'ada@example.com',
      test: false,
      sequence: 1,
      key: licenseKey,
      session_id: saleId,
    })
    const keyKept = () => api.ledger.ports.secrets.open(tenant.tenantId, saleKeyName(licenseId))
    // The customer's mail is still pending.
    expect(await keyKept()).toBe(licenseKey)
  })

  test('leaves no key in the delivery log when the receiver echoes it', async () => {
    answer = ({ body }) => ({ status: 500, body: { echo: body, again: JSON.parse(body) as unknown } })
    await pointWebhook(api.ledger, tenant.tenantId, hook())
    const { licenseKey } = await sellLicense(api.ledger, tenant.tenantId)
    await received(1)
    await expect.poll(async () => (await deliveries())[0]?.attempts.length).toBe(1)
    const kept = JSON.stringify(await deliveries())
    expect(kept).toContain('echo')
    for (const canary of [licenseKey, licenseKey.replaceAll('-', ''), 'ada@example.com']) {
      expect(kept).not.toContain(canary)
    }
  })
})

test('the events of a license have a sequence without gaps per webhook', async () => {
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  await pointWebhook(api.ledger, tenant.tenantId, hook(), {
    events: ['license.activated', 'license.revoked'],
  })
  await activate(licenseId, 'laptop')
  await commandLicense(api.ledger, licenseId, { type: 'DeactivateDevice', deviceId: 'laptop', at: beginning })
  await activate(licenseId, 'phone')
  await revoke(licenseId)
  await received(3)
  const events = bodies().map(({ event, sequence, device_name }) => [sequence, event, device_name])
  expect(events.toSorted()).toStrictEqual([
    [1, 'license.activated', 'The laptop'],
    [2, 'license.activated', 'The phone'],
    [3, 'license.revoked', undefined],
  ])
})

describe('a delivery', () => {
  /** For each delivery, whether a receiver with this secret accepts it by both schemes. */
  const verified = (secret: string) =>
    asked().map(({ body, headers }) => {
      const [at = '', ...signatures] = String(headers['x-service-signature']).split(',')
      const own = createHmac('sha256', secret)
        .update(`${at.slice(2)}.${body}`)
        .digest('hex')
      return [signatures.includes(`v1=${own}`), accepted(secret, headers, body)]
    })
  const accepted = (secret: string, headers: Asked['headers'], body: string) => {
    try {
      return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined
    } catch {
      return false
    }
  }
  const both = [true, true]
  const neither = [false, false]
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(beginning) })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('verifies with both signature schemes, and with both secrets during a rotation', async () => {
    const former = (await pointWebhook(api.ledger, tenant.tenantId, hook())) ?? ''
    const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
    await received(1)
    expect(verified(former)).toStrictEqual([both])
    const [first] = asked()
    if (!first) throw new Error('one has come')
    expect(accepted(former, first.headers, first.body.replace('ada@', 'eve@'))).toBe(false)
    const secret = (await pointWebhook(api.ledger, tenant.tenantId, hook(), { rotateSecret: true })) ?? ''
    await activate(licenseId, 'laptop')
    await received(2)
    expect(verified(former)).toStrictEqual([both, both])
    expect(verified(secret)).toStrictEqual([neither, both])
    api.ledger.clock.advance(86_400_000)
    vi.setSystemTime(api.ledger.ports.now())
    await activate(licenseId, 'phone')
    await received(3)
    expect(verified(former).at(-1)).toStrictEqual(neither)
    expect(verified(secret).at(-1)).toStrictEqual(both)
  })

  test('that fails is retried after 1, 5 and 30 minutes with the same body, and then abandoned', async () => {
    receiver.health = 503
    await pointWebhook(api.ledger, tenant.tenantId, hook())
    await sellLicense(api.ledger, tenant.tenantId)
    await received(1)
    for (const [tries, minutes] of [
      [2, 1],
      [3, 5],
      [4, 30],
    ] as const) {
      await expect.poll(async () => (await deliveries())[0]?.attempts.length).toBe(tries - 1)
      api.ledger.clock.advance(minutes * 60_000 - 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(asked()).toHaveLength(tries - 1)
      api.ledger.clock.advance(1)
      await received(tries)
    }
    await settled('abandoned')
    const [delivery] = await deliveries()
    expect(delivery?.attempts.map(({ status, error, excerpt }) => [status, error, excerpt])).toStrictEqual(
      Array.from({ length: 4 }, () => [503, 'status', '<h1>Sorry</h1>']),
    )
    expect(new Set(asked().map(({ body }) => body)).size).toBe(1)
  })

  test('fails on a redirect, which is not followed', async () => {
    answer = () => ({ status: 302, body: {}, headers: { location: `${receiver.url}/elsewhere` } })
    await pointWebhook(api.ledger, tenant.tenantId, hook())
    await sellLicense(api.ledger, tenant.tenantId)
    await expect.poll(async () => (await deliveries())[0]?.attempts[0]?.error).toBe('redirect')
    expect(asked().map(({ path }) => path)).toStrictEqual(['/hook'])
  })

  test('has a distinct error code for a timeout, a lost or refused connection, and a TLS error', async () => {
    const failsBy = async (url: string, error: string) => {
      tenant = await makeTenant(api.ledger)
      await pointWebhook(api.ledger, tenant.tenantId, url)
      await sellLicense(api.ledger, tenant.tenantId)
      await expect.poll(async () => (await deliveries())[0]?.attempts[0]?.error).toBe(error)
    }
    receiver.health = 'cut'
    await failsBy(hook(), 'connection_lost')
    receiver.health = 'silent'
    await failsBy(hook(), 'timeout')
    await failsBy('http://127.0.0.1:1/hook', 'connection_refused')
    await failsBy(hook().replace('http:', 'https:'), 'tls')
  })

  test('that hangs does not block others to the same origin', async () => {
    receiver.health = 'silent'
    const connections = createConnections(async () => ['127.0.0.1'], { allowPrivate: true })
    const agent = await connections.opened()
    const to = { origin: receiver.url, path: '/hanging', method: 'POST' } as const
    const hanging = Array.from({ length: attemptsAtOnce }, () => agent.request(to).catch(() => undefined))
    await expect.poll(() => receiver.asked.length).toBe(attemptsAtOnce)
    await connections.destroy()
    await Promise.all(hanging)
  })

  test('succeeds with a large response, of which only the beginning is read', async () => {
    answer = () => ({ status: 200, body: 'x'.repeat(3_000_000) })
    await pointWebhook(api.ledger, tenant.tenantId, hook())
    await sellLicense(api.ledger, tenant.tenantId)
    await settled('delivered')
    expect((await deliveries())[0]?.attempts[0]?.excerpt).toHaveLength(1024)
  })
})

test('a removed webhook gets no more deliveries, and pending ones are abandoned', async () => {
  receiver.health = 503
  await pointWebhook(api.ledger, tenant.tenantId, hook())
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  await expect.poll(async () => (await deliveries())[0]?.attempts.length).toBe(1)
  await removeWebhook(api.ledger.ports, tenant.tenantId, 'cnf_remove', origin)
  await revoke(licenseId)
  api.ledger.clock.advance(60_000)
  await settled('abandoned')
  expect(await deliveries()).toHaveLength(1)
})
