/**
 * Guarantee: client calls over a limit get 429 with the four headers: by address and route before any lookup, by
 * tenant once the SDK key is known; exactly as the token bucket requires, for any pattern of calls.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { newToken } from '../../../src/credentials/token.ts'
import type { LimitName, Limits } from '../../../src/limits/limits.ts'
import { gcraOf, type Rate, spent, waitMs } from '../../../src/limits/meter.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'
import { createMemoryLimiter } from '../../limits/memory-buckets.ts'

const rates = {
  clientValidate: { perMinute: 120, burst: 240 },
  clientActivate: { perMinute: 5, burst: 10 },
  clientDeactivate: { perMinute: 5, burst: 10 },
  clientFreeTier: { perMinute: 10, burst: 20 },
  clientKeyless: { perMinute: 10, burst: 20 },
  clientConfig: { perMinute: 60, burst: 120 },
  clientInstance: { perMinute: 30, burst: 30 },
  // Small enough to be reached; the second is per hour.
  clientTenant: { perMinute: 600, burst: 300 },
  clientNewInstances: { perMinute: 1, burst: 12 },
} satisfies Partial<Record<LimitName, Rate>>

let now = Date.parse('2026-03-01T12:00:00.000Z')
const limits: Limits = {}
const taken: string[] = []
for (const name of Object.keys(rates) as (keyof typeof rates)[]) {
  const limiter = createMemoryLimiter(name, rates[name], () => now)
  limits[name] = {
    ...limiter,
    take: (key) => {
      taken.push(`${name} ${key}`)
      return limiter.take(key)
    },
  }
}

let api: TestApi
let tenant: TestTenant
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi({ limits, trustProxy: ['loopback'] })
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(async () => {
  for (const limiter of Object.values(limits)) await limiter?.stop()
  await api.close()
})
// Long enough for every bucket to refill.
beforeEach(() => {
  now += 3_600_000
})

let addresses = 0
const newAddress = () => `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}`

type Call = { from: string; key?: string; body?: object; raw?: string; place?: string }

const routes = ['validate', 'activate', 'deactivate', 'free-tier', 'keyless', 'config'] as const
type Route = (typeof routes)[number]
const limitOf = {
  validate: rates.clientValidate,
  activate: rates.clientActivate,
  deactivate: rates.clientDeactivate,
  'free-tier': rates.clientFreeTier,
  keyless: rates.clientKeyless,
  config: rates.clientConfig,
} satisfies Record<Route, Rate>

/** Calls a route with a body that is valid for all of them. */
const call = (route: Route, { from, key = sdkKey, body = bodyOf(route), raw, place }: Call) =>
  api.ask(route === 'config' ? 'GET' : 'POST', `/${place ?? `${tenant.tenantId}/editor`}/${route}`, {
    headers: { 'x-service-sdk-key': key, 'x-forwarded-for': from },
    ...(route !== 'config' && raw === undefined && { body }),
    ...(raw !== undefined && { raw }),
  })

let instances = 0
/** A new instance each time, unless new instances are limited. */
const bodyOf = (route: Route) => ({
  license_key: 'ABCDEFGHIJ',
  instance_name: 'laptop',
  instance_id: route === 'free-tier' || route === 'keyless' ? 'known' : `ins_${++instances}`,
})

/** The headers of an admitted call: what is left for its address, or for its new instance if that is less. */
function leftOf(route: Route, tat: number) {
  const { intervalMs, toleranceMs } = gcraOf(limitOf[route])
  const units = Math.floor((toleranceMs - (tat - now) + 0.05) / intervalMs)
  const [limit, remaining, resetMs] =
    route === 'validate' && units > 29 ? [30, 29, 2000] : [limitOf[route].burst, units, tat - now]
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(Math.ceil(resetMs / 1000)),
  }
}

