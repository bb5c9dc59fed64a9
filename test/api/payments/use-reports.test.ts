/**
 * Guarantee: what a license that was sold at Stripe uses is reported to Stripe's meter once, whatever answers get lost, whatever dies, and
 * however long Stripe is away, as long as it can be told without a risk to bill it twice.
 */
import { Stripe } from 'stripe'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findMetering } from '../../../projections/meters/licenses.ts'
import { reportUses } from '../../../src/commands/integrations/use-reports.ts'
import { consume, correctUse, meterOfLicense } from '../../../src/commands/meters/meters.ts'
import { amountOf } from '../../../src/domain/meters/amount.ts'
import type { AllPorts } from '../../../src/ports.ts'
import { listReportedMeters } from '../../../src/usage/use-reports.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import { origin, uniqueId } from '../../harness/ledger.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'
import { Killed } from '../../sales/mortal.ts'

let api: SellingApi
let tenant: TestTenant
let licenseId: string
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())

const path = '/v1/integrations/stripe/use-reports'
const webhookSecret = 'whsec_canary_of_the_account'
const apiKey = () => `rk_live_${tenant.tenantId}`
const subscription = () => `sub_${tenant.tenantId}`
const meters = () => api.standIns.stripe.meters

beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  api.standIns.stripe.health = 'well'
  api.standIns.stripe.keys.add(apiKey())
  meters().eventNames.add('calls')
  meters().events.clear()
  meters().losing = 0
  const calls = { meter: 'calls', unit: 'calls', included: '0', period: 'license', overage: 'allow' }
  await makeProduct(api.ask, tenant.token, 'api', { keyTypes: [{ name: 'Pro', meters: [calls] }] })
  await ask('POST', '/v1/integrations/stripe/own-account', { apiKey: apiKey(), webhookSecret })
  meters().buyers.set(subscription(), `cus_${tenant.tenantId}`)
  licenseId = await sell()
})

const ask = (method: 'GET' | 'POST' | 'PUT', url: string, body?: unknown) =>
  api.ask(method, url, { token: tenant.token, body })

/** A subscription is bought. @returns the license */
async function sell(): Promise<string> {
  const timestamp = Math.floor(api.ledger.clock.now().getTime() / 1000)
  const object = {
    id: uniqueId('cs'),
    object: 'checkout.session',
    mode: 'subscription',
    payment_status: 'paid',
    amount_total: 900,
    currency: 'usd',
    customer_details: { email: 'ada@example.com', name: 'Ada' },
    metadata: { product_id: 'api', key_type_id: 'pro' },
    subscription: subscription(),
    invoice: uniqueId('in'),
  }
  const event = { id: uniqueId('evt'), object: 'event', livemode: true, created: timestamp }
  const payload = JSON.stringify({ ...event, type: 'checkout.session.completed', data: { object } })
  const signed = Stripe.webhooks.generateTestHeaderString({ payload, timestamp, secret: webhookSecret })
  const sent = await api.ask('POST', `/api/stripe/webhook/${tenant.tenantId}`, {
    raw: payload,
    headers: { 'stripe-signature': signed },
  })
  expect(sent.status).toBe(200)
  const { rows } = await api.ledger.db.query<{ license_id: string }>(
    'select license_id from licenses where tenant_id = $1',
    [tenant.tenantId],
  )
  return rows[0]?.license_id ?? ''
}

async function meterOfSold() {
  const metering = await findMetering(api.ledger.db, tenant.tenantId, licenseId)
  const meter = metering && meterOfLicense(metering, 'calls')
  if (!meter) throw new Error('no meter')
  return meter
}
let keys = 0
async function use(amount: string): Promise<void> {
  const keyed = { key: `use-${++keys}`, amount: amountOf(amount), usedAt: undefined }
  await consume(api.ledger.ports, await meterOfSold(), keyed, origin)
  await api.ledger.readModels.catchUp()
}
const due = async () =>
  (await listReportedMeters(api.ledger.db, { except: [], most: 100 })).filter(
    ({ tenantId }) => tenantId === tenant.tenantId,
  )
async function report(ports: AllPorts = api.ledger.ports): Promise<void> {
  for (const meter of await due()) await reportUses(ports, meter)
}
const told = () => [...meters().events.values()].map(({ value }) => value)
const shown = async () => (await ask('GET', path)).body

test('uses since it is switched on are reported, an hour at once', async () => {
  await use('7')
  expect(await due()).toStrictEqual([])
  api.ledger.clock.advance(1000)
  expect(await ask('PUT', path, { on: true })).toMatchObject({ status: 200, body: { on: true, behind: 1 } })
  await report()
  expect(told()).toStrictEqual([])
  await use('2.5')
  await use('1')
  api.ledger.clock.advance(3_600_000)
  await use('10')
  await correctUse(
    api.ledger.ports,
    await meterOfSold(),
    { key: 'wrong', amount: amountOf('4'), reason: 'twice' },
    origin,
  )
  expect(await shown()).toMatchObject({ behind: 1 })
  await report()
  const now = api.ledger.clock.now().getTime() / 1000
  expect([...meters().events.values()]).toStrictEqual([
    {
      eventName: 'calls',
      customer: `cus_${tenant.tenantId}`,
      value: '3.5',
      timestamp: Math.floor(now - 3600),
    },
    { eventName: 'calls', customer: `cus_${tenant.tenantId}`, value: '6', timestamp: Math.floor(now) },
  ])
  expect(await due()).toStrictEqual([])
  expect(await shown()).toMatchObject({ behind: 0, unreported: '0', problem: null })
  await ask('PUT', path, { on: false })
  await use('5')
  expect(await due()).toStrictEqual([])
})

