// cspell:ignore Ihrer Lizenz verbraucht
/**
 * Guarantee: what happened to the meters of a license is told once in its history, in webhooks, in the feed and by mail, whatever crashes
 * and by any number of processes: each threshold, each closed period, each credit and correction, and no single use.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { createCounting } from '../../src/commands/meters/counting.ts'
import { licenseStream, meterKey, streamName } from '../../src/domain/streams.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { closeMeterPeriods, tellOfMeters } from '../../src/reactions/meters.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { pointWebhook } from '../harness/dispatch.ts'
import { beginning, commandLicense, eventsIn } from '../harness/ledger.ts'
import { openMailingApi } from '../harness/mailing.ts'
import { makeProduct, mint } from '../http/samples.ts'

const mailing = openMailingApi()
const { sent } = mailing
let api: TestApi
let tenant: TestTenant
beforeAll(() => {
  api = mailing.api
})
const meter = { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'notify' }
const keyTypes = [
  { name: 'Pro', meters: [meter] },
  { name: 'Bought', duration: { count: 30, unit: 'day' }, meters: [{ ...meter, period: 'purchase' }] },
]
beforeEach(async () => {
  sent.length = 0
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'app', { keyTypes, usageNotice: true })
})

class Killed extends Error {}
const onFailure = ({ error }: { error: unknown }) => {
  if (!(error instanceof Killed)) throw error
}
const tell = (ports: AllPorts = api.ledger.ports) => tellOfMeters(ports, onFailure).poll()
const close = (ports: AllPorts = api.ledger.ports) => closeMeterPeriods(ports, onFailure).poll()
const license = (keyTypeId = 'pro', fields: object = { email: 'ada@example.com' }) =>
  mint(api.ask, tenant.token, 'app', { keyTypeId, ...fields })
async function send(method: 'GET' | 'POST' | 'PATCH' | 'PUT', path: string, body?: object): Promise<object> {
  const answer = await api.ask(method, path, { token: tenant.token, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return z.looseObject({}).parse(answer.body)
}
let keys = 0
async function use(
  { id, licenseKey }: { id: string; licenseKey: string },
  amount: string,
  more: object = {},
) {
  const answer = await send('POST', '/v1/licenses/consume', {
    ...{ license_key: licenseKey, product_id: 'app', meter: 'calls', amount, idempotency_key: `k${++keys}` },
    ...more,
  })
  await api.ledger.readModels.catchUp()
  return { id, ...answer }
}
const told = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, licenseStream(id))).flatMap((entry) =>
    entry.readable && entry.event.type.startsWith('Usage') ? [entry.event] : [],
  )
const closedIn = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, streamName('meter', meterKey(id, 'calls')))).flatMap((entry) =>
    entry.readable && entry.event.type === 'PeriodClosed' ? [entry.event.data] : [],
  )
const Page = z.object({ items: z.array(z.looseObject({ event: z.string() })) })
const feed = async () => {
  const { items } = Page.parse(await send('GET', '/v1/events?limit=100'))
  return items.filter(({ event }) => event.startsWith('usage.'))
}
const october = {
  starts: Date.parse('2026-03-01T00:00:00.000Z') / 1000,
  ends: Date.parse('2026-04-01T00:00:00.000Z'),
}

/** Ports that die before or after their first command on a license. */
function mortal(when: 'before' | 'after'): AllPorts {
  let isDead = false
  const execute = (async (...args: Parameters<Execute>) => {
    if (isDead || when === 'before') throw new Killed()
    await api.ledger.ports.execute(...args)
    isDead = true
    throw new Killed()
  }) as Execute
  return { ...api.ledger.ports, execute }
}

/** Ports of a process that dies before or after its append. */
function mortalCounting(when: 'before' | 'after'): AllPorts {
  const append: AllPorts['ledger']['append'] = async (...args) => {
    if (when === 'after') await api.ledger.ports.ledger.append(...args)
    throw new Killed()
  }
  const ledger = { ...api.ledger.ports.ledger, append }
  return { ...api.ledger.ports, counting: createCounting({ ...api.ledger.ports, ledger }) }
}