describe.each(routes)('calls from one address to %s', (route) => {
  test('are admitted exactly as the token bucket allows, and rejected with the four headers', async () => {
    const from = newAddress()
    const { perMinute, burst } = limitOf[route]
    const gcra = gcraOf(limitOf[route])
    let tat = 0
    // The burst, then a few at once, then after waits that are just long enough or not.
    const waits = [...Array.from({ length: burst + 2 }, () => 0), 0.5, 0.5, 1, 0.25, 3, 0, 0, 0].map(
      (intervals) => Math.round(intervals * gcra.intervalMs),
    )
    for (const wait of waits) {
      now += wait
      const refusedMs = waitMs(gcra, tat, now)
      if (refusedMs === 0) tat = spent(gcra, tat, now)
      const { status, headers, body } = await call(route, { from })
      if (refusedMs === 0) {
        expect(status).not.toBe(429)
        expect(headers).toMatchObject(leftOf(route, tat))
      } else {
        const seconds = Math.max(1, Math.ceil(refusedMs / 1000))
        expect({ status, body }).toStrictEqual({
          status: 429,
          body: { error: `too many requests; try again in ${seconds} second${seconds === 1 ? '' : 's'}` },
        })
        expect(headers).toMatchObject({
          'x-service-limit-scope': 'ip',
          'x-service-limit': String(perMinute),
          'x-service-remaining': '0',
          'retry-after': String(seconds),
          'ratelimit-limit': String(burst),
          'ratelimit-remaining': '0',
          'ratelimit-reset': String(Math.ceil((tat - now) / 1000)),
          'access-control-allow-origin': '*',
        })
      }
    }
  })

  test('do not affect another address or other routes', async () => {
    const from = newAddress()
    const calls = limitOf[route].burst
    for (let made = 0; made <= calls; made++) await call(route, { from })
    expect((await call(route, { from })).status).toBe(429)
    expect((await call(route, { from: newAddress() })).status).not.toBe(429)
    for (const other of routes.filter((name) => name !== route)) {
      expect((await call(other, { from })).status).not.toBe(429)
    }
  })
})

test('a heartbeat counts toward the limit of validates', async () => {
  const from = newAddress()
  const path = `/${tenant.tenantId}/editor/heartbeat`
  const headers = { 'x-service-sdk-key': sdkKey, 'x-forwarded-for': from }
  for (let made = 0; made < limitOf.validate.burst; made++) await call('validate', { from })
  const refused = await api.ask('POST', path, { headers, body: bodyOf('validate') })
  expect(refused.status).toBe(429)
})

test('calls about meters have a limit of their own for each instance', async () => {
  const body = {
    ...bodyOf('validate'),
    license_key: (await mint(api.ask, tenant.token, 'editor')).licenseKey,
  }
  const headers = { 'x-service-sdk-key': sdkKey }
  const use = { meter: 'calls', amount: '1', idempotency_key: 'one' }
  const send = (path: string, more: object) =>
    api.ask('POST', `/${tenant.tenantId}/editor/${path}`, {
      headers: { ...headers, 'x-forwarded-for': newAddress() },
      body: { ...body, ...more },
    })
  for (let made = 0; made < rates.clientInstance.burst; made++)
    expect(
      (await (made % 2 ? send('consume', use) : send('uses', { batch: 1, uses: [use] }))).status,
    ).not.toBe(429)
  const refused = await send('consume', use)
  expect(refused).toMatchObject({ status: 429, headers: { 'x-service-limit-scope': 'instance' } })
  expect((await send('uses', { batch: 1, uses: [use] })).status).toBe(429)
  expect((await send('validate', {})).status).not.toBe(429)
})

describe('an address', () => {
  test('is the /64 network of an IPv6 address', async () => {
    for (let host = 1; host <= 10; host++) {
      expect((await call('activate', { from: `2001:db8:5:5::${host.toString(16)}` })).status).not.toBe(429)
    }
    expect((await call('activate', { from: '2001:db8:5:5:ffff::1' })).status).toBe(429)
    expect((await call('activate', { from: '2001:db8:5:6::1' })).status).not.toBe(429)
  })

  test('is limited before any lookup, even with a wrong key, an unknown product or a malformed body', async () => {
    const from = newAddress()
    const wrong = { from, key: newToken('sdk', api.ledger.ports.randomBytes).token }
    for (let calls = 0; calls < 5; calls++) expect((await call('activate', wrong)).status).toBe(401)
    for (let calls = 0; calls < 5; calls++) {
      expect((await call('activate', { from, key: 'nonsense', raw: '{' })).status).toBe(401)
    }
    const findClient = vi.spyOn(api.ledger.ports, 'findClient')
    expect((await call('activate', wrong)).status).toBe(429)
    expect((await call('activate', { from, raw: '{' })).status).toBe(429)
    expect((await call('activate', { from, place: 'nobody/nothing' })).status).toBe(429)
    expect(findClient).not.toHaveBeenCalled()
    findClient.mockRestore()
  })
})

