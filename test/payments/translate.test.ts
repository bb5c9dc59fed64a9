/** Each provider's documented notifications and their translations. */
import { describe, expect, test } from 'vitest'
import { ProviderRefused, ProviderUnavailable } from '../../src/payments/errors.ts'
import { translatePing, translateResource } from '../../src/payments/gumroad/notification.ts'
import { translateLemonSqueezy } from '../../src/payments/lemonsqueezy/notification.ts'
import { type PaddleContext, translatePaddle } from '../../src/payments/paddle/notification.ts'
import { translatePolar } from '../../src/payments/polar/notification.ts'
import { translateStripe } from '../../src/payments/stripe/notification.ts'
import { goldenOf } from './golden.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const incomplete = { type: 'incomplete' }

describe('stripe', () => {
  test.each(goldenOf('stripe'))('$name', ({ raw, means }) => {
    expect(translateStripe(raw)).toMatchObject({ accountId: 'acct_1T8oxK0AcRNJbwd4', translated: means })
  })

  test('names a tenant in metadata only in test mode', () => {
    const of = (name: string) => translateStripe(rawOf(name))?.testTenantId
    expect(of('session-completed')).toBeUndefined()
    expect(of('session-completed-test-mode')).toBe('acme')
  })

  test('is incomplete without required fields, and no event when it is none', () => {
    const raw = rawOf('session-completed').replace('"payment_status":"paid",', '')
    expect(translateStripe(raw)?.translated).toStrictEqual(incomplete)
    for (const nothing of ['', '[]', '{}', 'null', '{"id":1}', '{']) {
      expect(translateStripe(nothing)).toBeUndefined()
    }
  })

  const rawOf = (wanted: string) => goldenOf('stripe').find(({ name }) => name === wanted)?.raw ?? ''
})

describe('gumroad', () => {
  const translate = (name: string) => (name.startsWith('ping') ? translatePing : translateResource)

  test.each(goldenOf('gumroad'))('$name', ({ name, raw, means }) => {
    expect(translate(name)(raw, now)).toMatchObject(means)
  })

  test('a ping with what is required alone is a sale with the defaults', () => {
    const raw = 'resource_name=sale&sale_id=s1&email=ada%40example.com&product_permalink=editor'
    expect(translatePing(raw, now)).toMatchObject({
      saleId: 's1',
      customer: { email: 'ada@example.com' },
      quantity: 1,
      amount: 0,
      currency: 'usd',
      productName: 'Unknown product',
      at: now.toISOString(),
    })
  })

  test.each(['sale_id=s1', 'email=a%40b.c', 'sale_id=&email=a%40b.c'])(
    'a sale with %s alone is incomplete',
    (some) => {
      expect(translatePing(`resource_name=sale&${some}`, now)).toStrictEqual(incomplete)
    },
  )

  test('a ping of anything but a sale, and a resource that is one, are ignored', () => {
    for (const { name, raw } of goldenOf('gumroad')) {
      const other = name.startsWith('ping') ? translateResource : translatePing
      const testId = name === 'ping-test' ? { testId: expect.stringMatching(/^[0-9a-f]{64}$/) as string } : {}
      expect(other(raw, now)).toStrictEqual({ type: 'ignored', ...testId })
    }
  })

  test('a resource that names no sale is incomplete', () => {
    expect(translateResource('resource_name=refund', now)).toStrictEqual(incomplete)
    expect(translateResource('resource_name=subscription_ended', now)).toStrictEqual(incomplete)
  })
})

describe('lemonsqueezy', () => {
  const read = {
    subscription: async () => ({ orderId: '1', paidUntil: '2026-04-01T12:00:00.000Z' }),
    orderItems: async () => [],
  }

  test.each(goldenOf('lemonsqueezy'))('$name', async ({ raw, means }) => {
    expect(await translateLemonSqueezy(raw, read)).toMatchObject(means)
  })

  test('without an API key, the subscription itself holds the end of the paid period', async () => {
    const said = await Promise.all(
      goldenOf('lemonsqueezy').map(async ({ name, raw }) => [
        name,
        await translateLemonSqueezy(raw, undefined),
      ]),
    )
    expect(Object.fromEntries(said)).toMatchObject({
      'subscription-created': {
        type: 'subscription',
        link: 'order:1',
        links: ['subscription:9'],
        paidUntil: '2026-04-01T12:00:00.000Z',
      },
      'payment-success-renewal': { type: 'renewed', link: 'subscription:9', paidUntil: null, amount: 3480 },
    })
  })

  test.each(['', '{}', '{"meta":{"event_name":"order_created"},"data":{"id":"1"}}'])(
    '%s is incomplete',
    async (raw) => {
      expect(await translateLemonSqueezy(raw, read)).toStrictEqual(incomplete)
    },
  )
})

describe('paddle', () => {
  const context: PaddleContext = {
    test: false,
    isMapped: () => false,
    readCustomer: async () => ({ email: 'ada@example.com', name: 'Ada Lovelace' }),
  }
  const [sale = ''] = goldenOf('paddle').flatMap(({ name, raw }) =>
    name === 'transaction-completed' ? [raw] : [],
  )

  test.each(goldenOf('paddle'))('$name', async ({ raw, means }) => {
    expect(await translatePaddle(raw, context)).toMatchObject(means)
  })

  test('of several items in one transaction all are sold', async () => {
    const items = '"items":[{"price":{"id":"pri_support"},"quantity":1},'
    const raw = sale.replace('"items":[', items)
    expect(await translatePaddle(raw, context)).toMatchObject({
      sold: { providerProduct: 'pri_support' },
      quantity: 1,
      more: [{ sold: { providerProduct: 'pri_01gsz8x8sawmvhz1pv30nge1ke' }, quantity: 3 }],
    })
  })

  test('without a key with access, the buyer is unknown', async () => {
    const refuse = () => Promise.reject(new ProviderRefused('paddle', 'permission'))
    for (const readCustomer of [undefined, async () => null, refuse]) {
      expect(await translatePaddle(sale, { ...context, readCustomer })).toMatchObject({
        type: 'sold',
        customer: null,
      })
    }
  })

  test('that does not respond must be sent again, and an empty event is incomplete', async () => {
    const away = () => Promise.reject(new ProviderUnavailable('paddle', 'away'))
    await expect(translatePaddle(sale, { ...context, readCustomer: away })).rejects.toThrow(
      ProviderUnavailable,
    )
    expect(await translatePaddle('{}', context)).toStrictEqual(incomplete)
  })
})

describe('polar', () => {
  test.each(goldenOf('polar'))('$name', ({ raw, means }) => {
    expect(translatePolar(raw, 'msg_1', false, now)).toMatchObject(means)
  })

  test('is incomplete without required fields', () => {
    expect(translatePolar('{"type":"order.paid","data":{}}', 'msg_1', false, now)).toStrictEqual(incomplete)
  })
})