describe('a threshold', () => {
  test('is told once by several processes of which some die, and single uses are not', async () => {
    const of = await license()
    for (const amount of ['3', '3', '2', '1', '1', '15']) await use(of, amount)
    await tell(mortal('before'))
    expect(await told(of.id)).toStrictEqual([])
    await tell(mortal('after'))
    await Promise.all([tell(), tell(mortal('after')), tell()])
    await tell()
    const period = { startsAt: '2026-03-01T00:00:00.000Z', endsAt: '2026-04-01T00:00:00.000Z' }
    const common = { meter: 'calls', unit: 'calls', ...period, mail: true, at: beginning }
    expect(await told(of.id)).toStrictEqual([
      expect.objectContaining({
        type: 'UsageThresholdReached',
        data: { ...common, meterRevision: 4, percent: 80, used: '8', remaining: '2', overage: '0' },
      }),
      expect.objectContaining({
        data: { ...common, meterRevision: 7, percent: 100, used: '10', remaining: '0', overage: '0' },
      }),
      expect.objectContaining({
        data: { ...common, meterRevision: 9, percent: 200, used: '25', remaining: '0', overage: '15' },
      }),
    ])
  })

  test('is in the feed, and sent to the endpoints that ask for it by name alone', async () => {
    const hook = 'https://public.example.com/hook'
    await pointWebhook(api.ledger, tenant.tenantId, hook, { events: ['license.revoked', 'usage.threshold'] })
    const of = await license()
    await use(of, '8')
    await tell()
    expect(await feed()).toMatchObject([
      {
        event: 'usage.threshold',
        license_id: of.id,
        meter: 'calls',
        percent: 80,
        used: '8',
        remaining: '2',
        overage: '0',
        period_starts_at: october.starts,
        resets_at: october.ends / 1000,
      },
    ])
    const all = { after: undefined, limit: 10 }
    await expect
      .poll(async () => {
        const found = await listDeliveries(api.ledger.db, tenant.tenantId, { channel: 'webhook' }, all)
        return found.items.map(({ event }) => event)
      })
      .toStrictEqual(['usage.threshold'])
    const silent = await makeTenant(api.ledger)
    await pointWebhook(api.ledger, silent.tenantId, hook)
    await makeProduct(api.ask, silent.token, 'app', { keyTypes })
    tenant = silent
    await use(await license(), '8')
    await tell()
    expect(await feed()).toHaveLength(1)
    const none = await listDeliveries(api.ledger.db, silent.tenantId, { channel: 'webhook' }, all)
    expect(none.items).toStrictEqual([])
  })

  test('is mailed to the holder, in the language of the product, where that has the setting', async () => {
    await send('PUT', '/v1/products/app/mail', { language: 'de' })
    await use(await license(), '8')
    await use(await license('pro', {}), '8')
    for (let again = 0; again < 2; again++) await tell()
    await expect
      .poll(() => sent.map(({ subject }) => subject))
      .toStrictEqual(['80 % von calls Ihrer Lizenz für Acme Editor sind verbraucht'])
    await send('PUT', '/v1/products/app/mail', { language: 'en' })
    await use(await license(), '10')
    await tell()
    await expect.poll(() => sent.length).toBe(3)
    expect(sent.map(({ text }) => text).join()).toContain(
      'has used 10 calls of calls: 100 % of what it has. 0 calls are left.\n\nCounting starts over on 1 April 2026.',
    )
    await send('PATCH', '/v1/products/app', { usageNotice: false })
    const silent = await license()
    await use(silent, '10')
    await tell()
    expect(await told(silent.id)).toMatchObject([{ data: { percent: 80 } }, { data: { percent: 100 } }])
    expect((await told(silent.id)).every(({ data }) => !('mail' in data))).toBe(true)
  })

  test('is not mailed once its period is over', async () => {
    const of = await license()
    await use(of, '8')
    api.ledger.clock.set('2026-04-01T00:00:00.000Z')
    await tell()
    const all = { after: undefined, limit: 10 }
    await expect
      .poll(async () => {
        const { items } = await listDeliveries(api.ledger.db, tenant.tenantId, { channel: 'mail' }, all)
        return items.map(({ status }) => status)
      })
      .toStrictEqual(['abandoned'])
    expect(sent).toStrictEqual([])
  })
})

describe('a period', () => {
  test('is closed once a week after its end, by several processes of which some die, with its totals', async () => {
    const of = await license()
    await send('POST', `/v1/licenses/${of.id}/credits`, { meter: 'calls', amount: '5', idempotencyKey: 'c' })
    await use(of, '17.5')
    await tell()
    api.ledger.clock.set('2026-04-07T23:59:59.000Z')
    expect(await use(of, '0.5', { used_at: october.starts + 30 * 86_400 })).toMatchObject({
      allowed: true,
      resets_at: october.ends / 1000,
    })
    await close()
    expect(await closedIn(of.id)).toStrictEqual([])
    api.ledger.clock.set('2026-04-08T00:00:00.000Z')
    await close(mortalCounting('before'))
    expect(await closedIn(of.id)).toStrictEqual([])
    await close(mortalCounting('after'))
    await Promise.all([close(), close(), close()])
    const [closed, ...more] = await closedIn(of.id)
    expect(more).toStrictEqual([])
    expect(closed).toMatchObject({
      endedAt: '2026-04-01T00:00:00.000Z',
      used: '18',
      from: { included: '10', overage: '3' },
    })
    expect(await use(of, '1', { used_at: october.starts + 30 * 86_400 })).toMatchObject({ late: true })
    await tell()
    expect((await feed()).at(-1)).toMatchObject({
      event: 'usage.period_closed',
      used: '18',
      from_rolled_over: '0',
      from_included: '10',
      from_credits: '5',
      overage: '3',
      period_starts_at: october.starts,
      period_ended_at: october.ends / 1000,
    })
  })

  test('by purchase is closed once its license is renewed, and not before', async () => {
    const of = await license('bought')
    await use(of, '4')
    api.ledger.clock.set('2026-03-20T00:00:00.000Z')
    await close()
    expect(await closedIn(of.id)).toStrictEqual([])
    const at = api.ledger.clock.now().toISOString()
    await commandLicense(api.ledger, of.id, {
      type: 'RenewLicense',
      expiresAt: '2026-05-01T00:00:00.000Z',
      at,
    })
    await close()
    await close()
    expect(await closedIn(of.id)).toMatchObject([{ used: '4', endedAt: at, period: { endsAt: null } }])
    expect(await use(of, '10')).toMatchObject({ remaining: '0' })
  })
})