describe('the rate limit of a tenant', () => {
  test('covers all its client routes and addresses, and is named in the headers', async () => {
    const before = now
    for (let calls = 0; calls < rates.clientTenant.burst; calls++) {
      const route = routes[calls % routes.length] ?? 'config'
      expect((await call(route, { from: newAddress() })).status).not.toBe(429)
    }
    expect(now).toBe(before)
    for (const route of routes) {
      const { status, headers } = await call(route, { from: newAddress() })
      expect(status).toBe(429)
      expect(headers).toMatchObject({
        'x-service-limit-scope': 'tenant',
        'x-service-limit': '600',
        'x-service-remaining': '0',
        'retry-after': '1',
      })
    }
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'editor')
    const key = await sdkKeyOf(api.ledger, other.tenantId)
    const place = `${other.tenantId}/editor`
    expect((await call('config', { from: newAddress(), key, place })).status).toBe(200)
  })

  test('is not consumed by callers without its SDK key', async () => {
    const other = await makeTenant(api.ledger)
    const otherKey = await sdkKeyOf(api.ledger, other.tenantId)
    const before = taken.filter((name) => name.startsWith('clientTenant')).length
    for (const key of [otherKey, 'nonsense', newToken('sdk', api.ledger.ports.randomBytes).token]) {
      for (const route of routes) expect((await call(route, { from: newAddress(), key })).status).toBe(401)
    }
    expect(taken.filter((name) => name.startsWith('clientTenant')).length).toBe(before)
  })
})

describe('one instance of one license', () => {
  test('can be validated 30 times at once and then 30 times a minute, from any address', async () => {
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { deviceLimit: 2 })
    const asks = (instance_id: string) =>
      call('validate', { from: newAddress(), body: { license_key: licenseKey, instance_id } })
    for (let calls = 0; calls < 30; calls++) expect((await asks('ins_1')).status).toBe(422)
    const { status, headers } = await asks('ins_1')
    expect(status).toBe(429)
    expect(headers).toMatchObject({
      'x-service-limit-scope': 'instance',
      'x-service-limit': '30',
      'x-service-remaining': '0',
      'retry-after': '2',
    })
    expect((await asks('ins_2')).status).toBe(422)
    now += 2000
    expect((await asks('ins_1')).status).toBe(422)
    expect((await asks('ins_1')).status).toBe(429)
  })
})

describe('new anonymous instances of a tenant', () => {
  test('are limited per hour, across both beacons; known instances are not limited', async () => {
    const beacon = (route: 'free-tier' | 'keyless', instance_id: string) =>
      call(route, { from: newAddress(), body: { instance_id } })
    for (let made = 0; made < rates.clientNewInstances.burst; made++) {
      expect((await beacon(made % 2 === 0 ? 'free-tier' : 'keyless', `instance ${made}`)).status).toBe(200)
    }
    for (const route of ['free-tier', 'keyless'] as const) {
      const { status, headers } = await beacon(route, 'one too many')
      expect(status).toBe(429)
      expect(headers).toMatchObject({
        'x-service-limit-scope': 'new_instances',
        'x-service-limit': '60',
        'x-service-remaining': '0',
        'retry-after': '60',
      })
      expect((await beacon(route, 'instance 0')).status).toBe(200)
    }
    await api.ledger.ports.installs.flush()
    expect((await beacon('keyless', 'instance 1')).status).toBe(200)
    expect((await beacon('keyless', 'one too many')).status).toBe(429)
    now += 60_000
    expect((await beacon('keyless', 'one too many')).status).toBe(200)
  })
})
