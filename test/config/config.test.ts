/** Rate limits and trusted proxies are read from the environment, and have safe defaults. */
import { describe, expect, test } from 'vitest'
import { baseUrlOf, withRealPort } from '../../src/app/start/own-address.ts'
import { ConfigError, parseConfig } from '../../src/config.ts'

describe('a rate limit', () => {
  const managementOf = (text: string | undefined) =>
    parseConfig({ KEYLEDGER_LIMIT_MANAGEMENT: text }).limits.management

  test.each([
    [undefined, { perMinute: 600, burst: 1200 }],
    ['', { perMinute: 600, burst: 1200 }],
    ['60/90', { perMinute: 60, burst: 90 }],
    ['60', { perMinute: 60, burst: 60 }],
    ['60/1', { perMinute: 60, burst: 1 }],
    ['off', undefined],
  ])('written as %j is %j', (text, rate) => expect(managementOf(text)).toStrictEqual(rate))

  test.each(['0', '60/0', '-1', '1e3', '60/90/1', '60 / 90', 'on', '1'.repeat(10)])(
    'does not accept %j',
    (text) => expect(() => managementOf(text)).toThrow(ConfigError),
  )

  test('for runtime calls is 6000 per minute', () => {
    expect(parseConfig({}).limits.runtime).toStrictEqual({ perMinute: 6000, burst: 6000 })
    expect(parseConfig({ KEYLEDGER_LIMIT_RUNTIME: 'off' }).limits.runtime).toBeUndefined()
  })
})

test('the limits of the client interface are on, each as documented', () =>
  expect(parseConfig({}).limits).toMatchObject({
    clientValidate: { perMinute: 120, burst: 240 },
    clientActivate: { perMinute: 5, burst: 10 },
    clientDeactivate: { perMinute: 5, burst: 10 },
    clientFreeTier: { perMinute: 10, burst: 20 },
    clientKeyless: { perMinute: 10, burst: 20 },
    clientConfig: { perMinute: 60, burst: 120 },
    clientTenant: { perMinute: 12_000, burst: 12_000 },
    clientInstance: { perMinute: 30, burst: 30 },
    checkout: { perMinute: 20, burst: 20 },
    evidence: { perMinute: 12, burst: 30 },
    // 1000 per hour.
    clientNewInstances: { perMinute: 1000 / 60, burst: 1000 },
  }))

test('each limit can be set and switched off', () => {
  const names = {
    clientValidate: 'VALIDATE',
    clientActivate: 'ACTIVATE',
    clientDeactivate: 'DEACTIVATE',
    clientFreeTier: 'FREE_TIER',
    clientKeyless: 'KEYLESS',
    clientConfig: 'CONFIG',
    clientTenant: 'TENANT',
    clientInstance: 'INSTANCE',
  } as const
  for (const [limit, name] of Object.entries(names)) {
    const variable = `KEYLEDGER_LIMIT_CLIENT_${name}`
    expect(parseConfig({ [variable]: '7/9' }).limits).toMatchObject({ [limit]: { perMinute: 7, burst: 9 } })
    expect(parseConfig({ [variable]: 'off' }).limits).toMatchObject({ [limit]: undefined })
  }
  const anHour = parseConfig({ KEYLEDGER_LIMIT_CLIENT_NEW_INSTANCES: '120/90' }).limits
  expect(anHour.clientNewInstances).toStrictEqual({ perMinute: 2, burst: 90 })
})

describe('trusted proxies', () => {
  const proxiesOf = (text: string | undefined) => parseConfig({ KEYLEDGER_TRUST_PROXY: text }).trustProxy

  test.each([
    [undefined, undefined],
    ['10.0.0.1', ['10.0.0.1']],
    ['loopback, 10.0.0.0/8,fd00::/8', ['loopback', '10.0.0.0/8', 'fd00::/8']],
  ])('written as %j are %j', (text, proxies) => expect(proxiesOf(text)).toStrictEqual(proxies))

  test.each(['true', '1', '10.0.0.0/33', '10.0.0.0/0', 'proxy.example.com', 'fd00::/129', '10.0.0.1,'])(
    'do not accept %j',
    (text) => expect(() => proxiesOf(text)).toThrow(ConfigError),
  )
})

test('port 0 becomes a free port before any URL contains it', async () => {
  const config = await withRealPort(parseConfig({ KEYLEDGER_PORT: '0', KEYLEDGER_HOST: '127.0.0.1' }))
  expect(config.port).toBeGreaterThan(0)
  expect(baseUrlOf(config)).toBe(`http://localhost:${config.port}`)
  expect((await withRealPort({ ...config, port: 8123 })).port).toBe(8123)
})

test('a connection may stall for as long as configured, and its headers for no longer than the whole request', () => {
  expect(parseConfig({}).connections).toStrictEqual({
    headersMs: 10_000,
    requestMs: 30_000,
    stallMs: 10_000,
    idleMs: 75_000,
    most: 10_000,
  })
  expect(parseConfig({ KEYLEDGER_REQUEST_TIMEOUT: '60' }).connections.requestMs).toBe(60_000)
  expect(() => parseConfig({ KEYLEDGER_REQUEST_TIMEOUT: '5' })).toThrow(/KEYLEDGER_HEADERS_TIMEOUT/)
})