test('a report whose answer was lost is sent again, and counts once', async () => {
  await ask('PUT', path, { on: true })
  await use('3')
  meters().losing = 10
  await expect(report()).rejects.toThrow('stripe')
  expect(await shown()).toMatchObject({ behind: 1, problem: 'Stripe did not answer.' })
  meters().losing = 0
  // Until then more was used: what is under way stays as it is.
  await use('4')
  await report()
  expect(told()).toStrictEqual(['3', '4'])
  expect(await shown()).toMatchObject({ behind: 0, problem: null })
})

test('a process that dies between any two steps has reported each use once when another goes on', async () => {
  await ask('PUT', path, { on: true })
  for (let step = 1; step <= 8; step++) {
    await use('1')
    await report(mortal(step)).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error
    })
    await report()
    expect(told()).toHaveLength(step)
  }
})

test('two processes at once report each use once', async () => {
  await ask('PUT', path, { on: true })
  for (let round = 1; round <= 5; round++) {
    await use('1')
    await Promise.all([report(), report(), report()])
    expect(told()).toHaveLength(round)
  }
})

test('after an outage everything is reported, in its hours', async () => {
  await ask('PUT', path, { on: true })
  api.standIns.stripe.health = 503
  for (let hour = 0; hour < 3; hour++) {
    await use('1')
    await use('2')
    await expect(report()).rejects.toThrow('stripe')
    api.ledger.clock.advance(3_600_000)
  }
  api.standIns.stripe.health = 'well'
  await report()
  expect(told()).toStrictEqual(['3', '3', '3'])
})

test('what Stripe may have counted, and may count again by now, is not sent again', async () => {
  await ask('PUT', path, { on: true })
  await use('3')
  meters().losing = 10
  await expect(report()).rejects.toThrow('stripe')
  meters().losing = 0
  api.ledger.clock.advance(24 * 3_600_000)
  await use('1')
  await report()
  expect(told()).toStrictEqual(['3', '1'])
  expect(await shown()).toMatchObject({ behind: 0, unreported: '3' })
})

test('so is what is sent again and again without an answer, and what is refused for days is reported once it is not', async () => {
  await ask('PUT', path, { on: true })
  await use('3')
  meters().losing = 10
  await expect(report()).rejects.toThrow('stripe')
  meters().losing = 0
  api.standIns.stripe.health = 503
  for (let hour = 0; hour < 24; hour++) {
    api.ledger.clock.advance(3_600_000)
    await report().catch(() => undefined)
  }
  api.standIns.stripe.health = 'well'
  meters().eventNames.delete('calls')
  await use('1')
  for (let day = 0; day < 3; day++) {
    await expect(report()).rejects.toThrow('stripe refused')
    api.ledger.clock.advance(24 * 3_600_000)
  }
  meters().eventNames.add('calls')
  await report()
  expect(told()).toStrictEqual(['3', '1'])
  expect(await shown()).toMatchObject({ behind: 0, unreported: '3' })
})

test('what is older than Stripe takes is shown as not reported', async () => {
  await ask('PUT', path, { on: true })
  await use('3')
  api.ledger.clock.advance(36 * 86_400_000)
  await report()
  expect(told()).toStrictEqual([])
  expect(await shown()).toMatchObject({ behind: 0, unreported: '3' })
})

test('a meter that Stripe does not have is a problem that is shown, and reported once it is there', async () => {
  meters().eventNames.delete('calls')
  await ask('PUT', path, { on: true })
  await use('3')
  await expect(report()).rejects.toThrow('stripe refused')
  expect(JSON.stringify(await shown())).toContain('event name')
  meters().eventNames.add('calls')
  await report()
  expect(told()).toStrictEqual(['3'])
})

test('it needs a connection', async () => {
  const other = await makeTenant(api.ledger)
  const answer = await api.ask('PUT', path, { token: other.token, body: { on: true } })
  expect(answer.status).toBe(409)
})

/** Ports of a process that dies at one of its statements. */
function mortal(step: number): AllPorts {
  let left = step
  const { ports } = api.ledger
  const db = new Proxy(ports.db, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name)
      if (name !== 'query' || typeof own !== 'function') return own
      return (...args: unknown[]) => {
        if (left-- <= 0) return Promise.reject(new Killed())
        return own.apply(target, args) as unknown
      }
    },
  })
  return { ...ports, db }
}
