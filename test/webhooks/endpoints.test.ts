/**
 * Guarantee: every event is delivered to each endpoint that wants it, signed with its secret and under one id. An
 * endpoint that is down, paused or removed changes nothing for the others, and the key of a sale is kept until each
 * of them got it or was abandoned.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { changeEndpoint, removeEndpoint } from '../../src/commands/webhook-endpoints.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import { signatureHeaders } from '../../src/webhooks/signature.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import {
  addTestEndpoint,
  pointWebhook,
  sellLicense,
  startDispatch,
  type TestDispatch,
} from '../harness/dispatch.ts'
import { beginning, commandLicense, origin } from '../harness/ledger.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let one: StandIn
let other: StandIn
let dispatch: TestDispatch
beforeAll(async () => {
  api = await openTestApi()
  one = await startStandIn(() => ({ status: 200, body: {} }))
  other = await startStandIn(() => ({ status: 200, body: {} }))
})
afterAll(async () => {
  await one.close()
  await other.close()
  await api.close()
})
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  for (const standIn of [one, other]) {
    standIn.health = 'well'
    standIn.asked.length = 0
  }
  tenant = await makeTenant(api.ledger)
  const mail = { deliver: async () => ({ outcome: 'unwanted' }) as const }
  dispatch = await startDispatch(api.ledger, { channels: { mail }, lostAfterMs: 500 })
})
afterEach(() => dispatch.stop())

const Body = z.looseObject({ id: z.string(), event: z.string(), sequence: z.int(), tenant_id: z.string() })
const bodies = ({ asked }: StandIn) =>
  asked
    .map(({ body }) => Body.parse(JSON.parse(body)))
    .filter(({ tenant_id }) => tenant_id === tenant.tenantId)
const received = (standIn: StandIn, count: number) => expect.poll(() => bodies(standIn).length).toBe(count)
const deliveries = async (endpointId: string) =>
  (
    await listDeliveries(
      api.ledger.db,
      tenant.tenantId,
      { channel: 'webhook', endpointId },
      { after: undefined, limit: 100 },
    )
  ).items
const settled = (endpointId: string, status: string) =>
  expect
    .poll(async () => (await deliveries(endpointId)).every((delivery) => delivery.status === status))
    .toBe(true)
const two = async (events?: Parameters<typeof addTestEndpoint>[3]) => {
  const first = await pointWebhook(api.ledger, tenant.tenantId, one.url)
  return { first, ...(await addTestEndpoint(api.ledger, tenant.tenantId, other.url, events)) }
}
const activate = (licenseId: string) =>
  commandLicense(api.ledger, licenseId, {
    type: 'ActivateDevice',
    deviceId: 'laptop',
    instanceId: 'ins_laptop',
    installId: null,
    name: 'The laptop',
    platform: null,
    at: beginning,
  })
const revoke = (licenseId: string) =>
  commandLicense(api.ledger, licenseId, { type: 'RevokeLicense', reason: null, at: beginning })
const change = (endpointId: string, paused: boolean) => {
  const { ports } = api.ledger
  return changeEndpoint(ports, tenant.tenantId, endpointId, { paused }, ports.newId('req'), origin)
}
const keyOf = (licenseId: string) => api.ledger.ports.secrets.open(tenant.tenantId, saleKeyName(licenseId))

test('an event has the same id at every endpoint; each endpoint has its own secret and sequence', async () => {
  const { first = '', secret = '' } = await two(['license.revoked', 'license.created'])
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  await received(one, 1)
  await received(other, 1)
  expect(bodies(other)).toStrictEqual(bodies(one))
  for (const [{ asked }, own] of [
    [one, first],
    [other, secret],
  ] as const) {
    const [request] = asked
    const id = z.string().parse(request?.headers['webhook-id'])
    const timestamp = Number(request?.headers['webhook-timestamp'])
    expect(request?.headers).toMatchObject(
      signatureHeaders([own], { id, timestamp, body: request?.body ?? '' }),
    )
  }
  await activate(licenseId)
  await revoke(licenseId)
  await received(one, 3)
  await received(other, 2)
  const numbers = (standIn: StandIn) =>
    bodies(standIn)
      .map(({ event, sequence }) => `${event} ${sequence}`)
      .sort()
  expect(numbers(one)).toStrictEqual(['license.activated 2', 'license.created 1', 'license.revoked 3'])
  expect(numbers(other)).toStrictEqual(['license.created 1', 'license.revoked 2'])
})

test('an issue that is no sale goes to an endpoint that names it, without the key, and to no other', async () => {
  const { endpointId } = await two(['license.issued', 'license.suspended'])
  await makeProduct(api.ask, tenant.token, 'editor')
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { deviceLimit: 2 })
  await importRows(api.ask, tenant.token, 'editor', [{ licenseKey: 'IMPORTED-0001' }])
  await commandLicense(api.ledger, id, { type: 'SuspendLicense', reason: null, at: beginning })
  await sellLicense(api.ledger, tenant.tenantId)
  await received(other, 3)
  await received(one, 2)
  await settled('first', 'delivered')
  await settled(endpointId, 'delivered')
  expect(
    bodies(one)
      .map(({ event, sequence }) => `${event} ${sequence}`)
      .sort(),
  ).toStrictEqual(['license.created 1', 'license.suspended 1'])
  const numbers = bodies(other).map(({ event, source, sequence }) => `${event} ${source} ${sequence}`)
  expect(numbers.sort()).toStrictEqual([
    'license.issued api 1',
    'license.issued import 1',
    'license.suspended undefined 2',
  ])
  expect(JSON.stringify(bodies(other))).not.toContain(licenseKey)
  expect(JSON.stringify(bodies(other))).not.toContain('"key"')
  const fed = await api.ask('GET', `/v1/events?license=${id}`, { token: tenant.token })
  expect(fed.body).toMatchObject({ items: [{ id: bodies(other).find(isIssued(id))?.id }, {}] })
})

const isIssued =
  (id: string) =>
  ({ event, license_id }: z.infer<typeof Body>) =>
    event === 'license.issued' && license_id === id

test('the key is kept while one endpoint is down, and other endpoints are not delayed', async () => {
  const { endpointId } = await two()
  other.health = 500
  const { licenseId, licenseKey } = await sellLicense(api.ledger, tenant.tenantId)
  await settled('first', 'delivered')
  await expect.poll(async () => (await deliveries(endpointId))[0]?.attempts.length).toBe(1)
  expect(await keyOf(licenseId)).toBe(licenseKey)
  other.health = 'well'
  api.ledger.clock.advance(60_000)
  await settled(endpointId, 'delivered')
  expect(bodies(other)[1]).toMatchObject({ key: licenseKey })
  await expect.poll(() => keyOf(licenseId)).toBe(undefined)
})

test('deliveries to a paused endpoint wait until it is resumed', async () => {
  const { endpointId } = await two()
  await change(endpointId, true)
  await sellLicense(api.ledger, tenant.tenantId)
  await received(one, 1)
  await expect.poll(async () => (await deliveries(endpointId)).length).toBe(1)
  await change(endpointId, false)
  await expect.poll(() => bodies(other).length).toBe(1)
  await settled(endpointId, 'delivered')
  expect((await deliveries(endpointId))[0]?.attempts).toHaveLength(1)
})

test('pending deliveries of a removed endpoint are abandoned, and the key is destroyed', async () => {
  const { endpointId } = await two()
  other.health = 500
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  await expect.poll(async () => (await deliveries(endpointId))[0]?.attempts.length).toBe(1)
  await settled('first', 'delivered')
  const { ports } = api.ledger
  await removeEndpoint(ports, tenant.tenantId, endpointId, ports.newId('req'), origin)
  api.ledger.clock.advance(60_000)
  await settled(endpointId, 'abandoned')
  await expect.poll(() => keyOf(licenseId)).toBe(undefined)
})
