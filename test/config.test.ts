/** Rate limits and trusted proxies come from the environment as they are written there, and have safe defaults. */
import { describe, expect, test } from 'vitest'
import { ConfigError, parseConfig } from '../src/config.ts'

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
    'is not written as %j',
    (text) => expect(() => managementOf(text)).toThrow(ConfigError),
  )

  test('of runtime calls is 6000 a minute', () => {
    expect(parseConfig({}).limits.runtime).toStrictEqual({ perMinute: 6000, burst: 6000 })
    expect(parseConfig({ KEYLEDGER_LIMIT_RUNTIME: 'off' }).limits.runtime).toBeUndefined()
  })
})

describe('trusted proxies', () => {
  const proxiesOf = (text: string | undefined) => parseConfig({ KEYLEDGER_TRUST_PROXY: text }).trustProxy

  test.each([
    [undefined, undefined],
    ['10.0.0.1', ['10.0.0.1']],
    ['loopback, 10.0.0.0/8,fd00::/8', ['loopback', '10.0.0.0/8', 'fd00::/8']],
  ])('written as %j are %j', (text, proxies) => expect(proxiesOf(text)).toStrictEqual(proxies))

  test.each(['true', '1', '10.0.0.0/33', '10.0.0.0/0', 'proxy.example.com', 'fd00::/129', '10.0.0.1,'])(
    'are not written as %j',
    (text) => expect(() => proxiesOf(text)).toThrow(ConfigError),
  )
})