test('credits, withdrawals and corrections are in the history of the license, by who made them', async () => {
  const of = await license()
  const credits = `/v1/licenses/${of.id}/credits`
  const credit = z
    .object({ creditId: z.string() })
    .parse(await send('POST', credits, { meter: 'calls', amount: '5', order: '1001', idempotencyKey: 'c' }))
  await use(of, '2')
  await send('POST', `/v1/licenses/${of.id}/meters/calls/corrections`, {
    ...{ amount: '1', reason: 'twice', idempotencyKey: 'x' },
  })
  await send('POST', `/v1/licenses/${of.id}/meters/calls/credits/${credit.creditId}/withdraw`, {
    reason: 'refund',
  })
  await tell()
  const events = await eventsIn(api.ledger.ports.ledger, licenseStream(of.id))
  const actors = events.flatMap((entry) =>
    entry.readable && entry.event.type === 'UsageAdjusted' ? [entry.metadata.actor.split(':')[0]] : [],
  )
  expect(actors).toStrictEqual(['token', 'token', 'token'])
  const { text } = await api.ask('GET', `/v1/licenses/${of.id}/history`, { token: tenant.token })
  for (const words of [
    'Credit of 5 calls added to calls, order 1001',
    'Use of calls corrected by 1 calls: twice',
    'Credit of calls withdrawn: refund',
  ])
    expect(text).toContain(words)
})

test('of a meter that licenses share, each is told once, of the license that used it last, and apart from its own meter', async () => {
  const [one, other] = [await license(), await license()]
  await use(one, '8')
  await tell()
  const shared = { ...meter, included: '20' }
  const { customer } = z
    .object({ customer: z.object({ id: z.string() }) })
    .parse(await send('POST', '/v1/customers', { email: 'ada@example.com', meters: [shared] }))
  for (const { id } of [one, other])
    await send('POST', `/v1/customers/${customer.id}/link-license`, { licenseId: id })
  await use(one, '16')
  await use(other, '4')
  await send('POST', `/v1/customers/${customer.id}/credits`, {
    ...{ meter: 'calls', amount: '20', idempotencyKey: 'c' },
  })
  await use(one, '12')
  await api.ledger.readModels.catchUp()
  await tell(mortal('after'))
  await Promise.all([tell(), tell(mortal('after')), tell()])
  api.ledger.clock.set(new Date(october.ends + 8 * 86_400_000).toISOString())
  await close()
  await api.ledger.readModels.catchUp()
  await Promise.all([tell(), tell(mortal('before')), tell()])
  await tell()
  const ofShared = { customerId: customer.id, meter: 'calls' }
  const summary = async (id: string) =>
    (await told(id)).map(({ data }) => z.looseObject({ used: z.string() }).parse(data))
  const [first, ...later] = await summary(one.id)
  expect(first).toMatchObject({ percent: 80, used: '8' })
  expect(later.slice(0, 2)).toMatchObject([
    { ...ofShared, percent: 80, used: '16' },
    { ...ofShared, percent: 80, used: '32' },
  ])
  // Meters are closed in any order.
  const endedAt = new Date(october.ends).toISOString()
  expect(later.slice(2).toSorted((a, b) => a.used.length - b.used.length)).toMatchObject([
    { used: '8', endedAt },
    { ...ofShared, used: '32', credits: '12', endedAt },
  ])
  for (const own of [first, ...later.filter(({ used }) => used === '8')])
    expect(own).not.toHaveProperty('customerId')
  expect(await summary(other.id)).toMatchObject([{ ...ofShared, percent: 100, used: '20' }])
  expect((await feed()).filter(({ customer_id }) => customer_id === customer.id)).toHaveLength(4)
})
