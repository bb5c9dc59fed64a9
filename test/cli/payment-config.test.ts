/** Guarantee: the message about an invalid payment setting contains its name and no credential. */
import { describe, expect, test } from 'vitest'
import { ConfigError, parseConfig } from '../../src/config.ts'

test('the defaults are the URLs of the real providers, without Stripe keys', () =>
  expect(parseConfig({}).payments).toStrictEqual({
    stripeSecretKey: undefined,
    stripeWebhookSecret: undefined,
    platformFeeBasisPoints: 50,
    apiUrls: {
      stripe: 'https://api.stripe.com',
      lemonsqueezy: 'https://api.lemonsqueezy.com',
      paddle: 'https://api.paddle.com',
      polar: 'https://api.polar.sh',
    },
  }))

test('settings are applied; URLs lose their trailing slash', () =>
  expect(
    parseConfig({
      KEYLEDGER_STRIPE_SECRET_KEY: 'rk_live_1',
      KEYLEDGER_STRIPE_WEBHOOK_SECRET: 'whsec_1',
      KEYLEDGER_STRIPE_API_URL: 'http://localhost:12111/',
      KEYLEDGER_PLATFORM_FEE_BASIS_POINTS: '10',
      KEYLEDGER_LEMONSQUEEZY_API_URL: 'http://localhost:1/lemon/',
      KEYLEDGER_PADDLE_API_URL: 'https://sandbox-api.paddle.com',
      KEYLEDGER_POLAR_API_URL: 'https://sandbox-api.polar.sh/',
    }).payments,
  ).toStrictEqual({
    stripeSecretKey: 'rk_live_1',
    stripeWebhookSecret: 'whsec_1',
    platformFeeBasisPoints: 10,
    apiUrls: {
      stripe: 'http://localhost:12111',
      lemonsqueezy: 'http://localhost:1/lemon',
      paddle: 'https://sandbox-api.paddle.com',
      polar: 'https://sandbox-api.polar.sh',
    },
  }))

describe('an invalid setting throws an error with its name', () => {
  test.each([
    ['KEYLEDGER_STRIPE_SECRET_KEY', 'pk_canary_value'],
    ['KEYLEDGER_STRIPE_SECRET_KEY', 'sk_canary value'],
    ['KEYLEDGER_STRIPE_WEBHOOK_SECRET', 'canary_value'],
    ['KEYLEDGER_STRIPE_API_URL', 'http://localhost:1/canary'],
    ['KEYLEDGER_STRIPE_API_URL', 'http://canary:value:1'],
    ['KEYLEDGER_PLATFORM_FEE_BASIS_POINTS', '10001'],
    ['KEYLEDGER_PADDLE_API_URL', 'ftp://canary'],
    ['KEYLEDGER_POLAR_API_URL', 'canary'],
    ['KEYLEDGER_LEMONSQUEEZY_API_URL', 'https://'],
  ])('%s=%s', (name, value) => {
    const parse = () => parseConfig({ [name]: value })
    expect(parse).toThrow(ConfigError)
    expect(parse).toThrow(name)
    expect(parse).not.toThrow('canary')
  })
})
